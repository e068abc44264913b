//! Owns how much memory a run will about take. Must not measure it.

use super::device_batches::PARAM_COUNT;
use super::session::micro_batch;
use crate::data::validation_size;
use crate::infer::DEVICE_CHUNK;
use crate::ink::PIXELS;
use crate::nn::BackendKind;
use crate::nn::{activations, gpu_values_in_recognition, gpu_values_in_training, parameter_count};
use crate::optim::OptimizerConfig;
use crate::records::CLASSES;
use crate::run_config::{Augmentation, RunConfig};

/// The program at work without a window, and what reading a set of data leaves behind.
const PROGRAM: u64 = 85 << 20;
/// Bytes of a number.
const NUMBER: u64 = 4;
/// Batches being learned from, ready, and being gathered.
const BATCHES: u64 = 3;

/// Images computed at once of a batch on a device that is not the processor.
const DEVICE_PART: usize = 1024;

/// Images that a run computes at once: as many as are good for its model, where they fit into its memory limit; `None` where not even one
/// does.
pub fn part_within_limit(config: &RunConfig, backend: BackendKind, train_images: u64, test_images: u64) -> Option<usize> {
    let most = match backend {
        BackendKind::Cpu => micro_batch(config.model),
        BackendKind::Cuda | BackendKind::Reference => DEVICE_PART,
    };
    let Some(limit) = config.memory_limit_bytes() else { return Some(most) };
    let parts = std::iter::successors(Some(most), |part| (*part > 1).then_some(part / 2));
    parts.into_iter().find(|&part| with_part(config, train_images, test_images, part) <= limit)
}

/// Bytes that a run over so many training and test images will about take at its peak: within a fifth of what was measured for every model
/// in a terminal. A window takes its own memory besides.
pub fn memory_needed(config: &RunConfig, train_images: u64, test_images: u64) -> u64 {
    let part = part_within_limit(config, BackendKind::Cpu, train_images, test_images).unwrap_or(1);
    with_part(config, train_images, test_images, part)
}

/// What CUDA and cuBLAS take of a GPU by themselves, about.
const CUDA: u64 = 400 << 20;

/// Bytes of an NVIDIA GPU's memory that a run over so many training images will about take at its peak.
pub fn gpu_memory_needed(config: &RunConfig, train_images: u64) -> u64 {
    let varied = if config.augmentation == Augmentation::Off { 0 } else { NUMBER * PARAM_COUNT as u64 };
    let image = PIXELS as u64 + NUMBER * (CLASSES as u64 + 1) + varied;
    let part = u64::from(config.batch_size).min(DEVICE_PART as u64);
    let learning = part * gpu_values_in_training(config.model);
    let reading = DEVICE_CHUNK as u64 * gpu_values_in_recognition(config.model);
    CUDA + train_images * image + NUMBER * (2 * state(config) * parameter_count(config.model) + learning.max(reading))
}

/// Numbers that a step changes for each weight: itself, what the optimiser keeps for it, and its average.
fn state(config: &RunConfig) -> u64 {
    1 + OptimizerConfig::new(config, 1).slots() as u64 + u64::from(config.weight_averaging.is_some())
}

fn with_part(config: &RunConfig, train_images: u64, test_images: u64, part: usize) -> u64 {
    let image = PIXELS as u64 + 1;
    let images = train_images + validation_size(train_images) + test_images + BATCHES * u64::from(config.batch_size);
    // What a step changes, its gradient, the state to step back to, and a checkpoint with what it would keep, as it is and as it is written.
    let state = state(config);
    let copies = state + 1 + state + 2 * (state + 1);
    // Each layer's result; gradients are handed on and gone.
    let at_work = part as u64 * activations(config.model);
    PROGRAM + images * image + NUMBER * (copies * parameter_count(config.model) + at_work)
}
