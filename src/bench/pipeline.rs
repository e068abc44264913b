//! Owns measuring how fast training images are got ready. Must not do it itself: `train` does.

use super::clock::{Clock, Ended};
use super::report::{Row, Subject, Work};
use super::rounds::{Side, median, take, timed};
use crate::data::Split;
use crate::random::Random;
use crate::train::gather;

/// Images in a batch.
const BATCH: usize = 128;

/// How fast batches are filled, on the one thread that does it.
pub(super) fn pipeline(clock: &mut Clock<'_>, seconds: f64, images: &Split) -> Result<Vec<Row>, Ended> {
    let time = clock.part(Subject::Pipeline, seconds);
    let mut order: Vec<u32> = (0..images.len() as u32).collect();
    Random::new(1).shuffle(&mut order);
    let mut batch = Split::default();
    let epoch: Side<'_> = Box::new(move || Ok(timed(|| order.chunks(BATCH).for_each(|positions| gather(images, positions, &mut batch)))));
    let taken = take(clock, time, &mut [epoch])?;
    let images_per_second = images.len() as f64 / median(taken.first().map_or(&[], Vec::as_slice));
    Ok(vec![Row::Pipeline { work: Work::Gather, threads: 1, images_per_second }])
}
