//! The sizes of a convolution, and images with padding.

use super::super::microkernels::lanes;
use super::super::precision::round;
use crate::run_config::Precision;

/// Numbers that are gone through over and over, and so are kept to a part of the first-level cache.
pub const FIRST_CACHE: usize = 6 << 10;

/// The sizes of one image's convolution. Images are `[height, width, channels]`, weights
/// `[out, in, kernel, kernel]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    /// Rows of the image.
    pub height: usize,
    /// Columns of the image.
    pub width: usize,
    /// Channels of the image.
    pub channels: usize,
    /// Channels of the output.
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

    /// Numbers in an image.
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

    /// Rows of the output.
    pub const fn out_height(&self) -> usize {
        (self.padded_height() - self.kernel) / self.stride + 1
    }

    /// Columns of the output.
    pub const fn out_width(&self) -> usize {
        (self.padded_width() - self.kernel) / self.stride + 1
    }

    /// Numbers in a weight.
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
