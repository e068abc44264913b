//! Owns measuring how fast training images are got ready. Must not do it itself: the training loop's loader does.

use super::clock::{Clock, Ended};
use super::rounds::{Side, take, timed};
use super::steps;
use crate::data::Split;
use crate::math::quantiles::median;
use crate::records::benchmark::{Row, Subject};
use crate::run_config::{Augmentation, ModelKind, RunConfig};
use crate::train::{Loader, Shuffle, TrainError};

/// Batches waited for at a time: many, as one or two may be ready before the clock starts.
const BATCHES: usize = 24;
/// Epochs of batches: more than there is time for.
const ENOUGH: u32 = 1000;

/// How fast batches come, on the one thread that makes them, when nobody learns from them meanwhile.
pub(super) fn pipeline(clock: &mut Clock<'_>, seconds: f64, images: &Split) -> Result<Vec<Row>, Ended> {
    let time = clock.part(Subject::Pipeline, seconds)?;
    let plain = steps::config(ModelKind::ConvNet);
    let taken = std::thread::scope(|scope| {
        let mut sides: Vec<Side<'_>> = Vec::new();
        for &augmentation in Augmentation::ALL {
            let config = RunConfig { augmentation, epochs: ENOUGH, ..plain.clone() };
            let mut loader = Loader::start(scope, &config, images, Shuffle::new((0..images.len() as u32).collect(), config.seed, 0))?;
            sides.push(Box::new(move || {
                let mut loaded: Result<usize, TrainError> = Ok(0);
                let took = timed(|| loaded = (0..BATCHES).map(|_| loader.next_batch().map(Split::len)).sum());
                // Batches differ in size where an epoch ends.
                Ok(took / loaded?.max(1) as f64)
            }));
        }
        take(clock, time, &mut sides)
    })?;
    let row = |(&augmentation, seconds): (&Augmentation, &Vec<f64>)| Row::Pipeline {
        augmentation,
        threads: 1,
        images_per_second: 1.0 / median(seconds),
    };
    Ok(Augmentation::ALL.iter().zip(&taken).map(row).collect())
}
