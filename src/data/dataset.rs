//! Labelled images in memory: one byte per pixel, for a whole run.

use crate::ink::PIXELS;
use crate::run_config::{Classes, ClassesError};

/// Labelled images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// 784 pixels for each label, one image after the other.
    pub images: Vec<u8>,
    /// The class of each image, a number from 0.
    pub labels: Vec<u8>,
}

impl Split {
    /// How many images.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// True without images.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The pixels of image `index`.
    pub fn image(&self, index: usize) -> &[u8] {
        &self.images[index * PIXELS..(index + 1) * PIXELS]
    }

    /// A copy of the first images, at most this many.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        let count = count.min(self.len());
        Self {
            images: self.images[..count * PIXELS].to_vec(),
            labels: self.labels[..count].to_vec(),
        }
    }

    /// Adds these images after those that are there.
    pub fn append(&mut self, more: &Self) {
        self.images.extend_from_slice(&more.images);
        self.labels.extend_from_slice(&more.labels);
    }
}

/// The images of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataSet {
    /// For training; the validation split is taken out of it, by seed.
    pub train: Split,
    /// For measuring the model once, at the end.
    pub test: Split,
    /// What their labels stand for.
    pub classes: Classes,
}

impl DataSet {
    /// Images whose labels are nothing but numbers.
    pub fn of_numbers(train: Split, test: Split) -> Result<Self, ClassesError> {
        let largest = train
            .labels
            .iter()
            .chain(&test.labels)
            .copied()
            .max()
            .unwrap_or_default();
        Ok(Self {
            train,
            test,
            classes: Classes::numbered(largest)?,
        })
    }

    /// Images of digits for training alone.
    pub fn of_digits(train: Split) -> Self {
        Self {
            train,
            test: Split::default(),
            classes: Classes::Digits,
        }
    }
}

/// Replaces the content of `into` by the images at `indices`.
pub fn gather_batch(images: &Split, indices: &[u32], into: &mut Split) {
    into.images.clear();
    into.labels.clear();
    into.images.reserve(indices.len() * PIXELS);
    for &index in indices {
        into.images.extend_from_slice(images.image(index as usize));
        into.labels.push(images.labels[index as usize]);
    }
}
