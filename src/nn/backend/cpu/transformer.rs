//! The ops of transformers besides attention: layer normalization (Ba et al. 2016) and positional
//! embeddings.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::lanes::{sum, sum_of_pairs};
use super::{CHUNK, Zeros, add_to, tensor, vectorized, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::ops::LAYER_NORM_EPSILON;
use crate::nn::{GradMode, Output, Parameter};
use crate::profiler::RecordedIterator;

pub fn layer_norm(
    x: &Tensor,
    weight: &Parameter,
    bias: &Parameter,
    grad: GradMode,
) -> Result<Output> {
    let features = weight.len();
    // Elements of whole rows that one task takes.
    let chunk = features * (CHUNK / features).max(1);
    let mut output = Zeros::new(x.elem_count());
    with_slices(
        [x, &weight.tensor(), &bias.tensor()],
        |[x, weight, bias]| {
            x.par_chunks(chunk)
                .zip(output.par_chunks_mut(chunk))
                .for_each_recorded(|(x, output)| vectorized!(normalize(x, weight, bias, output)));
        },
    )?;
    let (x, weight, bias) = (x.clone(), weight.clone(), bias.clone());
    let output = tensor(output.into_vec(), x.shape())?;
    Ok(Output::new(output, grad, move |gradient, needed| {
        let mut values = Zeros::new(x.elem_count());
        let tensors = [&x, &weight.tensor(), gradient];
        let parts: Vec<[Vec<f32>; 2]> = with_slices(tensors, |[x, weight, gradient]| {
            x.par_chunks(chunk)
                .zip(gradient.par_chunks(chunk))
                .zip(values.par_chunks_mut(chunk))
                .map_recorded(|((x, gradient), values)| {
                    values.copy_from_slice(gradient);
                    let [mut of_weight, mut of_bias] = [vec![0.0; features], vec![0.0; features]];
                    let sums = (&mut *of_weight, &mut *of_bias);
                    vectorized!(normalize_back(x, weight, values, sums.0, sums.1));
                    [of_weight, of_bias]
                })
                .collect()
        })?;
        for (parameter, index) in [(&weight, 0), (&bias, 1)] {
            parameter.add_to_grad(|sums| {
                for part in &parts {
                    add_to(sums, &part[index]);
                }
            })?;
        }
        let values = needed[0].then(|| tensor(values.into_vec(), x.shape()));
        Ok(Gradients::input(values.transpose()?))
    }))
}

/// Mean and inverse standard deviation of a row.
#[inline(always)]
fn statistics(row: &[f32]) -> (f32, f32) {
    let count = row.len() as f32;
    let mean = sum(row, |x| x) / count;
    let variance = sum(row, |x| (x - mean) * (x - mean)) / count;
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

/// Turns the gradient of a chunk's output into the gradient of its `x`; adds the chunk's part of the
/// gradients of weight and bias.
#[inline(always)]
fn normalize_back(
    x: &[f32],
    weight: &[f32],
    gradient: &mut [f32],
    of_weight: &mut [f32],
    of_bias: &mut [f32],
) {
    let (features, count) = (weight.len(), weight.len() as f32);
    let rows = x.chunks_exact(features);
    for (x, gradient) in rows.zip(gradient.chunks_exact_mut(features)) {
        let (mean, inverse) = statistics(x);
        let sums = of_weight.iter_mut().zip(of_bias.iter_mut());
        let terms = gradient.iter_mut().zip(x).zip(weight);
        for (((g, x), w), (of_weight, of_bias)) in terms.zip(sums) {
            *of_weight += *g * (x - mean) * inverse;
            *of_bias += *g;
            *g *= w;
        }
        let offset = sum(gradient, |g| g) / count;
        let slope = sum_of_pairs(x, gradient, |x, g| g * (x - mean)) * inverse / count;
        for (g, x) in gradient.iter_mut().zip(x) {
            *g = inverse * (*g - offset - (x - mean) * inverse * slope);
        }
    }
}

pub fn add_positions(x: &Tensor, embedding: &Parameter, grad: GradMode) -> Result<Output> {
    let mut values = Zeros::new(x.elem_count());
    with_slices([x, &embedding.tensor()], |[x, embedding]| {
        let len = embedding.len().max(1);
        x.par_chunks(len)
            .zip(values.par_chunks_mut(len))
            .for_each_recorded(|(x, sequence)| {
                sequence.copy_from_slice(x);
                vectorized!(add_to(sequence, embedding));
            });
    })?;
    let embedding = embedding.clone();
    let output = tensor(values.into_vec(), x.shape())?;
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
