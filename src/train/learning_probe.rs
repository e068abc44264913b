//! Looks at a network while it is trained: what it makes of a few validation images, and what its
//! first layer looks like. Changes nothing of the run, and takes next to none of its time.

use std::time::{Duration, Instant};

use candle_core::Result;

use crate::data::{Split, gather_batch};
use crate::infer::Scores;
use crate::ink::{Image, SIDE};
use crate::math::random::Random;
use crate::nn::{ComputeError, Mode, Net};
use crate::records::{FilterImages, HeldOutAnswer, HeldOutImage, HeldOutSnapshot};

/// Images that are looked at, as many of each class.
const IMAGES: usize = 100;
/// The shortest time between two looks at the images.
const MIN_INTERVAL: Duration = Duration::from_millis(200);
/// A look is followed by at least this many times its own duration: it takes at most one hundredth
/// of the run's time.
const REST: u32 = 100;
/// The shortest time between two looks at the first layer.
const LAYER_INTERVAL: Duration = Duration::from_millis(500);
/// Units of the first layer that are looked at.
const UNITS: usize = 64;

/// Classifies held-out images with a network that is being trained.
#[derive(Debug)]
pub struct LearningProbe {
    images: Split,
    last: Instant,
    interval: Duration,
    layer_due: Instant,
}

impl LearningProbe {
    /// Classifies the images that [`held_out`] chooses.
    pub fn new(validation: &Split, classes: usize, seed: u64) -> Self {
        let now = Instant::now();
        Self {
            images: held_out(validation, classes, seed),
            last: now,
            interval: MIN_INTERVAL,
            layer_due: now,
        }
    }

    /// The images, ordered by class.
    pub fn images(&self) -> Vec<HeldOutImage> {
        let images = (0..).zip(&self.images.labels);
        images
            .filter_map(|(index, &label)| {
                Some(HeldOutImage {
                    image: Image::try_from(self.images.image(index)).ok()?,
                    label,
                })
            })
            .collect()
    }

    /// True when there is time for another look.
    pub fn is_due(&self) -> bool {
        !self.images.is_empty() && self.last.elapsed() >= self.interval
    }

    /// Classifies the images with the weights as they are now, after `step` steps, with
    /// probabilities at this temperature. Waits for the device.
    pub fn take(
        &mut self,
        net: &Net,
        temperature: f32,
        step: u64,
    ) -> std::result::Result<HeldOutSnapshot, ComputeError> {
        // What a GPU still has to do is training, which costs nothing here.
        net.context().device.synchronize()?;
        let start = Instant::now();
        let answers = self.answers(net, temperature)?;
        let first_layer = if start >= self.layer_due {
            first_layer(net, UNITS)?
        } else {
            None
        };
        if first_layer.is_some() {
            self.layer_due = start + LAYER_INTERVAL;
        }
        self.last = Instant::now();
        self.interval = MIN_INTERVAL.max((self.last - start) * REST);
        Ok(HeldOutSnapshot {
            step,
            answers,
            first_layer,
        })
    }

    fn answers(&self, net: &Net, temperature: f32) -> Result<Vec<HeldOutAnswer>> {
        if self.images.is_empty() {
            return Ok(Vec::new());
        }
        let logits = net
            .forward(&self.images.images, Mode::Eval)?
            .flatten_all()?
            .to_vec1::<f32>()?;
        // The outputs of a network that has just diverged are not finite.
        let finite = |probability: Option<&f32>| {
            probability
                .copied()
                .filter(|probability| probability.is_finite())
                .unwrap_or_default()
        };
        let answer = |(scores, &label): (Scores, &u8)| HeldOutAnswer {
            digit: scores.digit as u8,
            probability: finite(scores.probabilities.get(scores.digit)),
            label_probability: finite(scores.probabilities.get(usize::from(label))),
        };
        Ok(Scores::of_rows(&logits, net.classes(), temperature)
            .zip(&self.images.labels)
            .map(answer)
            .collect())
    }
}

/// Some validation images, as many of each of this many classes, or as many as there are; the same
/// seed chooses the same ones.
pub fn held_out(validation: &Split, classes: usize, seed: u64) -> Split {
    let per_class = (IMAGES / classes.max(1)).max(1);
    let chosen = (0..classes as u8).flat_map(|digit| {
        let mut indices: Vec<u32> = (0..)
            .zip(&validation.labels)
            .filter(|(_, label)| **label == digit)
            .map(|(index, _)| index)
            .collect();
        Random::stream(seed, "held-out images", u64::from(digit)).shuffle(&mut indices);
        indices.truncate(per_class);
        indices
    });
    let mut images = Split::default();
    gather_batch(validation, &chosen.collect::<Vec<_>>(), &mut images);
    images
}

/// The weights of so many units of the first layer if they can be seen as images: kernels on the
/// image, or a weight for each of its pixels.
pub fn first_layer(net: &Net, most: usize) -> Result<Option<FilterImages>> {
    let Some(weights) = net.parameters().first().map(crate::nn::Parameter::tensor) else {
        return Ok(None);
    };
    let (units, height, width) = match *weights.dims() {
        [units, 1, height, width] => (units, height, width),
        [units, inputs] if inputs == SIDE * SIDE => (units, SIDE, SIDE),
        _ => return Ok(None),
    };
    let values = weights
        .narrow(0, 0, units.min(most))?
        .flatten_all()?
        .to_vec1::<f32>()?;
    Ok(Some(FilterImages::of(width, height, &values)))
}
