//! Evaluates a network on labeled images.

use super::calibration::fit_temperature;
use super::outputs::{Outputs, Scores};
use super::samples::{is_correct, probability, samples};
use crate::data::Split;
use crate::ink::PIXELS;
use crate::math::label_errors::label_suspects;
use crate::nn::{BackendKind, ComputeError, DeviceContext, Net};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::records::{Calibration, Evaluation, ReliabilityBin};

/// Images classified at a time on the CPU.
const CPU_BATCH: usize = 128;
/// Images classified at a time on a GPU, which gains more from large batches.
pub const GPU_BATCH: usize = 1024;
/// The fraction of real digits that count as digits; the others are taken for something else.
const IN_DISTRIBUTION_QUANTILE: f64 = 0.95;

/// How well a network does on a split.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Accuracy, loss, confusion matrix and images to look at.
    pub evaluation: Evaluation,
    /// The class that each image was taken for, in the same order.
    pub answers: Vec<u8>,
    outputs: Outputs,
}

impl Measurement {
    /// That of a split for which a network gave these outputs, with probabilities at this
    /// temperature.
    pub(super) fn of(outputs: Outputs, temperature: f32, split: &Split) -> Self {
        let mut evaluation = Evaluation::default();
        let scores: Vec<Scores> = outputs.scores(temperature).collect();
        for (scores, &label) in scores.iter().zip(&split.labels) {
            let [confidence, label_probability] =
                [scores.digit, label.into()].map(|class| probability(scores, class));
            let classes = scores.probabilities.len();
            evaluation
                .confusion
                .resize_with(classes, || vec![0; classes]);
            if let Some(row) = evaluation.confusion.get_mut(usize::from(label))
                && let Some(count) = row.get_mut(scores.digit)
            {
                *count += 1;
            }
            // A probability that rounds to 0 has a large loss, not an infinite one.
            evaluation.loss -= f64::from(label_probability.max(f32::MIN_POSITIVE).ln());
            let correct = is_correct(scores, label);
            let bin = ReliabilityBin::index_of(confidence);
            if let Some(bin) = evaluation.reliability.get_mut(bin) {
                bin.add(confidence, correct);
            }
            evaluation.images += 1;
            evaluation.accuracy += f64::from(u8::from(correct));
        }
        let share = |sum: f64| sum / evaluation.images.max(1) as f64;
        evaluation.accuracy = share(evaluation.accuracy);
        evaluation.loss = share(evaluation.loss);
        let rows = scores.iter().map(|scores| &scores.probabilities[..]);
        let suspects = label_suspects(rows.zip(split.labels.iter().copied()));
        evaluation.suspected = suspects.len() as u64;
        evaluation.samples = samples(split, &scores, &suspects);
        Self {
            evaluation,
            answers: scores.iter().map(|scores| scores.digit as u8).collect(),
            outputs,
        }
    }

    /// An error if the network gave invalid probabilities for any image.
    pub fn check_finite(&self) -> Result<(), ComputeError> {
        self.outputs.check_finite()
    }

    /// The logits of each image, `[n, classes]`.
    pub fn logits(&self) -> &[f32] {
        &self.outputs.logits
    }

    /// The digit score of each image, in the order of the split.
    pub fn digit_scores(&self) -> &[f32] {
        &self.outputs.digit_scores
    }

    /// Fits, on these images with these labels, the temperature and the detector of the network
    /// that was measured.
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
/// fraction done after each batch; an error from it cancels.
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

/// The outputs for images, 784 bytes each, which `compute` returns for as many at a time as the
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
