//! The loss: softmax cross-entropy with label smoothing, and the count of correct predictions that
//! the same pass yields.

use candle_core::{Result, Tensor};

use super::{tensor, with_bytes, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::{GradMode, Output};

pub fn cross_entropy(
    logits: &Tensor,
    labels: &Tensor,
    batch: usize,
    smoothing: f32,
    grad: GradMode,
) -> Result<Output> {
    let (_, classes) = logits.dims2()?;
    let labels = with_bytes(labels, <[u8]>::to_vec)?;
    if labels.iter().any(|&label| usize::from(label) >= classes) {
        candle_core::bail!("a label is not among the {classes} classes");
    }
    let op = CrossEntropy {
        labels,
        classes,
        batch: batch as f32,
        smoothing,
    };
    let output = tensor(with_slices([logits], |[logits]| op.forward(logits))?, 2)?;
    let logits = logits.clone();
    Ok(Output::new(output, grad, move |gradient, _| {
        let scale = with_slices([gradient], |[gradient]| {
            gradient.first().copied().unwrap_or_default()
        })?;
        let values = with_slices([&logits], |[logits]| op.backward(logits, scale))?;
        Ok(Gradients::input(Some(tensor(values, logits.shape())?)))
    }))
}

struct CrossEntropy {
    labels: Vec<u8>,
    classes: usize,
    batch: f32,
    smoothing: f32,
}

impl CrossEntropy {
    /// The target probability of every class, and what the label's has on top of it.
    fn target(&self) -> (f32, f32) {
        (self.smoothing / self.classes as f32, 1.0 - self.smoothing)
    }

    /// The loss and the count of correct predictions.
    fn forward(&self, logits: &[f32]) -> Vec<f32> {
        let (everywhere, at_label) = self.target();
        let (mut loss, mut correct) = (0.0_f64, 0.0_f32);
        for (row, &label) in logits.chunks_exact(self.classes).zip(&self.labels) {
            let normalizer = log_sum_exp(row);
            loss += f64::from(at_label * (normalizer - row[usize::from(label)]));
            if everywhere > 0.0 {
                loss +=
                    f64::from(everywhere * row.iter().map(|logit| normalizer - logit).sum::<f32>());
            }
            correct += f32::from(is_correct(row, label));
        }
        vec![loss as f32 / self.batch, correct]
    }

    /// The gradient of the logits from that of the loss.
    fn backward(&self, logits: &[f32], gradient: f32) -> Vec<f32> {
        let (everywhere, at_label) = self.target();
        let scale = gradient / self.batch;
        let mut values = Vec::with_capacity(logits.len());
        for (row, &label) in logits.chunks_exact(self.classes).zip(&self.labels) {
            let normalizer = log_sum_exp(row);
            values.extend((0_u8..).zip(row).map(|(class, &logit)| {
                let target = if class == label {
                    everywhere + at_label
                } else {
                    everywhere
                };
                ((logit - normalizer).exp() - target) * scale
            }));
        }
        values
    }
}

/// The log of the summed exponentials, computed without overflow.
fn log_sum_exp(logits: &[f32]) -> f32 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    largest
        + logits
            .iter()
            .map(|&logit| (logit - largest).exp())
            .sum::<f32>()
            .ln()
}

/// Whether the largest logit is at the label. Of equal logits the first is the prediction, as in
/// `infer`.
fn is_correct(row: &[f32], label: u8) -> bool {
    let (before, from) = row.split_at(usize::from(label));
    from.split_first().is_some_and(|(right, after)| {
        before.iter().all(|logit| logit < right) && after.iter().all(|logit| logit <= right)
    })
}
