//! Owns the geometry of kernels that slide over pictures: sizes of results and which pixels a place covers.
//! Must not know what is computed there.

use std::ops::Range;

use candle_core::Result;

/// A square window that moves over a picture, as in `torch.nn.Conv2d` and its pooling (dilation 1, sizes rounded down).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Pixels along a side.
    pub size: usize,
    /// Pixels from one place to the next.
    pub stride: usize,
    /// Pixels added at each edge.
    pub padding: usize,
}

impl Kernel {
    /// Places along a side of so many pixels.
    pub fn places(self, side: usize) -> Result<usize> {
        let Self { size, stride, padding } = self;
        match (side + 2 * padding).checked_sub(size) {
            Some(room) if size > 0 && stride > 0 => Ok(room / stride + 1),
            _ => candle_core::bail!("{self:?} does not fit {side} pixels"),
        }
    }

    /// Along one side: which pixels a place covers, and which of the kernel's own rows (or columns) the first of them meets.
    pub(super) fn cover(self, place: usize, side: usize) -> (Range<usize>, usize) {
        let start = place * self.stride;
        let last = (start + self.size).saturating_sub(self.padding).min(side);
        let first = start.saturating_sub(self.padding).min(last);
        (first..last, (first + self.padding).saturating_sub(start).min(self.size))
    }
}
