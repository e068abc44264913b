//! The window of a convolution or a pooling layer.

use std::ops::Range;

use candle_core::Result;

/// A square window that moves over an image, as in `torch.nn.Conv2d` and its pooling layers
/// (dilation 1, sizes rounded down).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Pixels along a side.
    pub size: usize,
    /// Pixels from one position to the next.
    pub stride: usize,
    /// Pixels added at each edge.
    pub padding: usize,
}

impl Window {
    /// 2x2 with stride 2.
    pub const HALVING: Self = Self {
        size: 2,
        stride: 2,
        padding: 0,
    };

    /// Positions along a side of `input` pixels: the size of the output.
    pub fn output_size(self, input: usize) -> Result<usize> {
        let Self {
            size,
            stride,
            padding,
        } = self;
        match (input + 2 * padding).checked_sub(size) {
            Some(free) if size > 0 && stride > 0 => Ok(free / stride + 1),
            _ => candle_core::bail!("{self:?} does not fit {input} pixels"),
        }
    }

    /// Along one side of `input` pixels: which pixels the window covers at a position, and which
    /// row (or column) of the window the first of them falls on.
    pub(super) fn cover(self, position: usize, input: usize) -> (Range<usize>, usize) {
        let start = position * self.stride;
        let last = (start + self.size).saturating_sub(self.padding).min(input);
        let first = start.saturating_sub(self.padding).min(last);
        (
            first..last,
            (first + self.padding).saturating_sub(start).min(self.size),
        )
    }
}
