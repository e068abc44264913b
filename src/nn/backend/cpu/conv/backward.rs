//! The backward pass of a batch: groups of images in parallel, whose gradients of the weights are
//! added in their order.

use rayon::prelude::*;

use super::super::microkernels::{Buffer, Scratch};
use super::super::vectorized;
use super::FusedConvolution;
use crate::profiler::RecordedIterator;

/// Images whose gradients of the weights are summed by one task. Fixed, so that the sums are the
/// same for any number of threads.
const GROUP: usize = 8;

/// What the gradients are computed from.
#[derive(Clone, Copy)]
pub struct Saved<'a> {
    /// The images.
    pub x: &'a [f32],
    /// The weight, in `PyTorch`'s layout.
    pub weight: &'a [f32],
    /// The output of `forward`.
    pub output: &'a [f32],
    /// Which of its four pixels each maximum was; empty without pooling.
    pub argmax: &'a [u8],
    /// The gradient of the result.
    pub gradient: &'a [f32],
}

/// The gradients of a convolution's parameters, to be added to.
pub struct ParameterGradients<'a> {
    /// The weight's, added to.
    pub weight: &'a mut [f32],
    /// The bias's, added to; `None` without a bias.
    pub bias: Option<&'a mut [f32]>,
}

impl FusedConvolution {
    /// Adds to the parameters' gradients and, where asked, writes the gradient of the images.
    pub fn backward(
        &self,
        saved: Saved<'_>,
        parameters: ParameterGradients<'_>,
        x_gradient: Option<&mut [f32]>,
    ) {
        let convolution = self.convolution;
        let (image, result) = (GROUP * convolution.image_len(), GROUP * self.output_len());
        let groups = saved.x.len().div_ceil(image);
        let dense = self.is_dense(x_gradient.is_some());
        let x_gradient = x_gradient.and_then(|x_gradient| {
            if dense {
                self.mirror(saved, x_gradient);
            }
            (!dense).then_some(x_gradient)
        });
        let rows = x_gradient
            .is_some()
            .then(|| convolution.pack_rows(saved.weight, self.precision));
        let offsets = if dense {
            Vec::new()
        } else {
            self.window_offsets()
        };
        let x_gradients: Vec<Option<&mut [f32]>> = match x_gradient {
            Some(x_gradient) => x_gradient.chunks_mut(image).map(Some).collect(),
            None => (0..groups).map(|_| None).collect(),
        };
        let partial: Vec<(Buffer, Vec<f32>)> = x_gradients
            .into_par_iter()
            .with_max_len(1)
            .enumerate()
            .map_recorded(|(group, x_gradient)| {
                let part = |values: &'_ [f32], len: usize| {
                    group * len..((group + 1) * len).min(values.len())
                };
                let saved = Saved {
                    x: &saved.x[part(saved.x, image)],
                    output: &saved.output[part(saved.output, result)],
                    gradient: &saved.gradient[part(saved.gradient, result)],
                    argmax: if self.pool {
                        &saved.argmax[part(saved.gradient, result)]
                    } else {
                        &[]
                    },
                    ..saved
                };
                if dense {
                    self.dense_group(saved, parameters.bias.is_some())
                } else {
                    self.sparse_group(saved, &offsets, rows.as_deref(), x_gradient)
                }
            })
            .collect();

        let ParameterGradients { weight, bias } = parameters;
        let mut sum = Scratch::new(if dense {
            convolution.dense_len()
        } else {
            convolution.rows_len()
        });
        // Each number is summed over the groups in their order, whichever thread takes it.
        sum.par_chunks_mut(1 << 13)
            .enumerate()
            .for_each_recorded(|(chunk, sum)| {
                let start = chunk << 13;
                sum.fill(0.0);
                vectorized!(for (part, _) in &partial {
                    sum.iter_mut()
                        .zip(&part[start..])
                        .for_each(|(sum, part)| *sum += part);
                });
            });
        if dense {
            convolution.unpack_dense(&sum, weight);
        } else {
            convolution.unpack_rows(&sum, weight);
        }
        if let Some(bias) = bias {
            for (_, part) in &partial {
                bias.iter_mut()
                    .zip(part)
                    .for_each(|(sum, part)| *sum += part);
            }
        }
    }

    /// Whether the gradients come from `dense_group` and `mirror`: where hardly any is zero, and
    /// for an image of one channel, whose taps are too few to make the rows that a list sums long
    /// enough.
    const fn is_dense(&self, input_gradient: bool) -> bool {
        let few_zeros = !self.pool && !self.relu && self.convolution.has_mirror();
        few_zeros || self.convolution.channels == 1 && !input_gradient
    }
}
