//! Adafactor (Shazeer & Stern 2018; `torch.optim.Adafactor`): of the squares that Adam keeps for
//! each weight, only the means of each row and of each column of a matrix, so that its state is
//! next to nothing.
//!
//! Unlike the other rules it cannot be written for one weight: each step is scaled by the root mean
//! square of its parameter's weights and of the update.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::cpu::{CHUNK, squares, sum_of_squares};
use super::rule::Step;
use crate::profiler::RecordedIterator;

/// PyTorch's constants: `ε₁` keeps quotients finite, `ε₂` is the least root mean square of weights,
/// `d` that from which an update is scaled down, and the means forget as `1 - t^τ`.
const EPSILON1: f32 = f32::EPSILON;
const EPSILON2: f64 = 1e-3;
const CLIP: f64 = 1.0;
const DECAY_EXPONENT: f64 = -0.8;

/// With `β = 1 - t^-0.8` and `G² = g ∘ g`: `R ← βR + (1-β)·mean of G² over columns`,
/// `C ← βC + (1-β)·mean of G² over rows`, `V = R·C / mean(R)`; for vectors `V ← βV + (1-β)G²`. Then
/// `u = g / √V`, `w ← w - lr·λw - α·u / max(1, RMS(u))` with
/// `α = max(1e-3, RMS(w)) · min(lr, 1/√t)`.
///
/// `PyTorch` takes the last two dimensions for rows and columns. Here columns are all but the
/// first, as those of convolutions' kernels are too short for it to save anything.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adafactor {
    lr: f32,
    /// `1 - β`.
    weight: f32,
    relative_rate: f64,
}

/// Rows and columns of a parameter with these dimensions; `None` if it is a vector.
fn matrix(dims: &[usize]) -> Option<[usize; 2]> {
    match dims {
        [] | [_] => None,
        [rows, columns @ ..] => Some([*rows, columns.iter().product()]),
    }
}

/// How many numbers each of the two slots has for a parameter of these dimensions: one for each row
/// and one for each column of a matrix, one for each element of a vector.
pub(super) fn slot_lens(dims: &[usize]) -> [usize; 2] {
    matrix(dims).unwrap_or([dims.iter().product(), 0])
}

/// A parameter on the CPU, and what is updated with it.
pub(super) struct OnCpu<'a> {
    pub dims: &'a [usize],
    pub weights: &'a mut [f32],
    /// The gradient, which is left at zero.
    pub grad: &'a mut [f32],
    pub grad_scale: f32,
    pub slots: [&'a mut [f32]; 2],
    pub decay: f32,
}

impl Adafactor {
    pub fn new(Step { number, lr }: Step) -> Self {
        let number = number as f64;
        Self {
            lr,
            weight: number.powf(DECAY_EXPONENT) as f32,
            relative_rate: f64::from(lr).min(number.sqrt().recip()),
        }
    }

    /// Updates it. What is computed does not depend on the number of threads.
    pub fn update(&self, parameter: OnCpu<'_>) {
        let OnCpu {
            dims,
            weights,
            grad,
            grad_scale,
            slots: [rows, columns],
            decay,
        } = parameter;
        let count = weights.len().max(1) as f64;
        let root_mean_square = (squares(weights) / count).sqrt();
        grad.par_chunks_mut(CHUNK)
            .for_each_recorded(|chunk| chunk.iter_mut().for_each(|g| *g *= grad_scale));
        let update_squares = if let Some([_, width]) = matrix(dims) {
            let width = width.max(1);
            let at_a_time = CHUNK.div_ceil(width);
            grad.par_chunks(width)
                .with_min_len(at_a_time)
                .zip(rows.par_iter_mut())
                .for_each_recorded(|(grad, row)| {
                    *row += self.weight * ((sum_of_squares(grad) / width as f64) as f32 - *row);
                });
            self.update_columns(grad, columns);
            let mean =
                rows.iter().map(|&row| f64::from(row)).sum::<f64>() / rows.len().max(1) as f64;
            let scale = (mean as f32).max(EPSILON1).recip();
            let columns = &*columns;
            let by_row = grad
                .par_chunks_mut(width)
                .with_min_len(at_a_time)
                .zip(&*rows);
            sum(by_row.map_recorded(|(grad, row)| {
                normalize(grad, columns.iter().map(|column| row * column * scale))
            }))
        } else {
            let by_chunk = grad.par_chunks_mut(CHUNK).zip(rows.par_chunks_mut(CHUNK));
            sum(by_chunk.map_recorded(|(grad, means)| {
                for (mean, g) in means.iter_mut().zip(&*grad) {
                    *mean += self.weight * (g * g - *mean);
                }
                normalize(grad, means.iter().copied())
            }))
        };
        let rate = (root_mean_square.max(EPSILON2) * self.relative_rate
            / ((update_squares / count).sqrt() / CLIP).max(1.0)) as f32;
        let kept = 1.0 - self.lr * decay;
        weights
            .par_chunks_mut(CHUNK)
            .zip(grad.par_chunks_mut(CHUNK))
            .for_each_recorded(|(weights, updates)| {
                for (w, update) in weights.iter_mut().zip(updates) {
                    *w = *w * kept - rate * *update;
                    *update = 0.0;
                }
            });
    }

