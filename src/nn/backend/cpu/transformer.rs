//! The ops of transformers: self-attention, layer normalization and positional embeddings.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::matrix::{Matrix, multiply, round};
use super::microkernels::Scratch;
use super::pointwise::exp;
use super::{CHUNK, add_to, tensor, to_vec, vectorized, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::ops::{Context, LAYER_NORM_EPSILON};
use crate::nn::{GradMode, Output, Parameter};
use crate::profiler::RecordedIterator;
use crate::run_config::Precision;

pub fn attention(qkv: &Tensor, heads: usize, context: Context) -> Result<Output> {
    let (batch, tokens, width) = qkv.dims3()?;
    let op = Attention {
        tokens,
        heads,
        depth: width / (3 * heads),
        precision: context.precision,
    };
    let (sequence, weights_len) = (tokens * op.features(), heads * tokens * tokens);
    let mut output = vec![0.0; batch * sequence];
    // The attention weights of each head, after the softmax: `[batch, heads, tokens, tokens]`.
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
    let output = tensor(output, (batch, tokens, op.features()))?;
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
    /// Features of a head: the `d` above.
    depth: usize,
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
    const fn features(&self) -> usize {
        self.heads * self.depth
    }

    /// Where a head's numbers start in a token of the input.
    const fn column(&self, part: Part, head: usize) -> usize {
        (part as usize * self.heads + head) * self.depth
    }

    /// Copies the columns from `column` on of `[tokens, width]` to `[tokens, depth]`, as an operand
    /// of a product.
    fn pick(&self, sequence: &[f32], width: usize, column: usize, head: &mut [f32]) {
        for (token, head) in sequence
            .chunks_exact(width)
            .zip(head.chunks_exact_mut(self.depth))
        {
            head.copy_from_slice(&token[column..column + self.depth]);
        }
        round(head, self.precision);
    }

    /// The reverse of `pick`.
    fn place(&self, head: &[f32], width: usize, column: usize, sequence: &mut [f32]) {
        for (token, head) in sequence
            .chunks_exact_mut(width)
            .zip(head.chunks_exact(self.depth))
        {
            token[column..column + self.depth].copy_from_slice(head);
        }
    }

    fn matrix<'a>(&self, head: &'a [f32]) -> Matrix<'a> {
        Matrix::new(head, self.tokens, self.depth)
    }

    fn scale(&self) -> f32 {
        1.0 / (self.depth as f32).sqrt()
    }

    fn forward(&self, sequence: &[f32], result: &mut [f32], weights: &mut [f32]) {
        let Self { tokens, depth, .. } = *self;
        let (len, width) = (tokens * depth, 3 * self.features());
        let mut buffer = Scratch::new(4 * len);
        let (query, rest) = buffer.split_at_mut(len);
        let (key, rest) = rest.split_at_mut(len);
        let (value, output) = rest.split_at_mut(len);
        for (head, weights) in weights.chunks_exact_mut(tokens * tokens).enumerate() {
            self.pick(sequence, width, self.column(Part::Query, head), query);
            self.pick(sequence, width, self.column(Part::Key, head), key);
            self.pick(sequence, width, self.column(Part::Value, head), value);
            multiply(weights, self.matrix(query), self.matrix(key).transposed());
            softmax(weights, tokens, self.scale());
            round(weights, self.precision);
            multiply(
                output,
                Matrix::new(weights, tokens, tokens),
                self.matrix(value),
            );
            self.place(output, self.features(), head * depth, result);
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
        let Self { tokens, depth, .. } = *self;
        let (len, width) = (tokens * depth, 3 * self.features());
        let mut buffer = Scratch::new(3 * len + tokens * tokens);
        let (part, rest) = buffer.split_at_mut(len);
        let (of_output, rest) = rest.split_at_mut(len);
        let (of_part, of_scores) = rest.split_at_mut(len);
        for (head, weights) in weights.chunks_exact(tokens * tokens).enumerate() {
            let column = |part| self.column(part, head);
            let matrix = Matrix::new(weights, tokens, tokens);
            self.pick(gradient, self.features(), head * depth, of_output);
            multiply(of_part, matrix.transposed(), self.matrix(of_output));
            self.place(of_part, width, column(Part::Value), sequence_gradient);

            self.pick(sequence, width, column(Part::Value), part);
            multiply(
                of_scores,
                self.matrix(of_output),
                self.matrix(part).transposed(),
            );
            softmax_gradient(weights, of_scores, tokens, self.scale());
            round(of_scores, self.precision);
            let of_scores = Matrix::new(of_scores, tokens, tokens);

            self.pick(sequence, width, column(Part::Key), part);
            multiply(of_part, of_scores, self.matrix(part));
            self.place(of_part, width, column(Part::Query), sequence_gradient);

            self.pick(sequence, width, column(Part::Query), part);
            multiply(of_part, of_scores.transposed(), self.matrix(part));
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
            let weight = 1.0 / row.iter().sum::<f32>();
            for score in row {
                *score *= weight;
            }
        }
    });
}

