//! Owns the split of the training images into those learned from and those held back for validation.
//! Must not know how either is used.

use super::Split;
use crate::ink::PIXELS;
use crate::math::random::Random;

/// One in this many images is held back: 5,000 of 60,000.
const ONE_IN: usize = 12;

/// How many of so many images are held back: at least one if there are any.
pub const fn validation_size(images: u64) -> u64 {
    let share = images / ONE_IN as u64;
    if share == 0 && images > 0 { 1 } else { share }
}

/// Training images, split in two by seed.
#[derive(Clone, Debug)]
pub struct ValidationSplit {
    /// Positions of the images to learn from.
    pub train: Vec<u32>,
    /// The images held back; at least one if there are any.
    pub validation: Split,
}

impl ValidationSplit {
    /// Splits `images`; the same seed holds back the same ones.
    pub fn new(images: &Split, seed: u64) -> Self {
        let mut positions: Vec<u32> = (0..images.len() as u32).collect();
        Random::stream(seed, "validation split", 0).shuffle(&mut positions);
        let train = positions.split_off(validation_size(images.len() as u64) as usize);
        // In their old order, so that a mistake's index grows with its place in the file.
        positions.sort_unstable();
        let mut validation = Split::default();
        gather_batch(images, &positions, &mut validation);
        Self { train, validation }
    }
}

/// Replaces the content of `into` by the images at `positions`.
pub fn gather_batch(images: &Split, positions: &[u32], into: &mut Split) {
    into.images.clear();
    into.labels.clear();
    into.images.reserve(positions.len() * PIXELS);
    for &position in positions {
        into.images.extend_from_slice(images.image(position as usize));
        into.labels.push(images.labels[position as usize]);
    }
}
