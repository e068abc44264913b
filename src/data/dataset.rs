//! Labeled images in memory: one byte per pixel, for a whole run; what their labels stand for, how
//! they are split, and their checksums.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::DataPart;
use crate::ink::PIXELS;
use crate::math::random::Random;
use crate::run_config::{CLASS_COUNTS, Classes, ClassesError, MAX_LABEL, RunConfig};

/// One in this many images is for validation: 5,000 of 60,000.
const ONE_IN: u64 = 12;
/// If that would be fewer than this, an accuracy would be hardly more than a guess, and there
/// are more…
const ENOUGH: u64 = 10;
/// … up to one in this many.
const ONE_IN_FEW: u64 = 5;
/// If a source has no test split, one in this many images is used as one.
const ONE_IN_FOR_TEST: usize = 7;
/// Bytes that are hashed in one piece; pieces are hashed on all cores.
const PIECE: usize = 1 << 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// 784 pixels for each label, one image after the other.
    pub images: Vec<u8>,
    /// The class of each image, a number from 0.
    pub labels: Vec<u8>,
}

impl Split {
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

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
pub struct Dataset {
    /// For training; the validation split is taken out of it, by seed.
    pub train: Split,
    /// For measuring the model once, at the end.
    pub test: Split,
    /// The meaning of their labels.
    pub classes: Classes,
    /// How the images were changed when they were read, in a sentence or two for each change.
    pub notes: Vec<String>,
}

impl Dataset {
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
            notes: Vec::new(),
        })
    }

    /// Images of digits for training alone.
    pub fn of_digits(train: Split) -> Self {
        Self {
            train,
            ..Self::default()
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

/// The different labels of a data set, numbered as they come.
#[derive(Debug, Default)]
pub struct ClassLabels {
    names: Vec<String>,
    numbers: HashMap<String, u8>,
}

impl ClassLabels {
    /// The number of this label; the next one if it is new.
    pub fn number(&mut self, label: &str) -> Result<u8, ClassesError> {
        if let Some(number) = self.numbers.get(label) {
            return Ok(*number);
        }
        if self.names.len() == *CLASS_COUNTS.end() {
            return Err(ClassesError::Count {
                given: self.names.len() + 1,
            });
        }
        let number = self.names.len() as u8;
        self.names.push(label.to_owned());
        self.numbers.insert(label.to_owned(), number);
        Ok(number)
    }

    pub fn first(&self) -> Option<&str> {
        self.names.first().map(String::as_str)
    }

    /// The classes, and which of them each label stands for, by its number. Labels that are all
    /// numbers are the numbers of the classes; others are sorted, as torchvision's `ImageFolder`
    /// does it.
    pub fn classes(&self) -> Result<(Classes, Vec<u8>), ClassesError> {
        let as_number = |name: &String| {
            name.parse()
                .ok()
                .filter(|number: &u8| *number <= MAX_LABEL && number.to_string() == *name)
        };
        if let Some(numbers) = self
            .names
            .iter()
            .map(as_number)
            .collect::<Option<Vec<u8>>>()
        {
            return Ok((
                Classes::numbered(numbers.iter().copied().max().unwrap_or_default())?,
                numbers,
            ));
        }
        let mut sorted: Vec<&str> = self.names.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        let place = |name: &String| {
            sorted
                .iter()
                .position(|other| *other == name.as_str())
                .unwrap_or_default() as u8
        };
        Ok((
            Classes::of_names(&sorted)?,
            self.names.iter().map(place).collect(),
        ))
    }
}

/// Puts the class of each label in its place.
pub fn assign(split: &mut Split, classes: &[u8]) {
    for label in &mut split.labels {
        *label = classes
            .get(usize::from(*label))
            .copied()
            .unwrap_or_default();
    }
}

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

    /// The split of a run with these settings.
    pub fn of_run(images: &Split, config: &RunConfig) -> Self {
        let split = Self::new(images, config.seed);
        match config.training_images {
            Some(count) => split.limited(images, count as usize),
            None => split,
        }
    }

    /// The same with this many of the training `images`, as many of each class as possible.
    fn limited(mut self, images: &Split, count: usize) -> Self {
        let mut seen = [0_usize; 256];
        let mut ranked: Vec<(usize, u32)> = Vec::with_capacity(self.train.len());
        for &index in &self.train {
            let label = images.labels.get(index as usize).copied();
            let rank = &mut seen[usize::from(label.unwrap_or_default())];
            ranked.push((*rank, index));
            *rank += 1;
        }
        // The first of each class, then the second of each.
        ranked.sort_by_key(|(rank, _)| *rank);
        ranked.truncate(count);
        self.train = ranked.into_iter().map(|(_, index)| index).collect();
        self
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

/// The indices of the images that are set apart for the test split if there is none, and of the
/// others.
pub fn test_split(images: usize) -> (Vec<u32>, Vec<u32>) {
    let mut order: Vec<u32> = (0..images as u32).collect();
    Random::stream(0, "test split", images as u64).shuffle(&mut order);
    let train = order.split_off(images / ONE_IN_FOR_TEST);
    (order, train)
}

/// The SHA-256 of each part of a data set, in the order of its images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    train_images: [u8; 32],
    train_labels: [u8; 32],
    test: [u8; 32],
}

impl Fingerprint {
    pub fn of(set: &Dataset) -> Self {
        Self {
            train_images: digest(&[&set.train.images]),
            train_labels: digest(&[&set.train.labels]),
            test: digest(&[&set.test.images, &set.test.labels]),
        }
    }

    pub fn difference(&self, other: &Self) -> Option<DataPart> {
        let differs = [
            (
                self.train_images != other.train_images,
                DataPart::TrainImages,
            ),
            (
                self.train_labels != other.train_labels,
                DataPart::TrainLabels,
            ),
            (self.test != other.test, DataPart::Test),
        ];
        differs
            .into_iter()
            .find_map(|(differs, part)| differs.then_some(part))
    }
}

/// The digest of the digests of all pieces.
fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut whole = Sha256::new();
    for part in parts {
        whole.update((part.len() as u64).to_le_bytes());
        let pieces: Vec<_> = part.par_chunks(PIECE).map(Sha256::digest).collect();
        pieces.iter().for_each(|piece| whole.update(piece));
    }
    whole.finalize().into()
}
