//! The memory a run will take, estimated; the size of micro-batches, and what happens when memory
//! runs out: smaller ones, whose gradients add up to the same.

use candle_core::Tensor;

use super::observer::RunObserver;
use crate::data::augment::AugmentParams;
use crate::data::validation_size;
use crate::infer::GPU_BATCH;
use crate::ink::PIXELS;
use crate::nn::{
    BackendKind, ComputeError, DeviceContext, activations, autograd, checkpointed_activations,
    flops, gpu_values_in_recognition, gpu_values_in_training, parameter_count,
};
use crate::optim::OptimizerConfig;
use crate::problem::Problem;
use crate::records::{Intervention, RunPlan, posterior_sample_count};
use crate::run_config::{Augmentation, ConfigError, MAX_PARAMETERS, Network, RunConfig};

/// The program without a window, and what loading a data set leaves allocated.
const PROGRAM: u64 = 85 << 20;
const NUMBER: u64 = 4;
/// Batches that are trained on, ready, and being prepared.
const BATCHES: u64 = 3;

/// Images of a micro-batch on a GPU.
const DEVICE_MICRO_BATCH: usize = 1024;

/// Images of a run's micro-batches: as many as are good for its model, or fewer to fit into its
/// memory limit; `None` if not even one does.
pub fn micro_batch_within_limit(
    config: &RunConfig,
    backend: BackendKind,
    train_images: u64,
    test_images: u64,
) -> Option<usize> {
    let most = match backend {
        BackendKind::Cpu => micro_batch_size(config.network()),
        BackendKind::Cuda | BackendKind::Composed => DEVICE_MICRO_BATCH,
    };
    let Some(limit) = config.memory_limit_bytes() else {
        return Some(most);
    };
    let mut sizes = std::iter::successors(Some(most), |size| (*size > 1).then_some(size / 2));
    sizes.find(|&size| with_micro_batch(config, train_images, test_images, size) <= limit)
}

/// Bytes that a run on this many training and test images takes at its peak, estimated: within a
/// fifth of what was measured for every model without a window, whose memory comes on top.
pub fn memory_needed(config: &RunConfig, train_images: u64, test_images: u64) -> u64 {
    let size =
        micro_batch_within_limit(config, BackendKind::Cpu, train_images, test_images).unwrap_or(1);
    with_micro_batch(config, train_images, test_images, size)
}

/// GPU memory that CUDA and cuBLAS take by themselves, about.
const CUDA: u64 = 400 << 20;

/// Bytes of an NVIDIA GPU's memory that a run on this many training images takes at its peak,
/// estimated.
pub fn gpu_memory_needed(config: &RunConfig, train_images: u64) -> u64 {
    let augmentation = if config.augmentation == Augmentation::Off {
        0
    } else {
        NUMBER * AugmentParams::COUNT as u64
    };
    let image = PIXELS as u64 + NUMBER * (config.data.classes().len() as u64 + 1) + augmentation;
    let micro_batch = u64::from(config.batch_size).min(DEVICE_MICRO_BATCH as u64);
    let training = micro_batch * gpu_values_in_training(config.network());
    let inference = GPU_BATCH as u64 * gpu_values_in_recognition(config.network());
    CUDA + train_images * image
        + NUMBER * (2 * state(config) * parameters(config) + training.max(inference))
}

/// A network that is larger than any that can be trained.
pub fn too_many_parameters(config: &RunConfig) -> Option<ConfigError> {
    let parameters = parameters(config);
    (parameters > MAX_PARAMETERS).then_some(ConfigError::TooManyParameters { parameters })
}

/// The parameters of its network. How many classes a folder or a file has is not known here; ten
/// stand for any number, which changes little.
fn parameters(config: &RunConfig) -> u64 {
    parameter_count(config.network(), config.data.classes().len())
}

/// Numbers that a step changes for each weight: itself, what the optimizer keeps for it, and its
/// average.
fn state(config: &RunConfig) -> u64 {
    1 + OptimizerConfig::new(config, 1).numbers_per_weight() as u64
        + u64::from(config.weight_averaging.is_some())
}

fn with_micro_batch(
    config: &RunConfig,
    train_images: u64,
    test_images: u64,
    micro_batch: usize,
) -> u64 {
    let image = PIXELS as u64 + 1;
    let images = train_images
        + validation_size(train_images)
        + test_images
        + BATCHES * u64::from(config.batch_size);
    // What a step changes, its gradient, the snapshot for a rollback, a checkpoint with the best
    // weights, in memory and as it is written, and the samples from the posterior.
    let state = state(config);
    let samples = posterior_sample_count(config) as u64;
    let copies = state + 1 + state + 2 * (state + 1) + samples;
    // The output of each layer; gradients are freed as soon as they are passed on.
    let of_image = if config.activation_checkpointing {
        checkpointed_activations(config.network())
    } else {
        activations(config.network())
    };
    let activations = micro_batch as u64 * of_image;
    PROGRAM + images * image + NUMBER * (copies * parameters(config) + activations)
}

/// Images per forward and backward pass of a network on the CPU: they decide the time between two
/// calls of the observer, and the memory for activations. As many as take a few hundredths of a
/// second on two ordinary cores, and at most 128, beyond which nothing is gained.
pub fn micro_batch_size(network: impl Into<Network>) -> usize {
    const FLOPS: u64 = 4_000_000_000;
    (FLOPS / flops(network).training.max(1)).clamp(16, 128) as usize
}

pub struct MicroBatcher<'a> {
    context: &'a DeviceContext,
    /// The most images of one.
    pub size: usize,
}

impl<'a> MicroBatcher<'a> {
    /// As many images as are good for the run's model and fit into its memory limit; reports it
    /// if that makes them smaller.
    pub fn new(
        config: &RunConfig,
        context: &'a DeviceContext,
        plan: &RunPlan,
        observer: &mut dyn RunObserver,
    ) -> Result<Self, Problem> {
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

    /// What was computed for a micro-batch of this many images; `None` if memory ran out: it is
    /// to be computed again in smaller ones.
    pub fn retry_on_oom(
        &mut self,
        computed: candle_core::Result<Tensor>,
        images: usize,
        step: u64,
        observer: &mut dyn RunObserver,
    ) -> Result<Option<Tensor>, Problem> {
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
