//! Ops that go over numbers one by one: activations, the sum of two branches, dropout, flattening.
//! Their elementary functions have no branches or calls, so that loops over them are vectorized.
//! And the loss, with the count of correct predictions that the same pass yields.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::{CHUNK, Zeros, by_chunks, tensor, vectorized, with_bytes, with_slices};
use crate::math::random::Random;
use crate::nn::autograd::Gradients;
use crate::nn::ops::DropoutMask;
use crate::nn::{GradMode, Output};
use crate::profiler::RecordedIterator;
use crate::run_config::Activation;

/// `eˣ` within 2 units in the last place; 0 below -87.3 and infinite above 88.3.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    // x = n ln 2 + r with |r| ≤ ln 2 / 2; adding and taking away 1.5 x 2^23 rounds to the nearest
    // integer.
    const ROUND: f32 = 12_582_912.0;
    let clamped = x.clamp(-87.336, 88.376);
    let shifted = clamped * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, the first with trailing zeros, so that n ln 2 is exact enough.
    let r = clamped - n * 0.693_359_4 + n * 2.121_944_4e-4;
    // Minimax polynomial of the Cephes library (Moshier), expf.
    let p = 1.987_569_1e-4_f32;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let p = p * r * r + r + 1.0;
    // The rounded integer lies in the low bits of the shifted sum, and 2^n in the exponent's.
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0_f32.to_bits()));
    // Comparisons that NaN fails, so that NaN stays NaN.
    let value = if x > 88.376 { f32::INFINITY } else { p * scale };
    if x < -87.336 { 0.0 } else { value }
}

/// `1 / (1 + e⁻ˣ)`.
#[inline(always)]
pub fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Hyperbolic tangent, with an absolute error of at most 2e-7.
#[inline(always)]
pub fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

/// The normal distribution `Φ(x)` and its density `φ(x)`, with an absolute error of at most 2e-7
/// (Abramowitz & Stegun 1964, 7.1.26).
#[inline(always)]
pub fn normal(x: f32) -> (f32, f32) {
    let bell = exp(-0.5 * x * x);
    let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
    let series = ((((1.061_405_4 * t - 1.453_152) * t + 1.421_413_7) * t - 0.284_496_74) * t
        + 0.254_829_6)
        * t;
    let tail = 0.5 * series * bell;
    (if x < 0.0 { tail } else { 1.0 - tail }, bell * 0.398_942_3)
}

/// The slope of leaky `ReLU` below zero: `torch.nn.LeakyReLU`'s.
const LEAK: f32 = 0.01;

pub fn activate(x: &Tensor, activation: Activation, grad: GradMode) -> Result<Output> {
    let output = activated(x, activation)?;
    let x = x.clone();
    Ok(Output::new(output, grad, move |gradient, _| {
        let gradient = activation_backward(activation, &x, gradient)?;
        Ok(Gradients::input(Some(gradient)))
    }))
}

fn activated(x: &Tensor, activation: Activation) -> Result<Tensor> {
    by_chunks([x], |values, [x]| {
        values.copy_from_slice(x);
        vectorized!(apply(activation, values));
    })
}

/// The gradient of an activation's input `x`, from the gradient of its output.
fn activation_backward(activation: Activation, x: &Tensor, gradient: &Tensor) -> Result<Tensor> {
    by_chunks([x, gradient], |result, [x, gradient]| {
        vectorized!(times_derivative(activation, x, gradient, result));
    })
}

/// Replaces every element by its activation. Must be called in `vectorized!`.
#[inline(always)]
pub fn apply(activation: Activation, values: &mut [f32]) {
    let values = values.iter_mut();
    match activation {
        Activation::Relu => values.for_each(|x| *x = if *x <= 0.0 { 0.0 } else { *x }),
        Activation::LeakyRelu => values.for_each(|x| *x = if *x <= 0.0 { LEAK * *x } else { *x }),
        Activation::Gelu => values.for_each(|x| *x *= normal(*x).0),
        Activation::Silu => values.for_each(|x| *x *= logistic(*x)),
        Activation::Tanh => values.for_each(|x| *x = tanh(*x)),
    }
}

