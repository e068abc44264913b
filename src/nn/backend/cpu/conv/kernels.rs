//! The kernels of one image: tiles of pixels by panels of outputs, and 2x2 max pooling with stride 2,
//! optionally with `ReLU`, both ways. An odd last row or column is left out, as in `PyTorch`; of equal
//! values the first in reading order is the maximum.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

#[cfg(target_arch = "x86_64")]
use super::super::microkernels::bf16;
use super::super::microkernels::tiles::{InitialSums, Tile, pixels_per_tile};
use super::geometry::{Convolution, FIRST_CACHE};

/// A padded image and the weights to convolve it with.
#[derive(Clone, Copy)]
pub enum Operands<'a> {
    Single {
        /// From `pad`.
        padded: &'a [f32],
        /// From `pack_panels`.
        panels: &'a [f32],
    },
    /// Of bf16 numbers, where `takes_pairs`.
    Pairs {
        /// The bits of what `pad` gives.
        padded: &'a [u16],
        /// From `pair_panels`.
        panels: &'a [u32],
    },
}

impl Convolution {
    /// These rows of the result, `[rows, out_width, padded_outputs]`, of a padded image; `bias` has
    /// `padded_outputs` numbers.
    pub fn forward(
        &self,
        operands: Operands<'_>,
        bias: &[f32],
        rows: Range<usize>,
        out: &mut [f32],
    ) {
        let (padded, weights) = match operands {
            Operands::Single { padded, panels } => (padded.len(), panels.len()),
            Operands::Pairs { padded, panels } => (padded.len(), 2 * panels.len()),
        };
        assert!(padded >= self.padded_len() && bias.len() == self.padded_outputs());
        assert!(
            rows.end <= self.out_height()
                && out.len() >= rows.len() * self.out_width() * bias.len()
                && weights == bias.len() * self.kernel * self.kernel_row_len()
        );
        Arch::new().dispatch(Forward {
            convolution: *self,
            operands,
            bias,
            rows,
            out,
        });
    }
}

struct Forward<'a> {
    convolution: Convolution,
    operands: Operands<'a>,
    bias: &'a [f32],
    rows: Range<usize>,
    out: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            convolution,
            operands,
            bias,
            rows,
            out,
        } = self;
        let run = convolution.kernel_row_len();
        let stride = convolution.padded_row_len();
        let pitch = convolution.stride * convolution.channels;
        let out_stride = bias.len();
        let (kernel, width) = (convolution.kernel, convolution.out_width());
        let mut output = 0;
        while output < out_stride {
            let panel = (out_stride - output).min(2 * S::F32_LANES);
            let vectors = panel / S::F32_LANES;
            let pixels = pixels_per_tile(width, S::F32_LANES, vectors);
            let weights = kernel * run * panel;
            // All of the panel's weights at once while they fit into the first cache, else those of
            // one kernel row after the other.
            let kernel_rows = if weights <= FIRST_CACHE { kernel } else { 1 };
            for kernel_row in (0..kernel).step_by(kernel_rows) {
                let first = output * kernel * run + kernel_row * run * panel;
                let tiles = rows
                    .clone()
                    .flat_map(|y| (0..width).step_by(pixels).map(move |x| (y, x)));
                for (y, x) in tiles {
                    let count = pixels.min(width - x);
                    let from = convolution.offset(y, x) + kernel_row * stride;
                    let pixel = (y - rows.start) * width + x;
                    let out = out[pixel * out_stride + output
                        ..(pixel + count - 1) * out_stride + output + panel]
                        .as_mut_ptr();
                    let start = if kernel_row == 0 {
                        InitialSums::Bias(bias[output..output + panel].as_ptr())
                    } else {
                        InitialSums::Result
                    };
                    match operands {
                        Operands::Single { padded, panels } => {
                            let tile = Tile {
                                pixels: padded[from..].as_ptr(),
                                pitch,
                                rows: kernel_rows,
                                stride,
                                run,
                                step: 1,
                                panel: panels[first..first + kernel_rows * run * panel].as_ptr(),
                                panel_stride: panel,
                                out,
                                out_stride,
                                start,
                            };
                            // SAFETY: `forward` checked that the image has the kernel's rows at each
                            // pixel; weights, bias and results are the slices just taken, and the
                            // results are this call's alone.
                            unsafe { tile.compute(simd, count, vectors) };
                        }
                        #[cfg(target_arch = "x86_64")]
                        Operands::Pairs { padded, panels } => {
                            let tile = bf16::PairTile {
                                pixels: padded[from..].as_ptr(),
                                pitch,
                                rows: kernel_rows,
                                stride,
                                run,
                                panel: panels[first / 2..][..kernel_rows * run / 2 * panel]
                                    .as_ptr(),
                                out,
                                out_stride,
                                start,
                            };
                            // SAFETY: as above; and pairs are only made where `bf16::is_native`.
                            unsafe { tile.compute(count, vectors) };
                        }
                        #[cfg(not(target_arch = "x86_64"))]
                        Operands::Pairs { .. } => {
                            unreachable!("pairs are only made where bf16 is native")
                        }
                    }
                }
            }
            output += panel;
        }
    }
}