/// Replaces the gradients of weights by those of the scores they came from.
fn softmax_gradient(weights: &[f32], gradient: &mut [f32], tokens: usize, scale: f32) {
    vectorized!({
        for (weights, gradient) in weights
            .chunks_exact(tokens)
            .zip(gradient.chunks_exact_mut(tokens))
        {
            let mean: f32 = weights
                .iter()
                .zip(&*gradient)
                .map(|(weight, g)| weight * g)
                .sum();
            gradient
                .iter_mut()
                .zip(weights)
                .for_each(|(g, weight)| *g = scale * weight * (*g - mean));
        }
    });
}

pub fn layer_norm(
    x: &Tensor,
    weight: &Parameter,
    bias: &Parameter,
    grad: GradMode,
) -> Result<Output> {
    let features = weight.len();
    // Elements of whole rows that one task takes.
    let chunk = features * (CHUNK / features).max(1);
    let mut output = vec![0.0; x.elem_count()];
    with_slices(
        [x, &weight.tensor(), &bias.tensor()],
        |[x, weight, bias]| {
            x.par_chunks(chunk)
                .zip(output.par_chunks_mut(chunk))
                .for_each_recorded(|(x, output)| vectorized!(normalize(x, weight, bias, output)));
        },
    )?;
    let (x, weight, bias) = (x.clone(), weight.clone(), bias.clone());
    let output = tensor(output, x.shape())?;
    Ok(Output::new(output, grad, move |gradient, needed| {
        let mut values = to_vec(gradient)?;
        let parts: Vec<[Vec<f32>; 2]> = with_slices([&x, &weight.tensor()], |[x, weight]| {
            x.par_chunks(chunk)
                .zip(values.par_chunks_mut(chunk))
                .map_recorded(|(x, gradient)| vectorized!(normalize_back(x, weight, gradient)))
                .collect()
        })?;
        for (parameter, index) in [(&weight, 0), (&bias, 1)] {
            parameter.add_to_grad(|sums| {
                for part in &parts {
                    add_to(sums, &part[index]);
                }
            })?;
        }
        let values = needed[0].then(|| tensor(values, x.shape()));
        Ok(Gradients::input(values.transpose()?))
    }))
}

/// Mean and inverse standard deviation of a row.
#[inline(always)]
fn statistics(row: &[f32]) -> (f32, f32) {
    let count = row.len() as f32;
    let mean = row.iter().sum::<f32>() / count;
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count;
    (mean, 1.0 / (variance + LAYER_NORM_EPSILON).sqrt())
}

#[inline(always)]
fn normalize(x: &[f32], weight: &[f32], bias: &[f32], output: &mut [f32]) {
    let rows = x.chunks_exact(weight.len());
    for (x, output) in rows.zip(output.chunks_exact_mut(weight.len())) {
        let (mean, inverse) = statistics(x);
        let terms = x.iter().zip(weight).zip(bias);
        output
            .iter_mut()
            .zip(terms)
            .for_each(|(y, ((x, w), b))| *y = (x - mean) * inverse * w + b);
    }
}

/// Turns the gradient of a chunk's output into that of its `x`; gives the chunk's part of those of
/// weight and bias.
#[inline(always)]
fn normalize_back(x: &[f32], weight: &[f32], gradient: &mut [f32]) -> [Vec<f32>; 2] {
    let (features, count) = (weight.len(), weight.len() as f32);
    let [mut of_weight, mut of_bias] = [vec![0.0; features], vec![0.0; features]];
    let rows = x.chunks_exact(features);
    for (x, gradient) in rows.zip(gradient.chunks_exact_mut(features)) {
        let (mean, inverse) = statistics(x);
        let (mut plain, mut weighted) = (0.0, 0.0);
        let sums = of_weight.iter_mut().zip(&mut of_bias);
        let terms = x.iter().zip(&*gradient).zip(weight);
        for (((x, g), w), (of_weight, of_bias)) in terms.zip(sums) {
            let normalized = (x - mean) * inverse;
            *of_weight += g * normalized;
            *of_bias += g;
            plain += g * w;
            weighted += g * w * normalized;
        }
        let (offset, slope) = (plain / count, weighted / count);
        for ((g, x), w) in gradient.iter_mut().zip(x).zip(weight) {
            *g = inverse * (*g * w - offset - (x - mean) * inverse * slope);
        }
    }
    [of_weight, of_bias]
}

pub fn add_positions(x: &Tensor, embedding: &Parameter, grad: GradMode) -> Result<Output> {
    let mut values = to_vec(x)?;
    with_slices([&embedding.tensor()], |[embedding]| {
        values
            .par_chunks_mut(embedding.len().max(1))
            .for_each_recorded(|sequence| vectorized!(add_to(sequence, embedding)));
    })?;
    let embedding = embedding.clone();
    let output = tensor(values, x.shape())?;
    Ok(Output::new(output, grad, move |gradient, needed| {
        with_slices([gradient], |[gradient]| {
            embedding.add_to_grad(|sums| {
                vectorized!(for sequence in gradient.chunks_exact(sums.len().max(1)) {
                    add_to(sums, sequence);
                });
            })
        })??;
        Ok(Gradients::input(needed[0].then(|| gradient.clone())))
    }))
}
