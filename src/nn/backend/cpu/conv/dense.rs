//! The gradients of weights and input as convolutions: for output gradients that have hardly any
//! zeros.

use pulp::{Arch, Simd, WithSimd};

use super::super::microkernels::tile::{PIXELS, Start, Tile};
use super::super::microkernels::{Buffer, Scratch};
use super::super::precision::round;
use super::FusedConvolution;
use super::backward::Saved;
use super::geometry::{Convolution, FIRST_CACHE};
use super::max_pool::Unpool;
use crate::run_config::DeviceChoice;

impl FusedConvolution {
    /// Writes the gradient of the images as the convolution it is.
    pub fn mirror(&self, saved: Saved<'_>, x_gradient: &mut [f32]) {
        let Self {
            convolution,
            precision,
            ..
        } = *self;
        let mirrored = Self {
            convolution: convolution.mirrored(),
            pool: false,
            relu: false,
            precision,
        };
        mirrored.forward(
            saved.gradient,
            &convolution.mirror_weight(saved.weight),
            None,
            x_gradient,
            &mut [],
        );
    }

    /// One group's share of the gradients of weight (as `dense_gradient`) and, where there is one,
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
        let (row, taps, outputs) = (
            convolution.padded_row_len(),
            convolution.taps(),
            convolution.padded_outputs(),
        );
        let (height, run) = (convolution.out_height(), convolution.out_width());
        // As many rows at a time as stay in the first cache while all taps go over them.
        let strip = (FIRST_CACHE
            / (run * (stride * stride * channels + outputs.min(2 * S::F32_LANES))))
        .clamp(1, height);
        for output in (0..outputs).step_by(2 * S::F32_LANES) {
            let width = (outputs - output).min(2 * S::F32_LANES);
            for first in (0..height).step_by(strip) {
                let rows = strip.min(height - first);
                for tap in (0..taps).step_by(PIXELS) {
                    let count = (taps - tap).min(PIXELS);
                    let starts = std::array::from_fn(|index| {
                        let tap = tap + index.min(count - 1);
                        padded[(first * stride + tap / convolution.kernel_row_len()) * row
                            + tap % convolution.kernel_row_len()..]
                            .as_ptr()
                    });
                    let tile = Tile {
                        rows,
                        stride: stride * row,
                        run,
                        step: stride * channels,
                        panel: pixels[first * run * outputs + output..].as_ptr(),
                        panel_stride: outputs,
                        out: weight_gradient
                            [tap * outputs + output..(tap + count - 1) * outputs + output + width]
                            .as_mut_ptr(),
                        out_stride: outputs,
                        start: Start::Result,
                    };
                    // SAFETY: from each tap on, the image has a number for each of the result's
                    // pixels, `step` and `stride` apart; the result's gradient has a panel for each
                    // of its pixels; and the sums are this call's alone.
                    unsafe { tile.compute(simd, &starts, count, width / S::F32_LANES) };
                }
            }
        }
    }
}
