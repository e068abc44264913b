//! Owns the loss: softmax cross-entropy with label smoothing, and the count of right answers that the same pass yields.
//! Must not know batches beyond their size.

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};

use super::{Gradient, Kernels, elsewhere, floats, tape, with_floats};

/// Two numbers: the cross-entropy (nats) of `logits` `[n, classes]` against `labels`, summed and divided by `batch`, and the
/// count of rows whose largest logit is at the label. `batch` is `n` for a whole batch and the batch's size for a part of
/// it, so that the parts' losses and gradients add up to the batch's mean.
///
/// With `smoothing` above 0 the target of a row is `1 - smoothing` at its label plus `smoothing / classes` everywhere (Szegedy et al.
/// 2016; `torch.nn.CrossEntropyLoss(label_smoothing=…)`).
///
/// `backward` may be called on the result as it is: the count is a constant.
pub fn cross_entropy<'a>(logits: &Tensor, labels: impl Into<Labels<'a>>, batch: usize, smoothing: f32, kernels: Kernels) -> Result<Tensor> {
    let (rows, classes) = logits.dims2()?;
    let labels = match (labels.into(), kernels) {
        (Labels::Digits(labels), _) => labels,
        (Labels::OneHot(_), Kernels::Ours) => candle_core::bail!("our cross-entropy takes digits as labels"),
        (Labels::OneHot(target), _) => return elsewhere::cross_entropy(logits, target, batch, smoothing, kernels),
    };
    if rows != labels.len() || labels.iter().any(|&label| usize::from(label) >= classes) {
        candle_core::bail!("{} labels do not fit logits {:?}", labels.len(), logits.shape());
    }
    if kernels != Kernels::Ours {
        return elsewhere::cross_entropy(logits, &one_hot(labels, classes, logits.device())?, batch, smoothing, kernels);
    }
    tape::apply1(logits, CrossEntropy { labels: labels.to_vec(), classes, batch: batch as f32, smoothing }, Gradient::Kept)
}

/// The right answers of a batch.
#[derive(Clone, Copy, Debug)]
pub enum Labels<'a> {
    /// A class for each row.
    Digits(&'a [u8]),
    /// `[n, classes]`: for each row a 1 at its class, on the device of the logits.
    OneHot(&'a Tensor),
}

impl<'a> From<&'a [u8]> for Labels<'a> {
    fn from(digits: &'a [u8]) -> Self {
        Self::Digits(digits)
    }
}

impl<'a> From<&'a Vec<u8>> for Labels<'a> {
    fn from(digits: &'a Vec<u8>) -> Self {
        Self::Digits(digits)
    }
}

/// `[n, classes]` on this device: for each label a 1 at its class.
pub fn one_hot(labels: &[u8], classes: usize, device: &Device) -> Result<Tensor> {
    let mut ones = vec![0.0_f32; labels.len() * classes];
    for (row, &label) in ones.chunks_exact_mut(classes).zip(labels) {
        row[usize::from(label)] = 1.0;
    }
    Tensor::from_vec(ones, (labels.len(), classes), device)
}

struct CrossEntropy {
    labels: Vec<u8>,
    classes: usize,
    batch: f32,
    smoothing: f32,
}

/// The log of the summed exponentials, computed without overflow.
fn log_sum_exp(logits: &[f32]) -> f32 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    largest + logits.iter().map(|&logit| (logit - largest).exp()).sum::<f32>().ln()
}

/// Whether the largest logit is at the label. Of equal logits the first is the answer, here as in `infer`.
pub fn is_hit(row: &[f32], label: u8) -> bool {
    let (before, from) = row.split_at(usize::from(label));
    from.split_first().is_some_and(|(right, after)| before.iter().all(|logit| logit < right) && after.iter().all(|logit| logit <= right))
}

impl CrossEntropy {
    /// What every class and what the label counts for in a row's target.
    fn target(&self) -> (f32, f32) {
        (self.smoothing / self.classes as f32, 1.0 - self.smoothing)
    }
}

impl CustomOp1 for CrossEntropy {
    fn name(&self) -> &'static str {
        "cross-entropy"
    }

    fn cpu_fwd(&self, logits: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (everywhere, at_label) = self.target();
        let (mut loss, mut hits) = (0.0_f64, 0.0_f32);
        for (row, &label) in floats(logits, layout)?.chunks_exact(self.classes).zip(&self.labels) {
            let right = row[usize::from(label)];
            let normalizer = log_sum_exp(row);
            loss += f64::from(at_label * (normalizer - right));
            if everywhere > 0.0 {
                loss += f64::from(everywhere * row.iter().map(|logit| normalizer - logit).sum::<f32>());
            }
            hits += f32::from(is_hit(row, label));
        }
        Ok((CpuStorage::F32(vec![loss as f32 / self.batch, hits]), 2.into()))
    }

    fn bwd(&self, logits: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let (everywhere, at_label) = self.target();
        let scale = with_floats(gradient, |gradient| Ok(gradient.first().copied().unwrap_or_default()))? / self.batch;
        let values = with_floats(logits, |logits| {
            let mut values = Vec::with_capacity(logits.len());
            for (row, &label) in logits.chunks_exact(self.classes).zip(&self.labels) {
                let normalizer = log_sum_exp(row);
                values.extend((0_u8..).zip(row).map(|(class, &logit)| {
                    let target = if class == label { everywhere + at_label } else { everywhere };
                    ((logit - normalizer).exp() - target) * scale
                }));
            }
            Ok(values)
        })?;
        Tensor::from_vec(values, logits.shape(), &Device::Cpu).map(Some)
    }
}
