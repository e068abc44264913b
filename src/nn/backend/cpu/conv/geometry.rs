//! The sizes of a convolution, images with padding, and the layouts of weights. Parameters have
//! `PyTorch`'s, `[out, in, size, size]`; kernels read
//! - panels, `[outputs / 2 vectors][kernel row][row][2 vectors of outputs]` (forward), in bf16 with
//!   two numbers of a row side by side;
//! - rows, `[out][kernel row][row, filled up to whole vectors]` (gradients from lists of terms);
//! - dense, `[kernel row][row][outputs, filled up to whole vectors]` (the weights' gradient from a
//!   dense output gradient);
//! - mirrored, `[in, out, size, size]` turned by 180°, or phased, of a kernel for each phase of a stride
//!   (the input's gradient as a convolution).
//!
//! A row of the kernel is `size · channels` contiguous numbers of the image.

use rayon::prelude::*;

use super::super::matrix::round;
use super::super::microkernels::{Buffer, bf16, lanes};
use crate::profiler::RecordedIterator;
use crate::run_config::Precision;

/// Numbers that are gone through over and over, and so are kept to a part of the first-level cache.
pub const FIRST_CACHE: usize = 6 << 10;

/// The sizes of one image's convolution. Images are `[height, width, channels]`, weights
/// `[out, in, kernel, kernel]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    pub height: usize,
    pub width: usize,
    pub channels: usize,
    pub outputs: usize,
    /// Pixels along a side of the kernel.
    pub kernel: usize,
    /// Pixels from one place of the kernel to the next.
    pub stride: usize,
    /// Zero pixels around the image.
    pub padding: usize,
}

impl Convolution {
    pub const fn padded_height(&self) -> usize {
        self.height + 2 * self.padding
    }

    pub const fn padded_width(&self) -> usize {
        self.width + 2 * self.padding
    }

    pub const fn image_len(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// Numbers in a row of the padded image.
    pub const fn padded_row_len(&self) -> usize {
        self.padded_width() * self.channels
    }

    /// Numbers that a row of the kernel covers, one after the other.
    pub const fn kernel_row_len(&self) -> usize {
        self.kernel * self.channels
    }

    pub const fn out_height(&self) -> usize {
        (self.padded_height() - self.kernel) / self.stride + 1
    }

    pub const fn out_width(&self) -> usize {
        (self.padded_width() - self.kernel) / self.stride + 1
    }

    pub const fn weight_len(&self) -> usize {
        self.outputs * self.taps()
    }

    /// Outputs, filled up to whole vectors.
    pub fn padded_outputs(&self) -> usize {
        self.outputs.next_multiple_of(lanes())
    }

    /// A kernel row's run, filled up to whole vectors.
    pub fn padded_kernel_row_len(&self) -> usize {
        self.kernel_row_len().next_multiple_of(lanes())
    }

    /// Numbers in a padded image, with room for the last vector of its last row to reach over the
    /// end.
    pub fn padded_len(&self) -> usize {
        self.padded_height() * self.padded_row_len() + lanes()
    }

    /// The offset of the kernel's first element in the padded image, for the output's pixel
    /// `(y, x)`.
    pub const fn offset(&self, y: usize, x: usize) -> usize {
        y * self.stride * self.padded_row_len() + x * self.stride * self.channels
    }

    /// Numbers in the weights of one output.
    pub const fn taps(&self) -> usize {
        self.kernel * self.kernel_row_len()
    }

    /// Copies an image into the middle of a padded one, with zeros all around.
    pub fn pad(&self, image: &[f32], padded: &mut [f32], precision: Precision) {
        let row = self.width * self.channels;
        let mut end = 0;
        for (y, from) in image.chunks_exact(row).enumerate() {
            let start = self.row_start(y);
            padded[end..start].fill(0.0);
            end = start + row;
            let to = &mut padded[start..end];
            to.copy_from_slice(from);
            round(to, precision);
        }
        padded[end..].fill(0.0);
    }

    /// Copies the middle of a padded image out of it.
    pub fn unpad(&self, padded: &[f32], image: &mut [f32]) {
        let row = self.width * self.channels;
        for (y, to) in image.chunks_exact_mut(row).enumerate() {
            let start = self.row_start(y);
            to.copy_from_slice(&padded[start..start + row]);
        }
    }

    /// Where row `y` of the image starts in the padded one.
    pub const fn row_start(&self, y: usize) -> usize {
        (y + self.padding) * self.padded_row_len() + self.padding * self.channels
    }

    /// Rows of the result to compute at a time, so that what is between the convolution and what
    /// follows it stays in the first cache: the fewest (`step`) when the weights fit into it too,
    /// else all, so that the weights are not fetched again for each.
    pub fn strip(&self, step: usize) -> usize {
        if self.weight_len() <= FIRST_CACHE {
            step
        } else {
            self.out_height()
        }
    }

    /// The offset of the kernel in the padded image for each pixel of the output.
    pub fn offsets(&self) -> Vec<u32> {
        (0..self.out_height())
            .flat_map(|y| (0..self.out_width()).map(move |x| self.offset(y, x) as u32))
            .collect()
    }
}

/// Outputs below which packing weights is not worth another task.
const OUTPUTS: usize = 8;

impl Convolution {
    /// Calls `visit` with the place of each of one output's weights in `PyTorch`'s layout, its
    /// kernel row, and its place in that row's run.
    #[inline(always)]
    pub fn for_each_tap(&self, mut visit: impl FnMut(usize, usize, usize)) {
        for row in 0..self.kernel {
            for column in 0..self.kernel {
                for channel in 0..self.channels {
                    visit(
                        (channel * self.kernel + row) * self.kernel + column,
                        row,
                        column * self.channels + channel,
                    );
                }
            }
        }
    }

