//! Owns the map between pictures and the rows a convolution multiplies: one row of `kernel x kernel x channels` numbers
//! per output pixel. Must not know weights.

use std::ops::Range;

/// The sizes of one picture's convolution with stride 1. Pictures are `[height, width, channels]`.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Rows of the picture.
    pub height: usize,
    /// Columns of the picture.
    pub width: usize,
    /// Channels of the picture.
    pub channels: usize,
    /// Pixels along a side of the kernel.
    pub kernel: usize,
    /// Zero pixels around the picture.
    pub padding: usize,
}

impl Window {
    /// Rows of the output.
    pub const fn out_height(&self) -> usize {
        self.height + 2 * self.padding + 1 - self.kernel
    }

    /// Columns of the output.
    pub const fn out_width(&self) -> usize {
        self.width + 2 * self.padding + 1 - self.kernel
    }

    /// Pixels of the output.
    pub const fn out_pixels(&self) -> usize {
        self.out_height() * self.out_width()
    }

    /// Numbers in a row.
    pub const fn row_len(&self) -> usize {
        self.kernel * self.kernel * self.channels
    }

    /// Numbers in a picture.
    pub const fn picture_len(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// For one kernel row of one output pixel: where its numbers lie in the picture and in the run of `kernel x channels`
    /// numbers; both empty where the kernel lies wholly in the padding.
    fn run(&self, out_y: usize, out_x: usize, kernel_y: usize) -> (Range<usize>, Range<usize>) {
        let Some(y) = (out_y + kernel_y).checked_sub(self.padding).filter(|&y| y < self.height) else { return (0..0, 0..0) };
        let first = self.padding.saturating_sub(out_x);
        let last = (self.width + self.padding).saturating_sub(out_x).min(self.kernel);
        if last <= first {
            return (0..0, 0..0);
        }
        let from = (y * self.width + out_x + first - self.padding) * self.channels;
        (from..from + (last - first) * self.channels, first * self.channels..last * self.channels)
    }

    /// Fills `rows` (one per output pixel) from a picture.
    pub fn gather(&self, picture: &[f32], rows: &mut [f32]) {
        let run_len = self.kernel * self.channels;
        for (pixel, row) in rows.chunks_exact_mut(self.row_len()).enumerate() {
            let (out_y, out_x) = (pixel / self.out_width(), pixel % self.out_width());
            for (kernel_y, run) in row.chunks_exact_mut(run_len).enumerate() {
                let (source, place) = self.run(out_y, out_x, kernel_y);
                if place.len() < run_len {
                    run.fill(0.0);
                }
                run[place].copy_from_slice(&picture[source]);
            }
        }
    }

    /// The transpose of `gather`: adds every number of `rows` to the pixel it came from.
    pub fn scatter_add(&self, rows: &[f32], picture: &mut [f32]) {
        let run_len = self.kernel * self.channels;
        for (pixel, row) in rows.chunks_exact(self.row_len()).enumerate() {
            let (out_y, out_x) = (pixel / self.out_width(), pixel % self.out_width());
            for (kernel_y, run) in row.chunks_exact(run_len).enumerate() {
                let (source, place) = self.run(out_y, out_x, kernel_y);
                for (sum, &value) in picture[source].iter_mut().zip(&run[place]) {
                    *sum += value;
                }
            }
        }
    }
}
