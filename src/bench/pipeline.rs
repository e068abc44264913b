//! How fast the training loop's loader augments images and gathers them into batches.

use super::BenchError;
use super::budget::BenchBudget;
use super::rounds::{Case, interleave, timed};
use super::steps;
use crate::data::Split;
use crate::math::statistics::median;
use crate::records::benchmark::{Row, Subject};
use crate::run_config::{Augmentation, ModelKind, RunConfig};
use crate::train::{Loader, Shuffle, TrainError};

/// Batches timed together: many, as one or two may be ready before the time starts.
const BATCHES: usize = 24;
/// Epochs of batches: more than there is time for.
const ENOUGH: u32 = 1000;

/// Images per second with each augmentation, on the loader's one thread, while nothing else runs.
pub(super) fn pipeline(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    images: &Split,
) -> Result<Vec<Row>, BenchError> {
    let time = budget.start_part(Subject::Pipeline, seconds)?;
    let plain = steps::config(ModelKind::ConvNet);
    let taken = std::thread::scope(|scope| {
        let mut cases: Vec<Case<'_>> = Vec::new();
        for &augmentation in Augmentation::ALL {
            let config = RunConfig {
                augmentation,
                epochs: ENOUGH,
                ..plain.clone()
            };
            let mut loader = Loader::start(
                scope,
                &config,
                images,
                Shuffle::new((0..images.len() as u32).collect(), config.seed, 0),
            )?;
            cases.push(Box::new(move || {
                let mut loaded: Result<usize, TrainError> = Ok(0);
                let took = timed(|| {
                    loaded = (0..BATCHES)
                        .map(|_| loader.next_batch().map(|batch| batch.len()))
                        .sum()
                });
                // Batches differ in size where an epoch ends.
                Ok(took / loaded?.max(1) as f64)
            }));
        }
        interleave(budget, time, &mut cases)
    })?;
    let row = |(&augmentation, seconds): (&Augmentation, &Vec<f64>)| Row::Pipeline {
        augmentation,
        threads: 1,
        images_per_second: 1.0 / median(seconds),
    };
    Ok(Augmentation::ALL.iter().zip(&taken).map(row).collect())
}
