//! The backward pass of a batch: groups of images in parallel, whose gradients of the weights are
//! added in their order.
//!
//! Output gradients that have hardly any zeros are convolved; of the others, those after a 2x2
//! maximum or a `ReLU`, lists of what is not zero are summed.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::super::matrix::round;
use super::super::microkernels::tiles::{InitialSums, Tile, pixels_per_tile};
use super::super::microkernels::{Buffer, Scratch};
use super::super::{Zeros, add_to, vectorized};
use super::geometry::{Convolution, FIRST_CACHE};
use super::kernels::Unpool;
use super::terms::GradientLists;
use super::{FusedConvolution, TASK};
use crate::profiler::RecordedIterator;
use crate::run_config::DeviceChoice;

/// Images whose gradients of the weights are summed by one task. Fixed, so that the sums are the
/// same for any number of threads.
const GROUP: usize = 8;

#[derive(Clone, Copy)]
pub struct Saved<'a> {
    pub x: &'a [f32],
    /// The weight, in `PyTorch`'s layout.
    pub weight: &'a [f32],
    pub output: &'a [f32],
    /// Which of its four pixels each maximum was; empty without pooling.
    pub argmax: &'a [u8],
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
        x_gradient: Option<&mut Zeros>,
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
        let group = |group: usize, x_gradient: Option<&mut [f32]>| {
            let part =
                |values: &'_ [f32], len: usize| group * len..((group + 1) * len).min(values.len());
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
        };
        let groups = (0..groups).into_par_iter().with_max_len(1);
        let partial: Vec<(Buffer, Vec<f32>)> = match x_gradient {
            Some(x_gradient) => groups
                .zip(x_gradient.par_chunks_mut(image))
                .map_recorded(|(index, x_gradient)| group(index, Some(x_gradient)))
                .collect(),
            None => groups.map_recorded(|index| group(index, None)).collect(),
        };

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
                    add_to(sum, &part[start..]);
                });
            });
        if dense {
            convolution.unpack_dense(&sum, weight);
        } else {
            convolution.unpack_rows(&sum, weight);
        }
        if let Some(bias) = bias {
            for (_, part) in &partial {
                add_to(bias, part);
            }
        }
    }

    /// Whether the gradients come from `dense_group` and `mirror`: where hardly any is zero, and
    /// for an image of one channel, whose taps are too few to make the rows that a list sums long
    /// enough.
    const fn is_dense(&self, input_gradient: bool) -> bool {
        let few_zeros = !self.pool && !self.relu;
        few_zeros || self.convolution.channels == 1 && !input_gradient
    }
}

impl FusedConvolution {
    /// Writes the gradient of the images as the convolution it is.
    fn mirror(&self, saved: Saved<'_>, x_gradient: &mut Zeros) {
        let Self {
            convolution,
            precision,
            ..
        } = *self;
        let of = |convolution| Self {
            convolution,
            pool: false,
            relu: false,
            precision,
        };
        if convolution.has_mirror() {
            let weight = convolution.mirror_weight(saved.weight);
            let mirrored = of(convolution.mirrored());
            return mirrored.forward(saved.gradient, &weight, None, x_gradient, &mut []);
        }
        let phased = of(convolution.phased());
        let packed = phased.packed(&convolution.phased_weight(saved.weight), None);
        saved
            .gradient
            .par_chunks(self.output_len())
            .with_max_len(TASK)
            .zip(x_gradient.par_chunks_mut(convolution.image_len()))
            .for_each_recorded(|(gradient, x_gradient)| {
                let mut pixels = Scratch::new(phased.output_len());
                phased.forward_image(gradient, &packed, &mut pixels, &mut []);
                convolution.interleave(&pixels, x_gradient);
            });
    }

    /// One group's share of the gradients of weight (as `dense_gradient`) and, if there is one,
    /// bias.
    pub fn dense_group(&self, saved: Saved<'_>, has_bias: bool) -> (Buffer, Vec<f32>) {
        let Self {
            convolution,
            pool,
            relu,
            precision,
        } = *self;
        let (stride, channels) = (convolution.padded_outputs(), convolution.outputs);
        let mut weight_part = Buffer::zeros(convolution.dense_len());
        let mut bias_part = vec![0.0; channels];
        let mut padded = Scratch::new(convolution.padded_len());
        // What `Unpool` leaves as it is stays zero.
        let mut pixels =
            Scratch::zeros(convolution.out_height() * convolution.out_width() * stride);
        let images = saved
            .x
            .chunks_exact(convolution.image_len())
            .zip(saved.gradient.chunks_exact(self.output_len()));
        for (image, (x, gradient)) in images.enumerate() {
            convolution.pad(x, &mut padded, precision);
            if !has_bias
                && !pool
                && !relu
                && !precision.differs_on(DeviceChoice::Cpu)
                && channels == stride
            {
                convolution.dense_gradient(&padded, gradient, &mut weight_part);
                continue;
            }
            let part = image * self.output_len()..(image + 1) * self.output_len();
            let unpool = Unpool {
                width: convolution.out_width(),
                stride,
                channels,
                gradient,
                relu: relu.then(|| &saved.output[part.clone()]),
                argmax: pool.then(|| &saved.argmax[part]),
                pixels: &mut pixels,
                bias: &mut bias_part,
            };
            unpool.run();
            round(&mut pixels, precision);
            convolution.dense_gradient(&padded, &pixels, &mut weight_part);
        }
        (weight_part, bias_part)
    }
}

