//! The size of micro-batches, and what happens when memory runs out: smaller ones, whose gradients
//! add up to the same.

use candle_core::Tensor;

use super::TrainError;
use super::memory::micro_batch_within_limit;
use super::observer::Observer;
use crate::nn::{ComputeError, DeviceContext, autograd, flops};
use crate::records::{Intervention, RunPlan};
use crate::run_config::{Network, RunConfig};

/// Images per forward and backward pass of a network on the CPU: they decide the time between two
/// calls of the observer, and the memory for activations. As many as take a few hundredths of a
/// second on two ordinary cores, and at most 128, beyond which nothing is gained.
pub fn micro_batch_size(network: impl Into<Network>) -> usize {
    const FLOPS: u64 = 4_000_000_000;
    (FLOPS / flops(network).training.max(1)).clamp(16, 128) as usize
}

/// The micro-batches of a run.
pub struct MicroBatcher<'a> {
    context: &'a DeviceContext,
    /// The most images of one.
    pub size: usize,
}

impl<'a> MicroBatcher<'a> {
    /// As many images as are good for the run's model and fit into its memory limit; reports it
    /// where that makes them smaller.
    pub fn new(
        config: &RunConfig,
        context: &'a DeviceContext,
        plan: &RunPlan,
        observer: &mut dyn Observer,
    ) -> Result<Self, TrainError> {
        let images = plan.train_images + plan.validation_images;
        let within_limit = |config| {
            micro_batch_within_limit(config, context.backend.kind(), images, plan.test_images)
        };
        let limit = config.memory_limit.unwrap_or_default();
        let message = || {
            format!(
                "this run does not fit into {limit} MiB, even with micro-batches of a single image"
            )
        };
        let size =
            within_limit(config).ok_or_else(|| ComputeError::OutOfMemory { message: message() })?;
        if within_limit(&RunConfig {
            memory_limit: None,
            ..config.clone()
        }) != Some(size)
        {
            observer.intervened(Intervention::SmallerMicroBatches {
                step: 1,
                images: size as u32,
            });
        }
        Ok(Self { context, size })
    }

    /// True when there is memory for a run with these settings without smaller micro-batches.
    pub fn fits(&self, config: &RunConfig, plan: &RunPlan) -> bool {
        let images = plan.train_images + plan.validation_images;
        let within_limit = micro_batch_within_limit(
            config,
            self.context.backend.kind(),
            images,
            plan.test_images,
        );
        within_limit.is_some_and(|size| size >= self.size)
    }

    /// What was computed for a micro-batch of this many images; `None` where memory ran out: it is
    /// to be computed again in smaller ones.
    pub fn retry_on_oom(
        &mut self,
        computed: candle_core::Result<Tensor>,
        images: usize,
        step: u64,
        observer: &mut dyn Observer,
    ) -> Result<Option<Tensor>, TrainError> {
        let computed = computed.map_err(ComputeError::from);
        let (computed, message) = match computed {
            Ok(_) if self.context.is_memory_exhausted() => (
                computed.map(Some),
                "Inkling uses more than the memory limit".to_owned(),
            ),
            Err(ComputeError::OutOfMemory { message }) => (Ok(None), message),
            computed => return Ok(computed.map(Some)?),
        };
        if images == 1 {
            return Err(ComputeError::OutOfMemory { message }.into());
        }
        self.size = images.div_ceil(2);
        observer.intervened(Intervention::SmallerMicroBatches {
            step,
            images: self.size as u32,
        });
        // Frees what was saved for gradients, and what the device holds for queued work.
        autograd::clear();
        self.context.release_memory()?;
        Ok(computed?)
    }
}