    /// The weights for `forward`: panels of two vectors of outputs (the last may be one), each
    /// `[kernel row, run, outputs]`.
    pub fn pack_panels(&self, weight: &[f32], precision: Precision) -> Buffer {
        let (panel, run) = (2 * lanes(), self.kernel_row_len());
        let mut panels = Buffer::zeros(self.padded_outputs() * self.taps());
        panels
            .par_chunks_mut(panel * self.taps())
            .zip(weight.par_chunks(panel * self.taps()))
            .for_each_recorded(|(panel, weights)| {
                let width = panel.len() / self.taps();
                for (output, weights) in weights.chunks_exact(self.taps()).enumerate() {
                    self.for_each_tap(|place, row, index| {
                        panel[(row * run + index) * width + output] = weights[place];
                    });
                }
                round(panel, precision);
            });
        panels
    }

    /// Whether products of this precision are the CPU's own bf16 ones: kernel rows are then taken
    /// in pairs of numbers.
    pub fn takes_pairs(&self, precision: Precision) -> bool {
        precision == Precision::Bf16 && self.kernel_row_len().is_multiple_of(2) && bf16::is_native()
    }

    /// The panels of `pack_panels`, rounded to bf16, as `[kernel row, run / 2, outputs]` pairs.
    pub fn pair_panels(&self, panels: &[f32]) -> Vec<u32> {
        let (rows, lanes) = (self.kernel * self.kernel_row_len(), lanes());
        let pair = |[low, high]: [f32; 2]| {
            u32::from(bf16::bits_of(low)) | u32::from(bf16::bits_of(high)) << 16
        };
        let panels = panels.chunks(2 * lanes * rows).flat_map(|panel| {
            let width = panel.len() / rows;
            panel.chunks_exact(2 * width).flat_map(move |rows| {
                (0..width).map(move |output| [rows[output], rows[width + output]])
            })
        });
        panels.map(pair).collect()
    }

    /// Numbers in the weights of one output as `pack_rows` lays them out.
    pub fn output_rows(&self) -> usize {
        self.kernel * self.padded_kernel_row_len()
    }

    /// Numbers in a weight as `pack_rows` lays it out.
    pub fn rows_len(&self) -> usize {
        self.outputs * self.output_rows()
    }

    /// The weights for the gradient of the image: `[outputs, kernel row, run]`, each run filled up
    /// with zeros.
    pub fn pack_rows(&self, weight: &[f32], precision: Precision) -> Buffer {
        let run = self.padded_kernel_row_len();
        let mut rows = Buffer::zeros(self.rows_len());
        let outputs = rows
            .par_chunks_mut(self.output_rows())
            .zip(weight.par_chunks(self.taps()));
        outputs
            .with_min_len(OUTPUTS)
            .for_each_recorded(|(rows, weights)| {
                self.for_each_tap(|place, row, index| rows[row * run + index] = weights[place]);
                round(rows, precision);
            });
        rows
    }

    /// Adds a gradient in the layout of `pack_rows` to one in `PyTorch`'s.
    pub fn unpack_rows(&self, rows: &[f32], gradient: &mut [f32]) {
        let run = self.padded_kernel_row_len();
        let outputs = rows
            .par_chunks(self.output_rows())
            .zip(gradient.par_chunks_mut(self.taps()));
        outputs
            .with_min_len(OUTPUTS)
            .for_each_recorded(|(rows, gradient)| {
                self.for_each_tap(|place, row, index| gradient[place] += rows[row * run + index]);
            });
    }

