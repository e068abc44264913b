//! The layouts of a convolution's weights. Parameters have `PyTorch`'s, `[out, in, size, size]`;
//! kernels read
//! - panels, `[outputs / 2 vectors][kernel row][row][2 vectors of outputs]` (forward), in bf16 with
//!   two numbers of a row side by side;
//! - rows, `[out][kernel row][row, filled up to whole vectors]` (gradients from lists of terms);
//! - dense, `[kernel row][row][outputs, filled up to whole vectors]` (the weights' gradient from a
//!   dense output gradient);
//! - mirrored, `[in, out, size, size]` turned by 180° (the input's gradient as a convolution).
//!
//! A row of the kernel is `size · channels` contiguous numbers of the image.

use rayon::prelude::*;

use super::super::microkernels::{Buffer, bf16, lanes};
use super::super::precision::round;
use super::geometry::Convolution;
use crate::profiler::RecordedIterator;
use crate::run_config::Precision;

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
                        panel[(row * run + index) * width + output] = weights[place]
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
                gradient[place] += dense[(row * self.kernel_row_len() + index) * outputs + output]
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
}
