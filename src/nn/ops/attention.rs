//! Owns multi-head self-attention (Vaswani et al. 2017), `softmax(Q Kᵀ / √d) V` as one op: scores stay in the processor's cache.
//! Must not know where queries, keys and values come from.

use std::sync::{Mutex, PoisonError};

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor};
use rayon::prelude::*;

use super::elementary::exp;
use super::kernels::Scratch;
use super::matrix::{Matrix, Mode, product};
use super::precision::round;
use super::{Context, elsewhere, floats, tape, vectorized, with_floats};
use crate::run_config::Precision;

/// Attention of every sequence to itself, from `[batch, tokens, 3 x features]` (queries, keys, values, each with its heads one
/// after the other) to `[batch, tokens, features]`; `features` is `heads` times `d`.
pub fn attention(qkv: &Tensor, heads: usize, context: Context) -> Result<Tensor> {
    let (_, tokens, width) = qkv.dims3()?;
    if heads == 0 || width == 0 || width % (3 * heads) != 0 {
        candle_core::bail!("attention with {heads} heads does not fit {:?}", qkv.shape());
    }
    if context.is_elsewhere() {
        return elsewhere::attention(qkv, heads, context);
    }
    let op = Attention { tokens, heads, depth: width / (3 * heads), precision: context.precision, shares: Mutex::default() };
    tape::apply1(qkv, op, context.gradient)
}

struct Attention {
    tokens: usize,
    heads: usize,
    /// Features of a head: the `d` above.
    depth: usize,
    /// What the operands of products are rounded to.
    precision: Precision,
    /// How much each token attends to each: the softmax, `[batch, heads, tokens, tokens]`.
    shares: Mutex<Vec<f32>>,
}

/// What one head sees of a sequence.
#[derive(Clone, Copy)]
enum Part {
    Query,
    Key,
    Value,
}

impl Attention {
    const fn features(&self) -> usize {
        self.heads * self.depth
    }

    /// Where a head's numbers start in a token of the input.
    const fn column(&self, part: Part, head: usize) -> usize {
        (part as usize * self.heads + head) * self.depth
    }

    /// Copies the columns from `column` on of `[tokens, width]` to `[tokens, depth]`, as an operand of a product.
    fn pick(&self, sequence: &[f32], width: usize, column: usize, head: &mut [f32]) {
        for (token, head) in sequence.chunks_exact(width).zip(head.chunks_exact_mut(self.depth)) {
            head.copy_from_slice(&token[column..column + self.depth]);
        }
        round(head, self.precision);
    }

    /// The reverse of `pick`.
    fn place(&self, head: &[f32], width: usize, column: usize, sequence: &mut [f32]) {
        for (token, head) in sequence.chunks_exact_mut(width).zip(head.chunks_exact(self.depth)) {
            token[column..column + self.depth].copy_from_slice(head);
        }
    }