    /// Numbers in a weight as `dense_gradient` lays it out.
    pub fn dense_len(&self) -> usize {
        self.taps() * self.padded_outputs()
    }

    /// Adds a gradient in the layout of `dense_gradient` to one in `PyTorch`'s.
    pub fn unpack_dense(&self, dense: &[f32], gradient: &mut [f32]) {
        let outputs = self.padded_outputs();
        for (output, gradient) in gradient.chunks_exact_mut(self.taps()).enumerate() {
            self.for_each_tap(|place, row, index| {
                gradient[place] += dense[(row * self.kernel_row_len() + index) * outputs + output];
            });
        }
    }

    /// Whether the gradient of the image is a convolution too, `mirrored`.
    pub const fn has_mirror(&self) -> bool {
        self.stride == 1 && self.padding < self.kernel
    }

    /// The convolution that makes the gradient of the image of the result's gradient.
    pub const fn mirrored(&self) -> Self {
        let (channels, outputs, padding) =
            (self.outputs, self.channels, self.kernel - 1 - self.padding);
        Self {
            height: self.out_height(),
            width: self.out_width(),
            channels,
            outputs,
            padding,
            ..*self
        }
    }

    /// The weight of `mirrored`: each kernel turned by half a turn, inputs and outputs exchanged,
    /// in `PyTorch`'s layout.
    pub fn mirror_weight(&self, weight: &[f32]) -> Vec<f32> {
        let places = self.kernel * self.kernel;
        let mut mirrored = vec![0.0; weight.len()];
        for (output, kernels) in weight.chunks_exact(self.taps()).enumerate() {
            for (channel, kernel) in kernels.chunks_exact(places).enumerate() {
                let to = &mut mirrored[(channel * self.outputs + output) * places..][..places];
                to.iter_mut()
                    .rev()
                    .zip(kernel)
                    .for_each(|(to, from)| *to = *from);
            }
        }
        mirrored
    }

    /// Phases in each direction: pixels of the image that are a stride apart meet the same weights of
    /// the kernel. If the stride is larger than the kernel, pixels of further phases meet none.
    const fn phases(&self) -> usize {
        if self.stride < self.kernel {
            self.stride
        } else {
            self.kernel
        }
    }

    /// The convolution that makes the gradient of the image of the result's gradient if it has no
    /// mirror: the channels of a pixel are those of one pixel of each phase (a sub-pixel
    /// convolution: Shi et al. 2016).
    pub const fn phased(&self) -> Self {
        let kernel = self.kernel.div_ceil(self.stride);
        Self {
            height: self.out_height(),
            width: self.out_width(),
            channels: self.outputs,
            outputs: self.phases() * self.phases() * self.channels,
            kernel,
            stride: 1,
            padding: kernel - 1,
        }
    }

    /// The weight of `phased`, in `PyTorch`'s layout.
    pub fn phased_weight(&self, weight: &[f32]) -> Vec<f32> {
        let (phased, phases) = (self.phased(), self.phases());
        let places = phased.kernel * phased.kernel;
        let mut to = vec![0.0; phased.outputs * self.outputs * places];
        for (index, &value) in weight.iter().enumerate() {
            let (x, y) = (index % self.kernel, index / self.kernel % self.kernel);
            let channel = index / (self.kernel * self.kernel) % self.channels;
            let output = index / self.taps();
            let phase = y % self.stride * phases + x % self.stride;
            let turned = |at: usize| phased.kernel - 1 - at / self.stride;
            let place = turned(y) * phased.kernel + turned(x);
            to[((phase * self.channels + channel) * self.outputs + output) * places + place] =
                value;
        }
        to
    }

    /// Writes an image from what `phased` makes of it.
    pub fn interleave(&self, from: &[f32], image: &mut [f32]) {
        let (phased, phases) = (self.phased(), self.phases());
        let place = |at: usize, len: usize| {
            let (pixel, phase) = (
                (at + self.padding) / self.stride,
                (at + self.padding) % self.stride,
            );
            (pixel < len && phase < phases).then_some((pixel, phase))
        };
        for (y, row) in image
            .chunks_exact_mut(self.width * self.channels)
            .enumerate()
        {
            let row_place = place(y, phased.out_height());
            for (x, to) in row.chunks_exact_mut(self.channels).enumerate() {
                let Some(((row, row_phase), (col, col_phase))) =
                    row_place.zip(place(x, phased.out_width()))
                else {
                    to.fill(0.0);
                    continue;
                };
                let start = (row * phased.out_width() + col) * phased.outputs
                    + (row_phase * phases + col_phase) * self.channels;
                to.copy_from_slice(&from[start..start + self.channels]);
            }
        }
    }
}
