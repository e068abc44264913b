//! Evaluates a network on labelled images.

use super::InferError;
use super::scores::Scores;
use crate::data::Split;
use crate::ink::{Image, PIXELS};
use crate::nn::{BackendKind, ComputeError, Mode, Net};
use crate::progress::Progress;
use crate::records::{CLASSES, Evaluation, Mistake};

/// Images classified at a time on the CPU.
const CPU_BATCH: usize = 128;
/// Images classified at a time on a GPU, which gains more from large batches.
pub const GPU_BATCH: usize = 1024;
/// The share of real digits that count as digits; the others are taken for something else.
const IN_DISTRIBUTION_QUANTILE: f64 = 0.99;
/// Mistakes listed in an evaluation.
const MAX_MISTAKES: usize = 60;

/// How well a network does on a split.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Accuracy, loss, confusion matrix and mistakes.
    pub evaluation: Evaluation,
    /// The energy score of each image, in the order of the split.
    pub energy_scores: Vec<f32>,
}

impl Measurement {
    /// An error if the network gave probabilities that are none, for any image.
    pub fn check_finite(&self) -> Result<(), ComputeError> {
        if self.energy_scores.iter().all(|score| score.is_finite()) { Ok(()) } else { Err(ComputeError::NotFinite) }
    }

    /// The energy score below which a drawing counts as "not a digit": [`IN_DISTRIBUTION_QUANTILE`] of the images reach it.
    pub fn digit_threshold(&self) -> f32 {
        self.score_reached_by(IN_DISTRIBUTION_QUANTILE)
    }

    /// The highest energy score that at least `share` of the images reach; 0 without images.
    pub fn score_reached_by(&self, share: f64) -> f32 {
        let mut scores = self.energy_scores.clone();
        scores.sort_unstable_by(f32::total_cmp);
        let below = ((1.0 - share) * scores.len() as f64).floor() as usize;
        scores.get(below).copied().unwrap_or_default()
    }
}

/// Classifies every image of `split`. `progress` gets the share done after each batch; an error from it cancels.
pub fn measure(net: &Net, split: &Split, progress: &mut dyn Progress) -> Result<Measurement, InferError> {
    let mut accumulator = Accumulator::default();
    let mut batch = match net.context().backend.kind() {
        BackendKind::Cpu => CPU_BATCH,
        BackendKind::Cuda | BackendKind::Reference => GPU_BATCH,
    };
    let mut done = 0;
    while done < split.len() {
        let end = split.len().min(done + batch);
        let logits =
            match net.forward(&split.images[done * PIXELS..end * PIXELS], Mode::Eval).and_then(|logits| logits.flatten_all()?.to_vec1()) {
                Ok(logits) => logits,
                // Smaller batches need less memory.
                Err(error) => match ComputeError::from(error) {
                    ComputeError::OutOfMemory { .. } if end - done > 1 => {
                        batch = (end - done).div_ceil(2);
                        net.context().release_memory()?;
                        continue;
                    }
                    error => return Err(error.into()),
                },
            };
        for (scores, &label) in Scores::of_rows(&logits).zip(&split.labels[done..end]) {
            accumulator.add(&scores, label);
        }
        done = end;
        progress.report(accumulator.energy_scores.len() as f32 / split.len() as f32)?;
    }
    Ok(accumulator.finish(split))
}

#[derive(Default)]
struct Accumulator {
    loss: f64,
    confusion: [[u32; CLASSES]; CLASSES],
    wrong: Vec<WrongAnswer>,
    energy_scores: Vec<f32>,
}

/// A wrong answer that may be among the most confident ones.
struct WrongAnswer {
    index: usize,
    label: u8,
    answer: u8,
    confidence: f32,
    label_probability: f32,
}

impl Accumulator {
    fn add(&mut self, scores: &Scores, label: u8) {
        let Scores { probabilities, digit, energy_score } = scores;
        let label_probability = probabilities.get(usize::from(label)).copied().unwrap_or_default();
        // A probability that rounds to 0 has a large loss, not an infinite one.
        self.loss -= f64::from(label_probability.max(f32::MIN_POSITIVE).ln());
        if let Some(count) = self.confusion.get_mut(usize::from(label)).and_then(|row| row.get_mut(*digit)) {
            *count += 1;
        }
        if *digit != usize::from(label) {
            self.wrong.push(WrongAnswer {
                index: self.energy_scores.len(),
                label,
                answer: *digit as u8,
                confidence: probabilities[*digit],
                label_probability,
            });
        }
        self.energy_scores.push(*energy_score);
    }

    fn finish(mut self, split: &Split) -> Measurement {
        let images = self.energy_scores.len();
        let right = images - self.wrong.len();
        self.wrong.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        let mistakes = self
            .wrong
            .iter()
            .filter_map(|wrong| {
                let image = Image::try_from(split.image(wrong.index)).ok()?;
                let WrongAnswer { index, label, answer, confidence, label_probability } = *wrong;
                Some(Mistake { index: index as u64, image, label, answer, confidence, label_probability })
            })
            .take(MAX_MISTAKES)
            .collect();
        let share = |sum: f64| sum / images.max(1) as f64;
        let evaluation = Evaluation {
            images: images as u64,
            accuracy: share(right as f64),
            loss: share(self.loss),
            confusion: self.confusion,
            mistakes,
        };
        Measurement { evaluation, energy_scores: self.energy_scores }
    }
}
