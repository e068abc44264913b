//! The forward pass of a batch: which image goes to which thread, and pooling while the
//! convolution's rows are in the cache.

use rayon::prelude::*;

use super::super::microkernels::{Scratch, bf16};
use super::super::vectorized;
use super::FusedConvolution;
use super::forward_kernel::Operands;
use super::max_pool::MaxPool;
use crate::profiler::RecordedIterator;

/// Images a task takes at most: rayon would split so that each thread has two tasks, and one that
/// is held up would keep the others waiting.
const TASK: usize = 4;

/// What every image's forward pass shares.
struct Packed<'a> {
    panels: &'a [f32],
    /// The panels as pairs, where the products are the CPU's own bf16 ones.
    pairs: Option<&'a [u32]>,
    bias: &'a [f32],
    offsets: &'a [u32],
}

impl FusedConvolution {
    /// Writes the result of every image and, with pooling, where each maximum was.
    pub fn forward(
        &self,
        x: &[f32],
        weight: &[f32],
        bias: Option<&[f32]>,
        result: &mut [f32],
        argmax: &mut [u8],
    ) {
        let convolution = self.convolution;
        let panels = convolution.pack_panels(weight, self.precision);
        let pairs = convolution
            .takes_pairs(self.precision)
            .then(|| convolution.pair_panels(&panels));
        let mut padded_bias = vec![0.0; convolution.padded_outputs()];
        if let Some(bias) = bias {
            padded_bias[..bias.len()].copy_from_slice(bias);
        }
        let offsets = convolution.offsets();
        let image = |x: &[f32], result: &mut [f32], argmax: &mut [u8]| {
            let packed = Packed {
                panels: &panels,
                pairs: pairs.as_deref(),
                bias: &padded_bias,
                offsets: &offsets,
            };
            self.forward_image(x, &packed, result, argmax);
        };
        if result.len() == self.output_len() {
            // One drawing is read sooner than another thread is woken.
            image(x, result, argmax);
        } else if self.pool {
            x.par_chunks(convolution.image_len())
                .zip(result.par_chunks_mut(self.output_len()))
                .zip(argmax.par_chunks_mut(self.output_len()))
                .with_max_len(TASK)
                .for_each_recorded(|((x, result), argmax)| image(x, result, argmax));
        } else {
            x.par_chunks(convolution.image_len())
                .zip(result.par_chunks_mut(self.output_len()))
                .with_max_len(TASK)
                .for_each_recorded(|(x, result)| image(x, result, &mut []));
        }
    }

    fn forward_image(&self, x: &[f32], packed: &Packed<'_>, result: &mut [f32], argmax: &mut [u8]) {
        let Packed {
            panels,
            pairs,
            bias,
            offsets,
        } = *packed;
        let Self {
            convolution,
            pool,
            relu,
            precision,
        } = *self;
        let (step, channels, width) = (
            if pool { 2 } else { 1 },
            convolution.outputs,
            convolution.out_width(),
        );
        let (_, result_width) = self.output_size();
        let height = convolution.out_height() / step * step;
        let strip = convolution.strip(step).min(height);
        let mut padded = Scratch::new(convolution.padded_len());
        convolution.pad(x, &mut padded, precision);
        let mut halves = Scratch::new(if pairs.is_some() { padded.len() } else { 0 });
        vectorized!(
            halves
                .iter_mut()
                .zip(&*padded)
                .for_each(|(half, &value)| *half = bf16::bits_of(value))
        );
        let operands = match pairs {
            Some(panels) => Operands::Pairs {
                padded: &halves,
                panels,
            },
            None => Operands::Single {
                padded: &padded,
                panels,
            },
        };
        if !pool && !relu && channels == bias.len() {
            return convolution.forward(operands, bias, offsets, result);
        }
        let mut rows = Scratch::new(strip * width * bias.len());
        for start in (0..height).step_by(strip.max(1)) {
            let strip = start..(start + strip).min(height);
            let part =
                start / step * result_width * channels..strip.end / step * result_width * channels;
            let rows = &mut rows[..strip.len() * width * bias.len()];
            convolution.forward(
                operands,
                bias,
                &offsets[strip.start * width..strip.end * width],
                rows,
            );
            let output = &mut result[part.clone()];
            if pool {
                MaxPool {
                    rows,
                    width,
                    stride: bias.len(),
                    channels,
                    relu,
                    output,
                    argmax: &mut argmax[part],
                }
                .run();
            } else {
                vectorized!(for (output, pixel) in output
                    .chunks_exact_mut(channels)
                    .zip(rows.chunks_exact(bias.len()))
                {
                    for (output, &value) in output.iter_mut().zip(pixel) {
                        *output = if relu && value <= 0.0 { 0.0 } else { value };
                    }
                });
            }
        }
    }
}
