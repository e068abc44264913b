//! Whether the starter model reads the digits of a data set, as they are, on their sides or
//! inverted: mistakes that no image shows by itself.

use schemars::JsonSchema;
use serde::Serialize;

use super::Classifier;
use crate::data::{Dataset, Split, gather_batch};
use crate::ink::{PIXELS, SIDE};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::records::ModelRef;
use crate::text::format::{grouped, percent};

/// Images that are read.
const IMAGES: usize = 500;
/// Of fewer, a fraction says little.
const ENOUGH: usize = 30;
/// Digits of which less than this is read are worth a look.
const FEW: f64 = 0.5;
/// So much more has to be read of images that are turned to tell that they should be.
const MORE: f64 = 0.3;

/// The fractions of some training images that the starter model reads right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StarterCheck {
    /// How many were read.
    pub images: u64,
    /// As they are.
    pub as_they_are: f64,
    /// With rows and columns exchanged.
    pub transposed: f64,
    /// With light and dark exchanged.
    pub inverted: f64,
}

impl StarterCheck {
    /// Reads images from everywhere in the training images; `None` if they are no digits or too
    /// few.
    pub fn of(set: &Dataset, progress: &mut dyn Progress) -> Result<Option<Self>, Problem> {
        let count = set.train.len();
        if !set.classes.are_digits() || count < ENOUGH {
            return Ok(None);
        }
        let Some(starter) = Classifier::load(&ModelRef::Starter)? else {
            return Ok(None);
        };
        let indices: Vec<u32> = (0..count as u32).step_by(count.div_ceil(IMAGES)).collect();
        let mut some = Split::default();
        gather_batch(&set.train, &indices, &mut some);
        let mut share = |image: fn(&[u8], usize) -> u8| -> Result<f64, Problem> {
            let pixels =
                |pixels: &[u8]| (0..PIXELS).map(|at| image(pixels, at)).collect::<Vec<_>>();
            let images: Vec<u8> = some.images.chunks_exact(PIXELS).flat_map(pixels).collect();
            let digits = starter.digits(&images, progress)?;
            let right = digits
                .iter()
                .zip(&some.labels)
                .filter(|(digit, label)| digit == label);
            Ok(right.count() as f64 / some.len() as f64)
        };
        Ok(Some(Self {
            images: indices.len() as u64,
            as_they_are: share(|pixels, at| pixels[at])?,
            transposed: share(|pixels, at| pixels[at % SIDE * SIDE + at / SIDE])?,
            inverted: share(|pixels, at| 255 - pixels[at])?,
        }))
    }

    /// Whether it reads the digits once light and dark are exchanged.
    pub fn is_inverted(&self) -> bool {
        self.inverted > self.transposed && self.inverted >= self.as_they_are + MORE
    }

    /// The oddity, and what to do about it.
    pub fn sentence(&self) -> Option<String> {
        if self.as_they_are >= FEW {
            return None;
        }
        let read = format!(
            "The starter model classifies {} of {} training images correctly",
            percent(self.as_they_are, 1),
            grouped(self.images)
        );
        Some(if self.is_inverted() {
            format!(
                "{read}, but {} with light and dark exchanged. Light digits on dark are expected, as in MNIST: invert them.",
                percent(self.inverted, 1)
            )
        } else if self.transposed >= self.as_they_are + MORE {
            format!(
                "{read}, but {} with rows and columns exchanged. Exchange them; or, if the file is from EMNIST, name it as EMNIST does (emnist-digits-train.csv), and Inkling exchanges them.",
                percent(self.transposed, 1)
            )
        } else {
            format!(
                "{read}. Look at them with `inkling data show`: their labels may be wrong, or they may not be digits."
            )
        })
    }
}
