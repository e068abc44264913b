//! Owns how many images are computed at once, and what happens when memory runs out: smaller parts, whose gradients add up to the same.
//! Must not know how a part is computed.

use candle_core::Tensor;

use super::TrainError;
use super::memory::part_within_limit;
use super::observer::Observer;
use crate::nn::ComputeError;
use crate::nn::DeviceContext;
use crate::nn::autograd;
use crate::records::{Intervention, RunPlan};
use crate::run_config::RunConfig;

/// The parts a batch is computed in.
pub struct MicroBatcher<'a> {
    context: &'a DeviceContext,
    /// Images of one, at most.
    pub most: usize,
}

impl<'a> MicroBatcher<'a> {
    /// As many images as are good for the run's model and fit into its memory limit; says so where these are not the same.
    pub fn new(config: &RunConfig, context: &'a DeviceContext, plan: &RunPlan, observer: &mut dyn Observer) -> Result<Self, TrainError> {
        let within =
            |config| part_within_limit(config, context.backend.kind(), plan.train_images + plan.validation_images, plan.test_images);
        let limit = config.memory_limit.unwrap_or_default();
        let message = || format!("this run does not fit into {limit} MB, even with micro-batches of a single image");
        let most = within(config).ok_or_else(|| ComputeError::OutOfMemory { message: message() })?;
        if within(&RunConfig { memory_limit: None, ..config.clone() }) != Some(most) {
            observer.intervened(Intervention::SmallerParts { step: 1, images: most as u32 });
        }
        Ok(Self { context, most })
    }

    /// What was computed of a part of so many images; `None` where memory ran out, and parts are smaller from here on.
    pub fn retry_on_oom(
        &mut self,
        computed: candle_core::Result<Tensor>,
        images: usize,
        step: u64,
        observer: &mut dyn Observer,
    ) -> Result<Option<Tensor>, TrainError> {
        let computed = computed.map_err(ComputeError::from);
        let (computed, message) = match computed {
            Ok(_) if self.context.is_memory_exhausted() => (computed.map(Some), "Inkling uses more than the memory limit".to_owned()),
            Err(ComputeError::OutOfMemory { message }) => (Ok(None), message),
            computed => return Ok(computed.map(Some)?),
        };
        if images == 1 {
            return Err(ComputeError::OutOfMemory { message }.into());
        }
        self.most = images.div_ceil(2);
        observer.intervened(Intervention::SmallerParts { step, images: self.most as u32 });
        // What computed ahead holds memory that is free once it is done.
        // What was kept for gradients as well.
        autograd::clear();
        self.context.release_memory()?;
        Ok(computed?)
    }
}
