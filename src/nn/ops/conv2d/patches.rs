//! Owns the map between pictures and the rows a convolution multiplies: one row of `size x size x channels` numbers per
//! place of the kernel. Must not know weights.

use candle_core::Result;

use crate::nn::ops::sliding::Kernel;

/// The sizes of one picture's convolution. Pictures are `[height, width, channels]`.
#[derive(Clone, Copy, Debug)]
pub struct Patches {
    kernel: Kernel,
    height: usize,
    width: usize,
    channels: usize,
    /// Rows of the result.
    pub out_height: usize,
    /// Columns of the result.
    pub out_width: usize,
}

impl Patches {
    /// The patches of this kernel on such pictures.
    pub fn new(kernel: Kernel, height: usize, width: usize, channels: usize) -> Result<Self> {
        Ok(Self { kernel, height, width, channels, out_height: kernel.places(height)?, out_width: kernel.places(width)? })
    }

    /// Rows of a picture.
    pub const fn places(&self) -> usize {
        self.out_height * self.out_width
    }

    /// Numbers in a row.
    pub const fn row_len(&self) -> usize {
        self.kernel.size * self.kernel.size * self.channels
    }

    /// Numbers in a picture.
    pub const fn picture_len(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// True where the rows are the picture's pixels themselves.
    pub fn is_identity(&self) -> bool {
        self.kernel == Kernel { size: 1, stride: 1, padding: 0 }
    }

    /// Fills `rows` from a picture, zeros where the kernel reaches beyond it.
    pub fn gather(&self, picture: &[f32], rows: &mut [f32]) {
        let run_len = self.kernel.size * self.channels;
        for (place, row) in rows.chunks_exact_mut(self.row_len()).enumerate() {
            let (ys, first_row) = self.kernel.cover(place / self.out_width, self.height);
            let (xs, first_col) = self.kernel.cover(place % self.out_width, self.width);
            if ys.len() * xs.len() < self.kernel.size * self.kernel.size {
                row.fill(0.0);
            }
            let (start, len) = (first_col * self.channels, xs.len() * self.channels);
            for (y, run) in ys.zip(row.chunks_exact_mut(run_len).skip(first_row)) {
                let from = (y * self.width + xs.start) * self.channels;
                run[start..start + len].copy_from_slice(&picture[from..from + len]);
            }
        }
    }

    /// The transpose of `gather`: adds every number of `rows` to the pixel it came from.
    pub fn scatter_add(&self, rows: &[f32], picture: &mut [f32]) {
        let run_len = self.kernel.size * self.channels;
        for (place, row) in rows.chunks_exact(self.row_len()).enumerate() {
            let (ys, first_row) = self.kernel.cover(place / self.out_width, self.height);
            let (xs, first_col) = self.kernel.cover(place % self.out_width, self.width);
            let (start, len) = (first_col * self.channels, xs.len() * self.channels);
            for (y, run) in ys.zip(row.chunks_exact(run_len).skip(first_row)) {
                let from = (y * self.width + xs.start) * self.channels;
                let pixels = &mut picture[from..from + len];
                pixels.iter_mut().zip(&run[start..start + len]).for_each(|(sum, value)| *sum += value);
            }
        }
    }
}
