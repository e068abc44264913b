//! Estimates of the memory a run will take.

use super::micro_batches::micro_batch_size;
use crate::data::augment::AugmentParams;
use crate::data::validation_size;
use crate::infer::GPU_BATCH;
use crate::ink::PIXELS;
use crate::nn::{
    BackendKind, activations, checkpointed_activations, gpu_values_in_recognition,
    gpu_values_in_training, parameter_count,
};
use crate::optim::OptimizerConfig;
use crate::records::posterior_sample_count;
use crate::run_config::{Augmentation, ConfigProblem, MAX_PARAMETERS, RunConfig};

/// The program without a window, and what loading a data set leaves allocated.
const PROGRAM: u64 = 85 << 20;
/// Bytes of a number.
const NUMBER: u64 = 4;
/// Batches that are trained on, ready, and being prepared.
const BATCHES: u64 = 3;

/// Images of a micro-batch on a GPU.
const DEVICE_MICRO_BATCH: usize = 1024;

/// Images of a run's micro-batches: as many as are good for its model, or fewer to fit into its
/// memory limit; `None` where not even one does.
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
pub fn too_many_parameters(config: &RunConfig) -> Option<ConfigProblem> {
    let parameters = parameters(config);
    (parameters > MAX_PARAMETERS).then_some(ConfigProblem::TooManyParameters { parameters })
}

/// The parameters of its network. How many classes a folder or a file has is not known here; ten
/// stand for any number, which changes little.
fn parameters(config: &RunConfig) -> u64 {
    parameter_count(config.network(), config.data.classes().len())
}

/// Numbers that a step changes for each weight: itself, what the optimiser keeps for it, and its
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
