//! Batches that grow from epoch to epoch: the gradient gets smaller than its noise as a network
//! learns, so that larger batches cost little progress for each image, take fewer steps, and let a
//! device compute more at a time (Smith et al. 2018, "Don't decay the learning rate, increase the
//! batch size").
//!
//! A step over a batch that has grown counts as several of the usual ones, as many as its factor
//! says. Thus epochs have as many steps as ever, and the learning rate follows its schedule.

use super::TrainError;
use super::gradient_noise::{GradientNoise, MEASURED};
use crate::data::Split;
use crate::math::random::Random;
use crate::nn::Net;
use crate::progress::Progress;
use crate::run_config::RunConfig;

/// The most that batches grow to, relative to those of the first epoch.
pub const MAX_GROWTH: u32 = 64;
/// Fewer steps in an epoch would leave the network little time to follow.
const MIN_STEPS: u64 = 20;

/// The settings with batches that have grown by this factor.
pub fn grown(config: &RunConfig, factor: u32) -> RunConfig {
    RunConfig {
        batch_size: config.batch_size.saturating_mul(factor),
        ..config.clone()
    }
}

/// The gradient noise scale in images before this epoch; `None` where it is larger than can be
/// measured. The same weights, images and seed give the same.
pub fn noise_scale(
    net: &Net,
    (images, indices): (&Split, &[u32]),
    config: &RunConfig,
    epoch: u32,
    progress: &mut impl Progress,
) -> Result<Option<f64>, TrainError> {
    let mut noise = GradientNoise::default();
    let mut random = Random::stream(config.seed, "batch growth", epoch.into());
    noise.measure(net, (images, indices), config, &mut random, progress)?;
    Ok(noise.scale())
}

/// The factor for the next epoch: the largest power of two with which a step's images are no more
/// than the noise scale, as far as that can be measured, an epoch has enough steps, and `fits` says
/// that there is memory for it. Batches do not shrink again.
pub fn next_factor(
    config: &RunConfig,
    factor: u32,
    noise_scale: Option<f64>,
    train_images: u64,
    fits: impl Fn(&RunConfig) -> bool,
) -> u32 {
    let noise_scale = noise_scale.unwrap_or(MEASURED as f64);
    let step_images = u64::from(config.batch_size) * u64::from(config.accumulation);
    let is_sensible = |factor: u32| {
        let images = step_images * u64::from(factor);
        images as f64 <= noise_scale
            && images * MIN_STEPS <= train_images
            && fits(&grown(config, factor))
    };
    let larger = std::iter::successors(factor.checked_mul(2), |factor| factor.checked_mul(2));
    larger
        .take_while(|&larger| larger <= MAX_GROWTH && is_sensible(larger))
        .last()
        .unwrap_or(factor)
}