/// Pools rows of `width` pixels of `stride` numbers, of which the first `channels` count.
pub struct MaxPool<'a> {
    /// An even number of rows.
    pub rows: &'a [f32],
    pub width: usize,
    /// Numbers in a pixel; whole vectors.
    pub stride: usize,
    /// Numbers in a pooled pixel.
    pub channels: usize,
    pub relu: bool,
    /// The maxima, `[height / 2, width / 2, channels]`.
    pub output: &'a mut [f32],
    /// Which of its four pixels each maximum was.
    pub argmax: &'a mut [u8],
}

impl MaxPool<'_> {
    pub fn run(self) {
        Arch::new().dispatch(self);
    }
}

impl WithSimd for MaxPool<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            rows,
            width,
            stride,
            channels,
            relu,
            output,
            argmax,
        } = self;
        let pooled_width = width / 2;
        let zero = simd.splat_f32s(0.0);
        let pixels = output
            .chunks_exact_mut(channels)
            .zip(argmax.chunks_exact_mut(channels));
        for (pixel, (output, argmax)) in pixels.enumerate() {
            let first = (2 * (pixel / pooled_width) * width + 2 * (pixel % pooled_width)) * stride;
            let [a, b, c, d] = [
                first,
                first + stride,
                first + width * stride,
                first + (width + 1) * stride,
            ]
            .map(|start| S::as_simd_f32s(&rows[start..start + stride]).0);
            let outputs = output
                .chunks_mut(S::F32_LANES)
                .zip(argmax.chunks_mut(S::F32_LANES));
            for ((output, argmax), (((&a, &b), &c), &d)) in
                outputs.zip(a.iter().zip(b).zip(c).zip(d))
            {
                let (mut best, mut index) = (a, simd.splat_u32s(0));
                for (candidate, value) in [(1, b), (2, c), (3, d)] {
                    let better = simd.greater_than_f32s(value, best);
                    best = simd.select_f32s(better, value, best);
                    index = simd.select_u32s(better, simd.splat_u32s(candidate), index);
                }
                if relu {
                    best = simd.select_f32s(simd.less_than_or_equal_f32s(best, zero), zero, best);
                }
                simd.partial_store_f32s(output, best);
                let lanes: &[u32] = pulp::bytemuck::cast_slice(std::slice::from_ref(&index));
                for (index, &lane) in argmax.iter_mut().zip(lanes) {
                    *index = lane as u8;
                }
            }
        }
    }
}

/// The way back through `MaxPool` (or past it): what each pixel of the convolution's result has as
/// its gradient.
pub struct Unpool<'a> {
    pub width: usize,
    /// Numbers in a pixel of `pixels`; whole vectors.
    pub stride: usize,
    /// Numbers in a pixel of `gradient`.
    pub channels: usize,
    /// The gradient after pooling and `ReLU`.
    pub gradient: &'a [f32],
    /// The output of pooling and `ReLU`, if a `ReLU` blocks the gradients of zeros.
    pub relu: Option<&'a [f32]>,
    /// Which of its four pixels each maximum was; `None` without pooling.
    pub argmax: Option<&'a [u8]>,
    /// All of it is written, but for an odd last row or column, which must be zero.
    pub pixels: &'a mut [f32],
    pub bias: &'a mut [f32],
}

impl Unpool<'_> {
    pub fn run(self) {
        Arch::new().dispatch(self);
    }
}

impl WithSimd for Unpool<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            width,
            stride,
            channels,
            gradient,
            relu,
            argmax,
            pixels,
            bias,
        } = self;
        let zero = simd.splat_f32s(0.0);
        let pooled_width = if argmax.is_some() { width / 2 } else { width };
        for (site, gradient) in gradient.chunks_exact(channels).enumerate() {
            let part = site * channels..(site + 1) * channels;
            let (y, x) = (site / pooled_width, site % pooled_width);
            for start in (0..channels).step_by(S::F32_LANES) {
                let end = (start + S::F32_LANES).min(channels);
                let mut value = simd.partial_load_f32s(&gradient[start..end]);
                if let Some(result) = relu {
                    let result = simd.partial_load_f32s(&result[part.clone()][start..end]);
                    value =
                        simd.select_f32s(simd.less_than_or_equal_f32s(result, zero), zero, value);
                }
                let bias = &mut bias[start..end];
                simd.partial_store_f32s(bias, simd.add_f32s(simd.partial_load_f32s(bias), value));
                let mut write = |y: usize, x: usize, value: S::f32s| {
                    let pixel = (y * width + x) * stride + start;
                    simd.partial_store_f32s(&mut pixels[pixel..pixel + S::F32_LANES], value);
                };
                let Some(argmax) = argmax else {
                    write(y, x, value);
                    continue;
                };
                let mut index = simd.splat_u32s(0);
                let lanes: &mut [u32] =
                    pulp::bytemuck::cast_slice_mut(std::slice::from_mut(&mut index));
                for (lane, &index) in lanes.iter_mut().zip(&argmax[part.clone()][start..end]) {
                    *lane = u32::from(index);
                }
                for (candidate, (below, right)) in
                    [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter().enumerate()
                {
                    let here = simd.equal_u32s(index, simd.splat_u32s(candidate as u32));
                    write(
                        2 * y + below,
                        2 * x + right,
                        simd.select_f32s(here, value, zero),
                    );
                }
            }
        }
    }
}
