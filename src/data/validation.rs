//! The split of the training images into a training and a validation set.

use super::{Split, gather_batch};
use crate::math::random::Random;

/// One in this many images is for validation: 5,000 of 60,000.
const ONE_IN: u64 = 12;
/// Where that would be fewer than this, an accuracy would be hardly more than a guess, and there
/// are more…
const ENOUGH: u64 = 10;
/// … up to one in this many.
const ONE_IN_FEW: u64 = 5;

/// The size of the validation set of this many images: at least one if there are any.
pub const fn validation_size(images: u64) -> u64 {
    let share = images / ONE_IN;
    let of_few = images / ONE_IN_FEW;
    let few = if of_few < ENOUGH { of_few } else { ENOUGH };
    let share = if share < few { few } else { share };
    if share == 0 && images > 0 { 1 } else { share }
}

/// Training images, split in two at random.
#[derive(Clone, Debug)]
pub struct ValidationSplit {
    /// Indices of the images to train on.
    pub train: Vec<u32>,
    /// The images for validation; at least one if there are any.
    pub validation: Split,
}

impl ValidationSplit {
    /// Splits `images`; the same seed gives the same split.
    pub fn new(images: &Split, seed: u64) -> Self {
        let (train, indices) = validation_indices(images.len(), seed);
        let mut validation = Split::default();
        gather_batch(images, &indices, &mut validation);
        Self { train, validation }
    }
}

/// The indices of the images to train on, in random order, and of those for validation.
pub fn validation_indices(images: usize, seed: u64) -> (Vec<u32>, Vec<u32>) {
    let mut indices: Vec<u32> = (0..images as u32).collect();
    Random::stream(seed, "validation split", 0).shuffle(&mut indices);
    let train = indices.split_off(validation_size(images as u64) as usize);
    // In their old order, so that the index of a misclassified image grows with its position in the
    // file.
    indices.sort_unstable();
    (train, indices)
}
