//! Scaled dot-product self-attention (Vaswani et al. 2017) of short sequences: a head's queries,
//! keys, values and scores stay in the first cache. They have rows of whole vectors, so that every
//! product is made of the same dense tiles.

use candle_core::{Result, Tensor};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::lanes;
use super::matrix::round;
use super::microkernels::tiles::{PIXELS, Start, Tile};
use super::microkernels::{self, Scratch};
use super::pointwise::exp;
use super::{tensor, vectorized, with_slices};
use crate::nn::Output;
use crate::nn::autograd::Gradients;
use crate::nn::ops::Context;
use crate::profiler::RecordedIterator;
use crate::run_config::Precision;

pub fn attention(qkv: &Tensor, heads: usize, context: Context) -> Result<Output> {
    let (batch, tokens, width) = qkv.dims3()?;
    let depth = width / (3 * heads);
    let op = Attention {
        tokens,
        heads,
        depth,
        scores: tokens.next_multiple_of(microkernels::lanes()),
        features: depth.next_multiple_of(microkernels::lanes()),
        precision: context.precision,
    };
    let (sequence, weights_len) = (tokens * heads * depth, heads * tokens * op.scores);
    let mut output = vec![0.0; batch * sequence];
    // The attention weights of each head, after the softmax: `[batch, heads, tokens, scores]`.
    let mut weights = vec![0.0; batch * weights_len];
    with_slices([qkv], |[qkv]| {
        let sequences = qkv
            .par_chunks(3 * sequence)
            .zip(output.par_chunks_mut(sequence));
        sequences
            .zip(weights.par_chunks_mut(weights_len))
            .for_each_recorded(|((qkv, output), weights)| op.forward(qkv, output, weights));
    })?;
    let qkv = qkv.clone();
    let output = tensor(output, (batch, tokens, heads * depth))?;
    Ok(Output::new(output, context.grad, move |gradient, _| {
        let mut values = vec![0.0; qkv.elem_count()];
        with_slices([&qkv, gradient], |[qkv, gradient]| {
            let inputs = qkv
                .par_chunks(3 * sequence)
                .zip(weights.par_chunks(weights_len));
            let gradients = gradient
                .par_chunks(sequence)
                .zip(values.par_chunks_mut(3 * sequence));
            inputs
                .zip(gradients)
                .for_each_recorded(|((qkv, weights), (gradient, values))| {
                    op.backward(qkv, weights, gradient, values);
                });
        })?;
        Ok(Gradients::input(Some(tensor(values, qkv.shape())?)))
    }))
}

struct Attention {
    tokens: usize,
    heads: usize,
    /// Features of a head.
    depth: usize,
    /// `tokens` and `depth` with zeros up to whole vectors.
    scores: usize,
    features: usize,
    /// What the operands of products are rounded to.
    precision: Precision,
}

/// What one head sees of a sequence.
#[derive(Clone, Copy)]
enum Part {
    Query,
    Key,
    Value,
}

impl Attention {
    /// Where a head's numbers start in a token of the input, and the numbers of a token.
    const fn columns(&self, part: Part, head: usize) -> (usize, usize) {
        let start = (part as usize * self.heads + head) * self.depth;
        (start, 3 * self.heads * self.depth)
    }

    /// The same for a token of the output.
    const fn output_columns(&self, head: usize) -> (usize, usize) {
        (head * self.depth, self.heads * self.depth)
    }

    /// A head's `[tokens, features]`, as an operand of a product.
    fn pick(&self, sequence: &[f32], (start, width): (usize, usize)) -> Scratch {
        let mut head = Scratch::zeros(self.tokens * self.features);
        for (token, head) in sequence
            .chunks_exact(width)
            .zip(head.chunks_exact_mut(self.features))
        {
            head[..self.depth].copy_from_slice(&token[start..start + self.depth]);
        }
        round(&mut head, self.precision);
        head
    }

    /// The same, transposed: `[depth, scores]`.
    fn pick_transposed(&self, sequence: &[f32], (start, width): (usize, usize)) -> Scratch {
        let mut head = Scratch::zeros(self.depth * self.scores);
        for (feature, head) in head.chunks_exact_mut(self.scores).enumerate() {
            let values = sequence[start + feature..].iter().step_by(width);
            head.iter_mut()
                .zip(values)
                .for_each(|(to, from)| *to = *from);
        }
        round(&mut head, self.precision);
        head
    }

    /// The reverse of `pick`.
    fn place(&self, head: &[f32], (start, width): (usize, usize), sequence: &mut [f32]) {
        for (token, head) in sequence
            .chunks_exact_mut(width)
            .zip(head.chunks_exact(self.features))
        {
            token[start..start + self.depth].copy_from_slice(&head[..self.depth]);
        }
    }

    fn scale(&self) -> f32 {
        1.0 / (self.depth as f32).sqrt()
    }

