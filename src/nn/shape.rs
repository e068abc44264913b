//! What goes from one layer to the next, and the window of a convolution or a pooling layer.

use std::ops::Range;

use candle_core::Result;

use crate::ink::SIDE;

/// The shape of the tensor between two layers, for one image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `[height, width, channels]`.
    Image {
        /// Height and width.
        side: usize,
        /// Numbers of each pixel.
        channels: usize,
    },
    /// `[tokens, features]`.
    Tokens {
        /// Tokens in the sequence.
        tokens: usize,
        /// Numbers of each token.
        features: usize,
    },
    /// `[features]`.
    Features(usize),
}

impl Shape {
    /// The input of a network.
    pub const INPUT: Self = Self::Image {
        side: SIDE,
        channels: 1,
    };

    /// Height and width of an image; 1 for anything else.
    pub const fn side(self) -> usize {
        match self {
            Self::Image { side, .. } => side,
            Self::Tokens { .. } | Self::Features(_) => 1,
        }
    }

    /// Pixels or tokens.
    pub const fn places(self) -> usize {
        match self {
            Self::Image { side, .. } => side * side,
            Self::Tokens { tokens, .. } => tokens,
            Self::Features(_) => 1,
        }
    }

    /// The numbers at each place: channels or features.
    pub const fn width(self) -> usize {
        match self {
            Self::Image { channels, .. } => channels,
            Self::Tokens { features, .. } | Self::Features(features) => features,
        }
    }

    /// As many places with this many numbers each.
    #[must_use]
    pub const fn with_width(self, width: usize) -> Self {
        match self {
            Self::Image { side, .. } => Self::Image {
                side,
                channels: width,
            },
            Self::Tokens { tokens, .. } => Self::Tokens {
                tokens,
                features: width,
            },
            Self::Features(_) => Self::Features(width),
        }
    }

    /// All numbers.
    pub const fn values(self) -> usize {
        self.places() * self.width()
    }
}

/// A square window that moves over an image, as in `torch.nn.Conv2d` and its pooling layers
/// (dilation 1, sizes rounded down).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvGeometry {
    /// Pixels along a side.
    pub size: usize,
    /// Pixels from one position to the next.
    pub stride: usize,
    /// Pixels added at each edge.
    pub padding: usize,
}

impl ConvGeometry {
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

    /// The same for the layers of a network, whose windows fit.
    pub(super) const fn positions(self, input: usize) -> usize {
        (input + 2 * self.padding).saturating_sub(self.size) / self.stride + 1
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
