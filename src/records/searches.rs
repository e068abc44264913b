//! The searches for a learning rate and for a batch size.
//!
//! A learning rate is found by the range test of Smith 2017 (<https://arxiv.org/abs/1506.01186>):
//! training steps whose rate grows exponentially from each to the next, and what their losses say.
//! A batch size is found by how long training with each takes to reach an accuracy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::benchmark::BATCH_SIZES;
use crate::run_config::{RunConfig, ScheduleKind};
use crate::text::format::rounded;

/// Steps of a search, at most.
pub const SEARCH_STEPS: u64 = 200;
/// The learning rates of its first and its last step.
pub const SEARCH_RATES: [f64; 2] = [1e-6, 10.0];

/// The weight of what came before in the smoothed loss: an exponential moving average over about
/// ten steps, a third of a power of ten.
const SMOOTHING: f64 = 0.9;
/// A search is over once the smoothed loss is this many times its lowest (as in fastai).
const RISEN: f64 = 4.0;
/// If it is this many times its lowest after all rates, it has risen, too.
const WELL_ABOVE: f64 = 1.5;
/// Steps that the slope is measured over.
const SLOPE_STEPS: usize = 10;
/// The fraction of the first loss that the lowest must stay below: otherwise nothing was learned.
const FALLEN: f64 = 0.95;

/// The digits of a suggested rate.
const DIGITS: usize = 2;

/// A step of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningRatePoint {
    /// The learning rate of its update.
    pub learning_rate: f64,
    /// The loss of its batch, before the update, in nats.
    pub loss: f64,
    /// The average of this loss and those before it.
    pub smoothed: f64,
}

/// The steps of a search so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LearningRateSearch {
    points: Vec<LearningRatePoint>,
    /// The moving average before the correction for the steps it lacks at the start.
    average: f64,
    lowest: f64,
    has_risen: bool,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearningRateFinding {
    /// The suggested learning rates; `None` if the loss did not fall at any.
    pub suggestion: Option<LearningRateSuggestion>,
    /// How the search ended.
    pub end: SearchEnd,
    /// Steps that were taken.
    pub steps: u64,
}

/// Learning rates that a search suggests, with two digits each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearningRateSuggestion {
    /// The suggestion: halfway between the other two, on a logarithmic scale.
    pub rate: f64,
    /// Where the smoothed loss falls fastest, by the logarithm of the rate.
    pub steepest: f64,
    /// Where it is lowest; a tenth of that is another rule of thumb.
    pub lowest: f64,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchEnd {
    /// The loss rose well above its lowest.
    Risen,
    /// The loss or a gradient was no longer finite.
    Diverged,
    /// All rates were tried.
    Completed,
}

impl LearningRateSearch {
    /// Takes the next step; nothing once the search is over.
    pub fn add(&mut self, learning_rate: f32, loss: f32) {
        if self.is_over() {
            return;
        }
        let (learning_rate, loss) = (f64::from(learning_rate), f64::from(loss));
        self.average = SMOOTHING * self.average + (1.0 - SMOOTHING) * loss;
        let smoothed = self.average / (1.0 - SMOOTHING.powi(self.points.len() as i32 + 1));
        self.lowest = if self.points.is_empty() {
            smoothed
        } else {
            self.lowest.min(smoothed)
        };
        self.has_risen = smoothed > RISEN * self.lowest;
        self.points.push(LearningRatePoint {
            learning_rate,
            loss,
            smoothed,
        });
    }

    /// The steps, the lowest rate first.
    pub fn points(&self) -> &[LearningRatePoint] {
        &self.points
    }

    /// True once further steps would say nothing.
    pub fn is_over(&self) -> bool {
        self.has_risen || self.points.len() as u64 >= SEARCH_STEPS
    }

    /// The fraction of its steps that are done, from 0 to 1.
    pub fn fraction(&self) -> f32 {
        self.points.len() as f32 / SEARCH_STEPS as f32
    }

    /// What the steps say. `diverged` is true if they ended because the loss or a gradient was
    /// not finite.
    pub fn finding(&self, diverged: bool) -> LearningRateFinding {
        let last = self.points.last().map_or(0.0, |point| point.smoothed);
        let end = if diverged {
            SearchEnd::Diverged
        } else if self.has_risen || last > WELL_ABOVE * self.lowest {
            SearchEnd::Risen
        } else {
            SearchEnd::Completed
        };
        LearningRateFinding {
            suggestion: self.suggestion(),
            end,
            steps: self.points.len() as u64,
        }
    }

    fn suggestion(&self) -> Option<LearningRateSuggestion> {
        let smoothed = |point: &LearningRatePoint| point.smoothed;
        // The first steps are averaged over too few.
        let settled = self.points.get(SLOPE_STEPS..)?;
        let first = self
            .points
            .iter()
            .take(SLOPE_STEPS)
            .map(|point| point.loss)
            .sum::<f64>()
            / SLOPE_STEPS as f64;
        let (lowest, lowest_point) = settled
            .iter()
            .enumerate()
            .min_by(|a, b| smoothed(a.1).total_cmp(&smoothed(b.1)))?;
        if lowest_point.smoothed > FALLEN * first {
            return None;
        }
        // Rates grow by the same factor from step to step: the slope by their logarithm is that by
        // steps.
        let falls = settled[..=lowest].windows(SLOPE_STEPS + 1).map(|steps| {
            let (from, to) = (steps[0], steps[SLOPE_STEPS]);
            (
                from.smoothed - to.smoothed,
                steps[SLOPE_STEPS / 2].learning_rate,
            )
        });
        let (_, steepest) = falls.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let lowest = lowest_point.learning_rate;
        Some(LearningRateSuggestion {
            rate: rounded((steepest * lowest).sqrt(), DIGITS),
            steepest: rounded(steepest, DIGITS),
            lowest: rounded(lowest, DIGITS),
        })
    }
}

impl LearningRateSuggestion {
    /// A tenth of the rate with the lowest loss.
    pub fn tenth_of_lowest(&self) -> f64 {
        rounded(self.lowest / 10.0, DIGITS)
    }
}

/// The settings that a search trains with: the run's, but for what does not matter before
/// its end. Its own end comes after [`SEARCH_STEPS`].
#[must_use]
pub fn search_config(config: &RunConfig) -> RunConfig {
    RunConfig {
        epochs: 1000,
        early_stopping: None,
        weight_averaging: None,
        ..config.clone()
    }
}

/// The accuracies that can be asked for, 0 to 1.
pub const TARGET_ACCURACIES: std::ops::RangeInclusive<f64> = 0.2..=0.999;
/// The default: every network reaches it in a few seconds on every set
/// of digits.
pub const TARGET_ACCURACY: f64 = 0.95;
/// A batch size that takes at most this many times as long as the fastest counts as equally fast:
/// runs scatter that much.
const NEARLY_FASTEST: f64 = 1.05;

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
    /// When the accuracy was reached; `None` if it was not.
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

/// The result of a search for a batch size, apart from its rows, which were reported one by one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchSizeFinding {
    /// The gradient noise scale in images, on the way to the accuracy; `None` if it could not be
    /// told from the scatter of its measurement.
    pub noise_scale: Option<f64>,
    /// The fraction of the CPU that other programs used meanwhile, 0 to 1.
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
