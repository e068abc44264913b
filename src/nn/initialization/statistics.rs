//! Mean, deviation and extremes of the pixels that a network will learn from.

use rayon::prelude::*;

use crate::data::Split;
use crate::records::Normalization;

/// How often each grey value occurs.
pub struct PixelStatistics {
    counts: [u64; 256],
}

impl PixelStatistics {
    /// Of all pixels of the images at these indices.
    pub fn of(images: &Split, indices: &[u32]) -> Self {
        let count = |mut counts: [u64; 256], index: &u32| {
            for &pixel in images.image(*index as usize) {
                counts[usize::from(pixel)] += 1;
            }
            counts
        };
        let add = |mut counts: [u64; 256], more: [u64; 256]| {
            counts
                .iter_mut()
                .zip(more)
                .for_each(|(count, more)| *count += more);
            counts
        };
        Self {
            counts: indices
                .par_iter()
                .fold(|| [0; 256], count)
                .reduce(|| [0; 256], add),
        }
    }

    /// Their mean and standard deviation, from 0 to 1; a deviation of 1 where all are the same.
    pub fn normalization(&self) -> Normalization {
        let mean_of = |value: &dyn Fn(f64) -> f64| {
            let sum: f64 = (0..)
                .zip(self.counts)
                .map(|(grey, count)| value(f64::from(grey) / 255.0) * count as f64)
                .sum();
            sum / self.counts.iter().sum::<u64>().max(1) as f64
        };
        let mean = mean_of(&|grey| grey);
        let variance = mean_of(&|grey| (grey - mean).powi(2));
        Normalization {
            mean: mean as f32,
            std: if variance > 0.0 {
                variance.sqrt() as f32
            } else {
                1.0
            },
        }
    }

    /// The least and the greatest grey value.
    pub fn extremes(&self) -> [u8; 2] {
        let occurs = |grey: &u8| self.counts[usize::from(*grey)] > 0;
        [
            (0..=255).find(occurs).unwrap_or_default(),
            (0..=255).rfind(occurs).unwrap_or_default(),
        ]
    }
}