    /// Moves the columns' means; a thread has whole columns.
    fn update_columns(&self, grad: &[f32], columns: &mut [f32]) {
        /// Columns that are summed at a time.
        const BLOCK: usize = 64;
        let width = columns.len().max(1);
        let height = (grad.len() / width) as f32;
        let add = |(block, columns): (usize, &mut [f32])| {
            let mut sums = [0.0_f32; BLOCK];
            for row in grad.chunks_exact(width) {
                for (sum, g) in sums.iter_mut().zip(&row[block * BLOCK..]) {
                    *sum += g * g;
                }
            }
            for (column, sum) in columns.iter_mut().zip(sums) {
                *column += self.weight * (sum / height - *column);
            }
        };
        columns
            .par_chunks_mut(BLOCK)
            .enumerate()
            .for_each_recorded(add);
    }

    /// The new values of a parameter on a device and its new slots, from its values, its gradient
    /// and its slots as vectors.
    pub fn update_tensors(
        &self,
        weights: &Tensor,
        grad: &Tensor,
        slots: [&Tensor; 2],
        decay: f32,
    ) -> Result<(Tensor, [Tensor; 2])> {
        let moved = |mean: &Tensor, new: Tensor| mean + ((new - mean)? * f64::from(self.weight))?;
        let squares = grad.sqr()?;
        let (variance, slots) = if let Some(shape) = matrix(grad.dims()) {
            let squares = squares.reshape(&shape[..])?;
            let slots = [
                moved(slots[0], squares.mean(1)?)?,
                moved(slots[1], squares.mean(0)?)?,
            ];
            let scale = slots[0].mean_all()?.maximum(f64::from(EPSILON1))?.recip()?;
            let variance = slots[0]
                .unsqueeze(1)?
                .broadcast_mul(&slots[1].unsqueeze(0)?)?
                .broadcast_mul(&scale)?;
            (variance.reshape(grad.shape())?, slots)
        } else {
            let variance = moved(slots[0], squares)?;
            (variance.clone(), [variance, slots[1].clone()])
        };
        let update = (grad / variance.maximum(f64::from(EPSILON1 * EPSILON1))?.sqrt()?)?;
        let root_mean_square = |tensor: &Tensor| tensor.sqr()?.mean_all()?.sqrt();
        let rate = (root_mean_square(weights)?.maximum(EPSILON2)? * self.relative_rate)?;
        let rate = (rate / (root_mean_square(&update)? / CLIP)?.maximum(1.0)?)?;
        let kept = (weights * f64::from(1.0 - self.lr * decay))?;
        Ok(((kept - update.broadcast_mul(&rate)?)?, slots))
    }
}

/// Divides the gradients by the roots of these variances. Returns the sum of the squares of what
/// comes out.
fn normalize(grad: &mut [f32], variances: impl Iterator<Item = f32>) -> f64 {
    for (g, variance) in grad.iter_mut().zip(variances) {
        *g /= variance.max(EPSILON1 * EPSILON1).sqrt();
    }
    sum_of_squares(grad)
}

fn sum(parts: impl IndexedParallelIterator<Item = f64>) -> f64 {
    parts.collect::<Vec<_>>().iter().sum()
}