impl Convolution {
    /// Adds one image's gradient of the weights, as `[kernel row, run, padded_outputs]`, from the
    /// gradient of every pixel of the result, `[out_height, out_width, padded_outputs]`. It is a
    /// convolution again: of the image by the result's gradient.
    fn dense_gradient(&self, padded: &[f32], pixels: &[f32], weight_gradient: &mut [f32]) {
        assert!(padded.len() >= self.padded_len());
        assert_eq!(
            (pixels.len(), weight_gradient.len()),
            (
                self.out_height() * self.out_width() * self.padded_outputs(),
                self.dense_len()
            )
        );
        Arch::new().dispatch(DenseGradient {
            convolution: *self,
            padded,
            pixels,
            weight_gradient,
        });
    }
}

struct DenseGradient<'a> {
    convolution: Convolution,
    padded: &'a [f32],
    pixels: &'a [f32],
    weight_gradient: &'a mut [f32],
}

impl WithSimd for DenseGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            convolution,
            padded,
            pixels,
            weight_gradient,
        } = self;
        let Convolution {
            stride, channels, ..
        } = convolution;
        let row = convolution.padded_row_len();
        let taps = convolution.kernel_row_len();
        let outputs = convolution.padded_outputs();
        let (height, run) = (convolution.out_height(), convolution.out_width());
        // As many rows at a time as stay in the first cache while all taps go over them.
        let strip = (FIRST_CACHE
            / (run * (stride * stride * channels + outputs.min(2 * S::F32_LANES))))
        .clamp(1, height);
        for output in (0..outputs).step_by(2 * S::F32_LANES) {
            let width = (outputs - output).min(2 * S::F32_LANES);
            let vectors = width / S::F32_LANES;
            let most = pixels_per_tile(taps, S::F32_LANES, vectors);
            for first in (0..height).step_by(strip) {
                let rows = strip.min(height - first);
                let tiles = (0..convolution.kernel)
                    .flat_map(|y| (0..taps).step_by(most).map(move |tap| (y, tap)));
                for (y, tap) in tiles {
                    let count = most.min(taps - tap);
                    let sum = (y * taps + tap) * outputs + output;
                    let tile = Tile {
                        pixels: padded[(first * stride + y) * row + tap..].as_ptr(),
                        pitch: 1,
                        rows,
                        stride: stride * row,
                        run,
                        step: stride * channels,
                        panel: pixels[first * run * outputs + output..].as_ptr(),
                        panel_stride: outputs,
                        out: weight_gradient[sum..sum + (count - 1) * outputs + width].as_mut_ptr(),
                        out_stride: outputs,
                        start: InitialSums::Result,
                    };
                    // SAFETY: from each tap on, the image has a number for each of the result's
                    // pixels, `step` and `stride` apart; the result's gradient has a panel for each
                    // of its pixels; and the sums are this call's alone.
                    unsafe { tile.compute(simd, count, vectors) };
                }
            }
        }
    }
}

impl FusedConvolution {
    /// The offset of the kernel in the padded image for each candidate of each position.
    pub fn window_offsets(&self) -> Vec<u32> {
        if !self.pool {
            return self.convolution.offsets();
        }
        let (height, width) = self.output_size();
        (0..height)
            .flat_map(|y| (0..width).map(move |x| (2 * y, 2 * x)))
            .flat_map(|(y, x)| [(y, x), (y, x + 1), (y + 1, x), (y + 1, x + 1)])
            .map(|(y, x)| self.convolution.offset(y, x) as u32)
            .collect()
    }

    /// One group's share of the gradients of weight (as `pack_rows`) and bias.
    pub fn sparse_group(
        &self,
        saved: Saved<'_>,
        offsets: &[u32],
        rows: Option<&[f32]>,
        x_gradient: Option<&mut [f32]>,
    ) -> (Buffer, Vec<f32>) {
        let Self {
            convolution,
            precision,
            ..
        } = *self;
        let mut weight_part = Buffer::zeros(convolution.rows_len());
        let mut bias_part = vec![0.0; convolution.outputs];
        let mut terms = GradientLists::new(self, offsets, rows.is_some());
        let mut x_gradients =
            x_gradient.map(|x_gradient| x_gradient.chunks_exact_mut(convolution.image_len()));
        let mut padded = Scratch::new(convolution.padded_len());
        let mut padded_gradient = Scratch::new(convolution.padded_len());
        let images = saved
            .x
            .chunks_exact(convolution.image_len())
            .zip(saved.gradient.chunks_exact(self.output_len()));
        for (image, (x, gradient)) in images.enumerate() {
            let part = image * self.output_len()..(image + 1) * self.output_len();
            let argmax = if self.pool {
                &saved.argmax[part.clone()]
            } else {
                &[]
            };
            convolution.pad(x, &mut padded, precision);
            terms.collect(gradient, &saved.output[part], argmax, &mut bias_part);
            let x_gradient = x_gradients.as_mut().and_then(Iterator::next);
            let image = match (rows, &x_gradient) {
                (Some(rows), Some(_)) => {
                    padded_gradient.fill(0.0);
                    Some((rows, &mut padded_gradient[..]))
                }
                _ => None,
            };
            terms.add_gradients(&padded, &mut weight_part, image);
            if let Some(x_gradient) = x_gradient {
                convolution.unpad(&padded_gradient, x_gradient);
            }
        }
        (weight_part, bias_part)
    }
}