/// `result = gradient · activation'(x)`. At 0, `ReLU` and its leaky form have the derivative from
/// below. Must be called in `vectorized!`.
#[inline(always)]
pub fn times_derivative(activation: Activation, x: &[f32], gradient: &[f32], result: &mut [f32]) {
    let pairs = result.iter_mut().zip(x.iter().zip(gradient));
    match activation {
        Activation::Relu => pairs.for_each(|(to, (&x, &g))| *to = if x <= 0.0 { 0.0 } else { g }),
        Activation::LeakyRelu => {
            pairs.for_each(|(to, (&x, &g))| *to = if x <= 0.0 { LEAK * g } else { g });
        }
        Activation::Gelu => pairs.for_each(|(to, (&x, &g))| {
            let (share, density) = normal(x);
            *to = g * (share + x * density);
        }),
        Activation::Silu => pairs.for_each(|(to, (&x, &g))| {
            let share = logistic(x);
            *to = g * (share * (1.0 + x * (1.0 - share)));
        }),
        Activation::Tanh => pairs.for_each(|(to, (&x, &g))| {
            let y = tanh(x);
            *to = g * (1.0 - y * y);
        }),
    }
}

pub fn add(
    a: &Tensor,
    b: &Tensor,
    activation: Option<Activation>,
    grad: GradMode,
) -> Result<Output> {
    // Their derivatives can be taken at the output, so the sum before them need not be kept.
    let in_place = activation
        .filter(|activation| matches!(activation, Activation::Relu | Activation::LeakyRelu));
    let sum = by_chunks([a, b], |sums, [a, b]| {
        vectorized!({
            sums.iter_mut()
                .zip(a)
                .zip(b)
                .for_each(|((sum, a), b)| *sum = a + b);
            if let Some(activation) = in_place {
                apply(activation, sums);
            }
        });
    })?;
    let output = match activation {
        Some(activation) if in_place.is_none() => activated(&sum, activation)?,
        _ => sum.clone(),
    };
    let saved = activation.map(|activation| (activation, sum));
    Ok(Output::new(output, grad, move |gradient, needed| {
        let of_sum = match &saved {
            Some((activation, x)) => &activation_backward(*activation, x, gradient)?,
            None => gradient,
        };
        Ok(Gradients::to_each(needed, of_sum))
    }))
}

pub fn dropout(x: &Tensor, mask: DropoutMask, grad: GradMode) -> Result<Output> {
    let factors = tensor(dropout_factors(mask, x.elem_count()), x.shape())?;
    let output = multiply(x, &factors)?;
    Ok(Output::new(output, grad, move |gradient, _| {
        Ok(Gradients::input(Some(multiply(gradient, &factors)?)))
    }))
}

/// The factor of each of this many elements.
pub fn dropout_factors(mask: DropoutMask, count: usize) -> Vec<f32> {
    let mut factors = vec![mask.scale; count];
    let chunks = factors.par_chunks_mut(CHUNK).enumerate();
    chunks.for_each_recorded(|(chunk, factors)| {
        for (index, four) in (chunk * CHUNK / 4..).zip(factors.chunks_mut(4)) {
            let bits = Random::at(mask.seed, index as u64);
            for (factor, shift) in four.iter_mut().zip([0, 16, 32, 48]) {
                if (bits >> shift & 0xffff) < u64::from(mask.threshold) {
                    *factor = 0.0;
                }
            }
        }
    });
    factors
}

fn multiply(x: &Tensor, factors: &Tensor) -> Result<Tensor> {
    by_chunks([x, factors], |result, [x, factors]| {
        let terms = x.iter().zip(factors);
        result
            .iter_mut()
            .zip(terms)
            .for_each(|(result, (x, factor))| *result = x * factor);
    })
}

pub fn flatten(x: &Tensor, grad: GradMode) -> Result<Output> {
    let (batch, height, width, channels) = x.dims4()?;
    let (pixels, shape) = (height * width, x.shape().clone());
    let features = with_slices([x], |[x]| transpose_each(x, pixels, channels))?;
    let output = tensor(features, (batch, pixels * channels))?;
    Ok(Output::new(output, grad, move |gradient, _| {
        let values = with_slices([gradient], |[x]| transpose_each(x, channels, pixels))?;
        Ok(Gradients::input(Some(tensor(values, shape)?)))
    }))
}

/// Each of the matrices `[rows, cols]` in `values`, one after the other, transposed.
pub fn transpose_each(values: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    let mut out = Zeros::new(values.len());
    let len = (rows * cols).max(1);
    out.par_chunks_mut(len)
        .zip(values.par_chunks(len).with_min_len(8))
        .for_each_recorded(|(out, matrix)| {
            for (col, out) in out.chunks_exact_mut(rows).enumerate() {
                out.iter_mut()
                    .zip(matrix[col..].iter().step_by(cols))
                    .for_each(|(out, &value)| *out = value);
            }
        });
    out.into_vec()
}

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
