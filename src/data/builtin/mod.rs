//! Owns the built-in data set: digits written by Inkling itself, so that training works at once and without a network.
//! [`forms`] says how each digit can be written, [`hand`] how hands vary it, [`spline`] how the pen moves between the
//! points; `ink` makes the pictures, as it does for the canvas. Must not read or contain anybody's data.

mod forms;
mod hand;
mod spline;

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::error::DataError;
use super::split::{DataSet, Split};
use crate::ink::{Ink, PIXELS};
use crate::math::random::Random;

/// Pictures the built-in set trains on, as many as MNIST's.
pub const TRAIN: usize = 60_000;
/// Pictures of its test split, as many as MNIST's.
pub const TEST: usize = 10_000;

/// Pictures written between two reports of progress: few enough for a cancel to take effect within 100 ms.
const CHUNK: usize = 256;

/// Writes the set of this seed: digits in turn, each picture from its own random stream, so that it does not depend on the
/// number of threads. `progress` hears a fraction from 0 to 1 and may break off.
pub fn write(seed: u64, train: usize, test: usize, progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<DataSet, DataError> {
    let total = (train + test).max(1) as f32;
    let train_split = write_split(seed, TRAIN_STREAM, train, &mut |done| progress(done as f32 / total))?;
    let test_split = write_split(seed, TEST_STREAM, test, &mut |done| progress((train + done) as f32 / total))?;
    Ok(DataSet { train: train_split, test: test_split })
}

/// How many ways there are to write a digit; none for more than 9.
pub fn forms(digit: u8) -> usize {
    forms::of(digit).len()
}

/// Sample `index` of a digit as ink, in order of time as a hand would write it: to show one being written.
/// `form` below [`forms`] chooses the way to write it; else people's habits do.
pub fn ink(digit: u8, form: Option<usize>, seed: u64, index: u64) -> Ink {
    let mut random = Random::stream(seed, "built-in sample", index);
    hand::write(digit, form, &mut random).ink
}

const TRAIN_STREAM: &str = "built-in training digit";
const TEST_STREAM: &str = "built-in test digit";

fn write_split(seed: u64, stream: &str, count: usize, progress: &mut dyn FnMut(usize) -> ControlFlow<()>) -> Result<Split, DataError> {
    let mut split = Split { images: vec![0; count * PIXELS], labels: vec![0; count] };
    let chunks = split.images.chunks_mut(CHUNK * PIXELS).zip(split.labels.chunks_mut(CHUNK));
    for (number, (images, labels)) in chunks.enumerate() {
        let first = number * CHUNK;
        if progress(first).is_break() {
            return Err(DataError::Cancelled);
        }
        images.par_chunks_mut(PIXELS).zip(labels.par_iter_mut()).enumerate().for_each(|(offset, (image, label))| {
            let index = first + offset;
            let digit = (index % 10) as u8;
            let mut random = Random::stream(seed, stream, index as u64);
            image.copy_from_slice(hand::write(digit, None, &mut random).picture(&mut random).pixels());
            *label = digit;
        });
    }
    if progress(count).is_break() {
        return Err(DataError::Cancelled);
    }
    Ok(split)
}