    fn forward(&self, sequence: &[f32], result: &mut [f32], weights: &mut [f32]) {
        let mut output = Scratch::new(self.tokens * self.features);
        for (head, weights) in weights
            .chunks_exact_mut(self.tokens * self.scores)
            .enumerate()
        {
            let query = self.pick(sequence, self.columns(Part::Query, head));
            let key = self.pick_transposed(sequence, self.columns(Part::Key, head));
            let value = self.pick(sequence, self.columns(Part::Value, head));
            product(weights, (&query, self.features, 1), &key, self.depth);
            softmax(weights, self.tokens, self.scores, self.scale());
            round(weights, self.precision);
            product(&mut output, (weights, self.scores, 1), &value, self.tokens);
            self.place(&output, self.output_columns(head), result);
        }
    }

    /// Writes a sequence's whole gradient.
    fn backward(
        &self,
        sequence: &[f32],
        weights: &[f32],
        gradient: &[f32],
        sequence_gradient: &mut [f32],
    ) {
        let Self { tokens, scores, .. } = *self;
        let mut of_part = Scratch::new(tokens * self.features);
        let mut of_scores = Scratch::new(tokens * scores);
        for (head, weights) in weights.chunks_exact(tokens * scores).enumerate() {
            let columns = |part| self.columns(part, head);
            let of_output = self.pick(gradient, self.output_columns(head));
            product(&mut of_part, (weights, 1, scores), &of_output, tokens);
            self.place(&of_part, columns(Part::Value), sequence_gradient);

            let value = self.pick_transposed(sequence, columns(Part::Value));
            let of_output = (&*of_output, self.features, 1);
            product(&mut of_scores, of_output, &value, self.depth);
            softmax_gradient(weights, &mut of_scores, scores, self.scale());
            round(&mut of_scores, self.precision);

            let key = self.pick(sequence, columns(Part::Key));
            product(&mut of_part, (&of_scores, scores, 1), &key, tokens);
            self.place(&of_part, columns(Part::Query), sequence_gradient);

            let query = self.pick(sequence, columns(Part::Query));
            product(&mut of_part, (&of_scores, 1, scores), &query, tokens);
            self.place(&of_part, columns(Part::Key), sequence_gradient);
        }
    }
}

/// `out = left right` on this thread. `left` has `inner` columns; with it come the distances from
/// one row to the next and from one column to the next. `right` and `out` have rows of whole vectors.
fn product(out: &mut [f32], left: (&[f32], usize, usize), right: &[f32], inner: usize) {
    Arch::new().dispatch(Product {
        out,
        left,
        right,
        inner,
    });
}

struct Product<'a> {
    out: &'a mut [f32],
    left: (&'a [f32], usize, usize),
    right: &'a [f32],
    inner: usize,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        /// Vectors of a tile.
        const WIDE: usize = 2;
        static ZEROS: [f32; 64] = [0.0; 64];
        let Self {
            out,
            left: (left, row_stride, step),
            right,
            inner,
        } = self;
        let lanes = S::F32_LANES;
        let width = right.len() / inner;
        let rows = out.len() / width;
        assert!(
            right.len() == inner * width
                && out.len() == rows * width
                && width.is_multiple_of(lanes)
                && WIDE * lanes <= ZEROS.len()
                && left.len() > (rows - 1) * row_stride + (inner - 1) * step,
            "the sizes of a product must agree"
        );
        for row in (0..rows).step_by(PIXELS) {
            let count = PIXELS.min(rows - row);
            let pixels = std::array::from_fn(|index| {
                let index = row + index.min(count - 1);
                left[index * row_stride..].as_ptr()
            });
            for column in (0..width).step_by(WIDE * lanes) {
                let tile = Tile {
                    rows: 1,
                    stride: 0,
                    run: inner,
                    step,
                    panel: right[column..].as_ptr(),
                    panel_stride: width,
                    out: out[row * width + column..].as_mut_ptr(),
                    out_stride: width,
                    start: Start::Bias(ZEROS.as_ptr()),
                };
                let vectors = WIDE.min((width - column) / lanes);
                // SAFETY: the sizes were checked above: each row of `left` has `inner` numbers,
                // and the panels of `right` and of the result lie within their rows.
                unsafe { tile.compute(simd, &pixels, count, vectors) };
            }
        }
    }
}

/// Replaces the first `tokens` numbers of each row of `width` scores by the softmax of `scale` times
/// them, and the others by zeros.
fn softmax(scores: &mut [f32], tokens: usize, width: usize, scale: f32) {
    for row in scores.chunks_exact_mut(width) {
        row[tokens..].fill(f32::NEG_INFINITY);
    }
    vectorized!({
        for row in scores.chunks_exact_mut(width) {
            let largest = lanes::largest(row);
            for score in &mut *row {
                *score = exp(scale * (*score - largest));
            }
            let weight = 1.0 / lanes::sum(row, |score| score);
            for score in row {
                *score *= weight;
            }
        }
    });
}

/// Replaces the gradients of weights, in rows of this `width`, by those of the scores they came
/// from.
fn softmax_gradient(weights: &[f32], gradient: &mut [f32], width: usize, scale: f32) {
    vectorized!({
        for (weights, gradient) in weights
            .chunks_exact(width)
            .zip(gradient.chunks_exact_mut(width))
        {
            let mean = lanes::sum_of_pairs(weights, gradient, |weight, g| weight * g);
            gradient
                .iter_mut()
                .zip(weights)
                .for_each(|(g, weight)| *g = scale * weight * (*g - mean));
        }
    });
}
