//! Scaled dot-product self-attention (Vaswani et al. 2017) of short sequences: a head's queries,
//! keys, values and scores stay in the first cache. They have rows of whole vectors, so that every
//! product is made of dense tiles.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::lanes;
use super::matrix::{Matrix, multiply, round};
use super::microkernels::{self, Scratch};
use super::pointwise::exp;
use super::{Zeros, tensor, vectorized, with_slices};
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
    let mut output = Zeros::new(batch * sequence);
    // The attention weights of each head, after the softmax: `[batch, heads, tokens, scores]`.
    let mut weights = Zeros::new(batch * weights_len);
    with_slices([qkv], |[qkv]| {
        let sequences = qkv
            .par_chunks(3 * sequence)
            .zip(output.par_chunks_mut(sequence));
        sequences
            .zip(weights.par_chunks_mut(weights_len))
            .for_each_recorded(|((qkv, output), weights)| op.forward(qkv, output, weights));
    })?;
    let (qkv, weights) = (qkv.clone(), weights.into_vec());
    let output = tensor(output.into_vec(), (batch, tokens, heads * depth))?;
    Ok(Output::new(output, context.grad, move |gradient, _| {
        let mut values = Zeros::new(qkv.elem_count());
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
        let values = tensor(values.into_vec(), qkv.shape())?;
        Ok(Gradients::input(Some(values)))
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
    /// The precision of the operands of products.
    precision: Precision,
}

/// The part of a sequence that one head computes with.
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

    /// The matrix of a picked head, with the zeros at the end of each row.
    fn padded_head<'a>(&self, head: &'a [f32]) -> Matrix<'a> {
        Matrix::new(head, self.tokens, self.features)
    }

    /// The same without these zeros.
    fn head<'a>(&self, head: &'a [f32]) -> Matrix<'a> {
        self.padded_head(head).columns(0..self.depth)
    }

    fn transposed_head<'a>(&self, head: &'a [f32]) -> Matrix<'a> {
        Matrix::new(head, self.depth, self.scores)
    }

    /// A head's weights or scores, without the zeros at the end of each row.
    fn weights<'a>(&self, weights: &'a [f32]) -> Matrix<'a> {
        Matrix::new(weights, self.tokens, self.scores).columns(0..self.tokens)
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
            multiply(weights, self.head(&query), self.transposed_head(&key));
            softmax(weights, self.tokens, self.scores, self.scale());
            round(weights, self.precision);
            multiply(&mut output, self.weights(weights), self.padded_head(&value));
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
            let of_value = self.weights(weights).transposed();
            multiply(&mut of_part, of_value, self.padded_head(&of_output));
            self.place(&of_part, columns(Part::Value), sequence_gradient);

            let value = self.pick_transposed(sequence, columns(Part::Value));
            let of_output = self.head(&of_output);
            multiply(&mut of_scores, of_output, self.transposed_head(&value));
            softmax_gradient(weights, &mut of_scores, scores, self.scale());
            round(&mut of_scores, self.precision);

            let key = self.pick(sequence, columns(Part::Key));
            multiply(
                &mut of_part,
                self.weights(&of_scores),
                self.padded_head(&key),
            );
            self.place(&of_part, columns(Part::Query), sequence_gradient);

            let query = self.pick(sequence, columns(Part::Query));
            let of_key = self.weights(&of_scores).transposed();
            multiply(&mut of_part, of_key, self.padded_head(&query));
            self.place(&of_part, columns(Part::Key), sequence_gradient);
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

/// Replaces the gradients of weights, in rows of this `width`, by the gradients of the
/// scores they came from.
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
