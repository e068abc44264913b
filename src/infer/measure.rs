//! Evaluates a network on labeled images.

use super::calibration::fit_temperature;
use super::outputs::{Outputs, Scores};
use crate::data::Split;
use crate::ink::{Image, PIXELS};
use crate::nn::{BackendKind, ComputeError, DeviceContext, Net};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::records::{Calibration, Evaluation, Mistake, RELIABILITY_BINS, ReliabilityBin};

/// Images classified at a time on the CPU.
const CPU_BATCH: usize = 128;
/// Images classified at a time on a GPU, which gains more from large batches.
pub const GPU_BATCH: usize = 1024;
/// The share of real digits that count as digits; the others are taken for something else.
const IN_DISTRIBUTION_QUANTILE: f64 = 0.95;
const MAX_MISTAKES: usize = 60;

/// How well a network does on a split.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Accuracy, loss, confusion matrix and mistakes.
    pub evaluation: Evaluation,
    /// The class that each image was taken for, in the same order.
    pub answers: Vec<u8>,
    outputs: Outputs,
}

impl Measurement {
    /// That of a split for which a network gave these outputs, with probabilities at this
    /// temperature.
    pub(super) fn of(outputs: Outputs, temperature: f32, split: &Split) -> Self {
        let mut accumulator = Accumulator::default();
        for (scores, &label) in outputs.scores(temperature).zip(&split.labels) {
            accumulator.add(&scores, label);
        }
        accumulator.finish(split, outputs)
    }

    /// An error if the network gave invalid probabilities for any image.
    pub fn check_finite(&self) -> Result<(), ComputeError> {
        if self.outputs.are_finite() {
            Ok(())
        } else {
            Err(ComputeError::NotFinite)
        }
    }

    /// The logits of each image, `[n, classes]`.
    pub fn logits(&self) -> &[f32] {
        &self.outputs.logits
    }

    /// The digit score of each image, in the order of the split.
    pub fn digit_scores(&self) -> &[f32] {
        &self.outputs.digit_scores
    }

    /// What is fitted on these images, which have these labels, for the network that was measured.
    pub fn calibration(&self, labels: &[u8]) -> Calibration {
        Calibration {
            temperature: fit_temperature(&self.outputs.logits, labels),
            digit_threshold: self.digit_threshold(),
        }
    }

    /// The digit score below which a drawing counts as "not a digit": [`IN_DISTRIBUTION_QUANTILE`]
    /// of the images reach it.
    pub fn digit_threshold(&self) -> f32 {
        self.score_reached_by(IN_DISTRIBUTION_QUANTILE)
    }

    /// The highest digit score that at least `share` of the images reach; 0 without images.
    pub fn score_reached_by(&self, share: f64) -> f32 {
        let mut scores = self.outputs.digit_scores.clone();
        scores.sort_unstable_by(f32::total_cmp);
        let below = ((1.0 - share) * scores.len() as f64).floor() as usize;
        scores.get(below).copied().unwrap_or_default()
    }
}

/// Classifies every image of `split` with probabilities at this temperature. `progress` gets the
/// share done after each batch; an error from it cancels.
pub fn measure(
    net: &Net,
    temperature: f32,
    split: &Split,
    progress: &mut dyn Progress,
) -> Result<Measurement, Problem> {
    let outputs = outputs(net.context(), &split.images, progress, |batch| {
        Outputs::of(net, batch)
    })?;
    Ok(Measurement::of(outputs, temperature, split))
}

/// The outputs for images, 784 bytes each, which `compute` gives for as many at a time as the
/// device takes. `progress` as in [`measure`].
pub(super) fn outputs(
    context: &DeviceContext,
    images: &[u8],
    progress: &mut dyn Progress,
    compute: impl Fn(&[u8]) -> Result<Outputs, candle_core::Error>,
) -> Result<Outputs, Problem> {
    let count = images.len() / PIXELS;
    let mut all = Outputs::default();
    let mut batch = match context.backend.kind() {
        BackendKind::Cpu => CPU_BATCH,
        BackendKind::Cuda | BackendKind::Composed => GPU_BATCH,
    };
    let mut done = 0;
    while done < count {
        let end = count.min(done + batch);
        match compute(&images[done * PIXELS..end * PIXELS]) {
            Ok(outputs) => {
                all.logits.extend(outputs.logits);
                all.digit_scores.extend(outputs.digit_scores);
            }
            // Smaller batches need less memory.
            Err(error) => match ComputeError::from(error) {
                ComputeError::OutOfMemory { .. } if end - done > 1 => {
                    batch = (end - done).div_ceil(2);
                    context.release_memory()?;
                    continue;
                }
                error => return Err(error.into()),
            },
        }
        done = end;
        progress.report(done as f32 / count as f32)?;
    }
    Ok(all)
}

#[derive(Default)]
struct Accumulator {
    loss: f64,
    confusion: Vec<Vec<u32>>,
    wrong: Vec<WrongAnswer>,
    reliability: [ReliabilityBin; RELIABILITY_BINS],
    answers: Vec<u8>,
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
        let Scores {
            probabilities,
            digit,
            ..
        } = scores;
        if self.confusion.is_empty() {
            self.confusion = vec![vec![0; probabilities.len()]; probabilities.len()];
        }
        let label_probability = probabilities
            .get(usize::from(label))
            .copied()
            .unwrap_or_default();
        // A probability that rounds to 0 has a large loss, not an infinite one.
        self.loss -= f64::from(label_probability.max(f32::MIN_POSITIVE).ln());
        if let Some(count) = self
            .confusion
            .get_mut(usize::from(label))
            .and_then(|row| row.get_mut(*digit))
        {
            *count += 1;
        }
        let confidence = probabilities.get(*digit).copied().unwrap_or_default();
        let correct = *digit == usize::from(label);
        if let Some(bin) = self
            .reliability
            .get_mut(ReliabilityBin::index_of(confidence))
        {
            bin.add(confidence, correct);
        }
        if !correct {
            self.wrong.push(WrongAnswer {
                index: self.answers.len(),
                label,
                answer: *digit as u8,
                confidence,
                label_probability,
            });
        }
        self.answers.push(*digit as u8);
    }

    fn finish(mut self, split: &Split, outputs: Outputs) -> Measurement {
        let images = self.answers.len();
        let right = images - self.wrong.len();
        self.wrong
            .sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        let mistakes = self
            .wrong
            .iter()
            .filter_map(|wrong| {
                let image = Image::try_from(split.image(wrong.index)).ok()?;
                let WrongAnswer {
                    index,
                    label,
                    answer,
                    confidence,
                    label_probability,
                } = *wrong;
                Some(Mistake {
                    index: index as u64,
                    image,
                    label,
                    answer,
                    confidence,
                    label_probability,
                })
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
            reliability: self.reliability,
        };
        Measurement {
            evaluation,
            answers: self.answers,
            outputs,
        }
    }
}