    /// One head of a sequence.
    fn matrix<'a>(&self, head: &'a [f32]) -> Matrix<'a> {
        Matrix::new(head, self.tokens, self.depth)
    }

    fn scale(&self) -> f32 {
        1.0 / (self.depth as f32).sqrt()
    }

    fn forward(&self, sequence: &[f32], result: &mut [f32], shares: &mut [f32]) {
        let Self { tokens, depth, .. } = *self;
        let (len, width) = (tokens * depth, 3 * self.features());
        let mut buffer = Scratch::new(4 * len);
        let (query, rest) = buffer.split_at_mut(len);
        let (key, rest) = rest.split_at_mut(len);
        let (value, output) = rest.split_at_mut(len);
        for (head, shares) in shares.chunks_exact_mut(tokens * tokens).enumerate() {
            self.pick(sequence, width, self.column(Part::Query, head), query);
            self.pick(sequence, width, self.column(Part::Key, head), key);
            self.pick(sequence, width, self.column(Part::Value, head), value);
            product(shares, self.matrix(query), self.matrix(key).transposed(), Mode::Overwrite);
            softmax(shares, tokens, self.scale());
            round(shares, self.precision);
            product(output, Matrix::new(shares, tokens, tokens), self.matrix(value), Mode::Overwrite);
            self.place(output, self.features(), head * depth, result);
        }
    }

    /// Writes a sequence's whole gradient.
    fn backward(&self, sequence: &[f32], shares: &[f32], gradient: &[f32], sequence_gradient: &mut [f32]) {
        let Self { tokens, depth, .. } = *self;
        let (len, width) = (tokens * depth, 3 * self.features());
        let mut buffer = Scratch::new(3 * len + tokens * tokens);
        let (part, rest) = buffer.split_at_mut(len);
        let (of_output, rest) = rest.split_at_mut(len);
        let (of_part, of_scores) = rest.split_at_mut(len);
        for (head, shares) in shares.chunks_exact(tokens * tokens).enumerate() {
            let column = |part| self.column(part, head);
            let weights = Matrix::new(shares, tokens, tokens);
            self.pick(gradient, self.features(), head * depth, of_output);
            product(of_part, weights.transposed(), self.matrix(of_output), Mode::Overwrite);
            self.place(of_part, width, column(Part::Value), sequence_gradient);

            self.pick(sequence, width, column(Part::Value), part);
            product(of_scores, self.matrix(of_output), self.matrix(part).transposed(), Mode::Overwrite);
            softmax_gradient(shares, of_scores, tokens, self.scale());
            round(of_scores, self.precision);
            let of_scores = Matrix::new(of_scores, tokens, tokens);

            self.pick(sequence, width, column(Part::Key), part);
            product(of_part, of_scores, self.matrix(part), Mode::Overwrite);
            self.place(of_part, width, column(Part::Query), sequence_gradient);

            self.pick(sequence, width, column(Part::Query), part);
            product(of_part, of_scores.transposed(), self.matrix(part), Mode::Overwrite);
            self.place(of_part, width, column(Part::Key), sequence_gradient);
        }
    }
}

/// Replaces each row of scores by the softmax of `scale` times it.
fn softmax(scores: &mut [f32], tokens: usize, scale: f32) {
    vectorized!({
        for row in scores.chunks_exact_mut(tokens) {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            for score in &mut *row {
                *score = exp(scale * (*score - largest));
            }
            let share = 1.0 / row.iter().sum::<f32>();
            for score in row {
                *score *= share;
            }
        }
    });
}

/// Replaces the gradients of shares by those of the scores they came from.
fn softmax_gradient(shares: &[f32], gradient: &mut [f32], tokens: usize, scale: f32) {
    vectorized!({
        for (shares, gradient) in shares.chunks_exact(tokens).zip(gradient.chunks_exact_mut(tokens)) {
            let mean: f32 = shares.iter().zip(&*gradient).map(|(share, g)| share * g).sum();
            gradient.iter_mut().zip(shares).for_each(|(g, share)| *g = scale * share * (*g - mean));
        }
    });
}

impl CustomOp1 for Attention {
    fn name(&self) -> &'static str {
        "attention"
    }

    fn cpu_fwd(&self, qkv: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let qkv = floats(qkv, layout)?;
        let sequence = self.tokens * self.features();
        let batch = qkv.len() / (3 * sequence).max(1);
        let mut result = vec![0.0; batch * sequence];
        let mut shares = vec![0.0; batch * self.heads * self.tokens * self.tokens];
        let sequences = qkv.par_chunks(3 * sequence).zip(result.par_chunks_mut(sequence));
        sequences
            .zip(shares.par_chunks_mut(self.heads * self.tokens * self.tokens))
            .for_each(|((sequence, result), shares)| self.forward(sequence, result, shares));
        *self.shares.lock().unwrap_or_else(PoisonError::into_inner) = shares;
        Ok((CpuStorage::F32(result), (batch, self.tokens, self.features()).into()))
    }

    fn bwd(&self, qkv: &Tensor, _result: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        let sequence = self.tokens * self.features();
        let mut values = vec![0.0; qkv.elem_count()];
        with_floats(qkv, |qkv| {
            with_floats(gradient, |gradient| {
                let sequences = qkv.par_chunks(3 * sequence).zip(gradient.par_chunks(sequence)).zip(values.par_chunks_mut(3 * sequence));
                sequences
                    .zip(shares.par_chunks(self.heads * self.tokens * self.tokens))
                    .for_each(|(((qkv, gradient), values), shares)| self.backward(qkv, shares, gradient, values));
                Ok(())
            })
        })?;
        Tensor::from_vec(values, qkv.shape(), &Device::Cpu).map(Some)
    }
}
