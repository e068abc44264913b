//! Owns measuring a network on a split. Must not know which split it is.

use std::ops::ControlFlow;

use super::scores::Scores;
use crate::data::Split;
use crate::device::Kernels;
use crate::ink::{PIXELS, Picture};
use crate::nn::{Net, Pass};
use crate::problem::Problem;
use crate::protocol::{CLASSES, Evaluation, Mistake};

/// Images read between two looks at whoever waits, on the processor.
const CHUNK: usize = 128;
/// The same on a device, which has more to gain from many at once.
pub const DEVICE_CHUNK: usize = 1024;
/// Wrong answers kept.
const MISTAKES: usize = 60;

/// A network's figures on a split.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// What is reported.
    pub evaluation: Evaluation,
    /// How much each image looks like a digit, in the order of the split.
    pub digit_scores: Vec<f32>,
}

impl Measurement {
    /// The highest digit score that at least `share` of the images reach; 0 without images.
    pub fn score_kept_by(&self, share: f64) -> f32 {
        let mut scores = self.digit_scores.clone();
        scores.sort_unstable_by(f32::total_cmp);
        let below = ((1.0 - share) * scores.len() as f64).floor() as usize;
        scores.get(below).copied().unwrap_or_default()
    }
}

/// Reads every image of `split`. `progress` gets the share done after each part; `None` when it breaks the reading off.
pub fn measure(net: &Net, split: &Split, progress: &mut dyn FnMut(f32) -> ControlFlow<()>) -> Result<Option<Measurement>, Problem> {
    let mut figures = Figures::default();
    let mut chunk = match net.place().kernels {
        Kernels::Ours => CHUNK,
        Kernels::Cuda | Kernels::Candle => DEVICE_CHUNK,
    };
    let mut read = 0;
    while read < split.len() {
        let end = split.len().min(read + chunk);
        let logits =
            match net.forward(&split.images[read * PIXELS..end * PIXELS], Pass::Read).and_then(|logits| logits.flatten_all()?.to_vec1()) {
                Ok(logits) => logits,
                // Where memory is short, fewer at a time.
                Err(error) => match Problem::from(error) {
                    Problem::OutOfMemory { .. } if end - read > 1 => {
                        chunk = (end - read).div_ceil(2);
                        net.place().release()?;
                        continue;
                    }
                    problem => return Err(problem),
                },
            };
        for (scores, &label) in Scores::of_rows(&logits).zip(&split.labels[read..end]) {
            figures.add(&scores, label);
        }
        read = end;
        if progress(figures.digit_scores.len() as f32 / split.len() as f32).is_break() {
            return Ok(None);
        }
    }
    Ok(Some(figures.finish(split)))
}

#[derive(Default)]
struct Figures {
    loss: f64,
    confusion: [[u32; CLASSES]; CLASSES],
    wrong: Vec<Wrong>,
    digit_scores: Vec<f32>,
}

/// A wrong answer, until it is known whether it is among the worst.
struct Wrong {
    index: usize,
    label: u8,
    answer: u8,
    confidence: f32,
    label_probability: f32,
}

impl Figures {
    fn add(&mut self, scores: &Scores, label: u8) {
        let Scores { probabilities, digit, digit_score } = scores;
        let label_probability = probabilities.get(usize::from(label)).copied().unwrap_or_default();
        // A probability that rounds to 0 has a large loss, not an infinite one.
        self.loss -= f64::from(label_probability.max(f32::MIN_POSITIVE).ln());
        if let Some(count) = self.confusion.get_mut(usize::from(label)).and_then(|row| row.get_mut(*digit)) {
            *count += 1;
        }
        if *digit != usize::from(label) {
            self.wrong.push(Wrong {
                index: self.digit_scores.len(),
                label,
                answer: *digit as u8,
                confidence: probabilities[*digit],
                label_probability,
            });
        }
        self.digit_scores.push(*digit_score);
    }

    fn finish(mut self, split: &Split) -> Measurement {
        let images = self.digit_scores.len();
        let right = images - self.wrong.len();
        self.wrong.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        let mistakes = self
            .wrong
            .iter()
            .filter_map(|wrong| {
                let picture = Picture::try_from(split.image(wrong.index)).ok()?;
                let Wrong { index, label, answer, confidence, label_probability } = *wrong;
                Some(Mistake { index: index as u64, picture, label, answer, confidence, label_probability })
            })
            .take(MISTAKES)
            .collect();
        let share = |sum: f64| sum / images.max(1) as f64;
        let evaluation = Evaluation {
            images: images as u64,
            accuracy: share(right as f64),
            loss: share(self.loss),
            confusion: self.confusion,
            mistakes,
        };
        Measurement { evaluation, digit_scores: self.digit_scores }
    }
}
