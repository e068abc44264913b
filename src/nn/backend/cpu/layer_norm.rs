//! Layer normalisation.

use candle_core::{Result, Tensor};
use rayon::prelude::*;

use super::{CHUNK, tensor, to_vec, vectorized, with_slices};
use crate::nn::autograd::Gradients;
use crate::nn::ops::LAYER_NORM_EPSILON;
use crate::nn::{GradMode, Output, Parameter};
use crate::profiler::RecordedIterator;

/// See [`crate::nn::ops::layer_norm`].
pub fn layer_norm(
    x: &Tensor,
    weight: &Parameter,
    bias: &Parameter,
    grad: GradMode,
) -> Result<Output> {
    let op = LayerNorm {
        features: weight.len(),
    };
    let output = with_slices(
        [x, &weight.tensor(), &bias.tensor()],
        |[x, weight, bias]| op.forward(x, weight, bias),
    )?;
    let (x, weight, bias) = (x.clone(), weight.clone(), bias.clone());
    Ok(Output::new(
        tensor(output, x.shape())?,
        grad,
        move |gradient, needed| {
            let mut values = to_vec(gradient)?;
            let parts: Vec<[Vec<f32>; 2]> = with_slices([&x, &weight.tensor()], |[x, weight]| {
                let chunks = x
                    .par_chunks(op.chunk_len())
                    .zip(values.par_chunks_mut(op.chunk_len()));
                chunks
                    .map_recorded(|(x, gradient)| vectorized!(op.backward(x, weight, gradient)))
                    .collect()
            })?;
            for (parameter, index) in [(&weight, 0), (&bias, 1)] {
                parameter.add_to_grad(|sums| {
                    for part in &parts {
                        sums.iter_mut()
                            .zip(&part[index])
                            .for_each(|(sum, part)| *sum += part);
                    }
                })?;
            }
            Ok(Gradients::input(
                needed[0].then(|| tensor(values, x.shape())).transpose()?,
            ))
        },
    ))
}

#[derive(Clone, Copy)]
struct LayerNorm {
    features: usize,
}

/// Mean and inverse standard deviation of a row.
fn statistics(row: &[f32]) -> (f32, f32) {
    let count = row.len() as f32;
    let mean = row.iter().sum::<f32>() / count;
    let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count;
    (mean, 1.0 / (variance + LAYER_NORM_EPSILON).sqrt())
}

impl LayerNorm {
    /// Elements of whole rows that one task takes.
    const fn chunk_len(self) -> usize {
        let rows = CHUNK / self.features;
        if rows == 0 {
            self.features
        } else {
            rows * self.features
        }
    }

    fn forward(self, x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
        let mut output = vec![0.0; x.len()];
        x.par_chunks(self.chunk_len())
            .zip(output.par_chunks_mut(self.chunk_len()))
            .for_each_recorded(|(x, output)| {
                vectorized!({
                    for (x, output) in x
                        .chunks_exact(self.features)
                        .zip(output.chunks_exact_mut(self.features))
                    {
                        let (mean, inverse) = statistics(x);
                        let terms = x.iter().zip(weight).zip(bias);
                        output
                            .iter_mut()
                            .zip(terms)
                            .for_each(|(y, ((x, w), b))| *y = (x - mean) * inverse * w + b);
                    }
                });
            });
        output
    }

    /// Turns the gradient of a chunk's output into that of its `x`; gives the chunk's part of those
    /// of weight and bias.
    fn backward(self, x: &[f32], weight: &[f32], gradient: &mut [f32]) -> [Vec<f32>; 2] {
        let count = self.features as f32;
        let [mut of_weight, mut of_bias] = [vec![0.0; self.features], vec![0.0; self.features]];
        for (x, gradient) in x
            .chunks_exact(self.features)
            .zip(gradient.chunks_exact_mut(self.features))
        {
            let (mean, inverse) = statistics(x);
            let (mut plain, mut weighted) = (0.0, 0.0);
            let sums = of_weight.iter_mut().zip(&mut of_bias);
            for (((x, g), w), (of_weight, of_bias)) in
                x.iter().zip(&*gradient).zip(weight).zip(sums)
            {
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
}
