//! The search for a batch size: how long training with each takes to reach an accuracy, and the
//! gradient noise scale.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::benchmark::BATCH_SIZES;
use crate::run_config::{RunConfig, ScheduleKind};
use crate::text::format::rounded;

/// The accuracies that can be asked for, 0 to 1.
pub const TARGET_ACCURACIES: std::ops::RangeInclusive<f64> = 0.2..=0.999;
/// What is asked for unless another is named: every network reaches it in some seconds on every set
/// of digits.
pub const TARGET_ACCURACY: f64 = 0.95;
/// A batch size that takes at most this many times as long as the fastest counts as equally fast:
/// runs scatter that much.
const NEARLY_FASTEST: f64 = 1.05;

/// What is searched for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchSizeSpec {
    /// The settings; their batch size is tried first.
    pub config: RunConfig,
    /// The validation accuracy to be reached, 0 to 1.
    pub accuracy: f64,
}

/// Training with one batch size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct TimeToAccuracy {
    /// Images of a batch.
    pub batch_size: u32,
    /// The learning rate, scaled to the batch size.
    pub learning_rate: f64,
    /// Training images per second.
    pub images_per_second: f64,
    /// When the accuracy was reached; `None` where it was not.
    pub reached: Option<Reached>,
    /// The highest validation accuracy that was measured, 0 to 1.
    pub best_accuracy: f64,
    /// Seconds of training, without validation.
    pub seconds: f64,
    /// Whether training diverged.
    pub diverged: bool,
}

/// When an accuracy was reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reached {
    /// Seconds of training, without validation.
    pub seconds: f64,
    /// Steps; between two measurements, the fraction of them that the straight line between both
    /// gives.
    pub steps: f64,
    /// Images trained on.
    pub images: f64,
}

/// What a search for a batch size found, apart from its rows, which were reported one by one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchSizeFinding {
    /// The gradient noise scale in images, on the way to the accuracy; `None` where it could not be
    /// told from the scatter of its measurement.
    pub noise_scale: Option<f64>,
    /// The share of the CPU that other programs used meanwhile, 0 to 1.
    pub background_load: f32,
}

/// The settings for each batch size, the one that was set first; those with more than
/// `train_images` are left out. The learning rate grows with the batch size
/// ([`crate::run_config::OptimizerKind::rate_factor`]). It stays constant while training, so that
/// no schedule decides the result.
pub fn batch_size_configs(config: &RunConfig, train_images: usize) -> Vec<RunConfig> {
    let others = BATCH_SIZES
        .into_iter()
        .filter(|&size| size != config.batch_size);
    let scaled = |batch_size: u32| {
        let ratio = f64::from(batch_size) / f64::from(config.batch_size.max(1));
        let factor = config.optimizer.rate_factor(ratio);
        let learning_rate = rounded(config.learning_rate * factor, 3);
        RunConfig {
            batch_size,
            learning_rate: if batch_size == config.batch_size {
                config.learning_rate
            } else {
                learning_rate
            },
            schedule: ScheduleKind::Constant,
            epochs: 1000,
            early_stopping: None,
            weight_averaging: None,
            ..config.clone()
        }
    };
    std::iter::once(config.batch_size)
        .chain(others)
        .filter(|&size| size as usize <= train_images)
        .map(scaled)
        .collect()
}

/// The batch size to recommend: of those that reached the accuracy about as soon as the fastest,
/// the smallest, which needs the least memory.
pub fn fastest_batch_size(rows: &[TimeToAccuracy]) -> Option<u32> {
    let seconds = |row: &TimeToAccuracy| row.reached.map(|reached| reached.seconds);
    let least = rows.iter().filter_map(seconds).min_by(f64::total_cmp)?;
    rows.iter()
        .filter(|row| seconds(row).is_some_and(|seconds| seconds <= NEARLY_FASTEST * least))
        .map(|row| row.batch_size)
        .min()
}
