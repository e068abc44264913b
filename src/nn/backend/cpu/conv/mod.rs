//! Convolution with whatever is fused to it, forward and backward, over a batch of images in
//! memory.
//!
//! `geometry` knows sizes and padding, `layouts` the layouts of weights; `forward` goes through the
//! images with the kernel of `forward_kernel` and the pooling of `max_pool`; `backward` chooses
//! between `dense` and `sparse` gradients (from the lists of `terms`).

mod backward;
mod dense;
mod forward;
mod forward_kernel;
mod geometry;
mod layouts;
mod max_pool;
mod op;
mod sparse;
mod terms;

pub use op::conv2d;

use self::geometry::Convolution;
use crate::run_config::Precision;

/// A convolution and what is fused with it, over a batch of images.
#[derive(Clone, Copy, Debug)]
pub struct FusedConvolution {
    /// Its sizes.
    pub convolution: Convolution,
    /// Whether 2x2 max-pooling with stride 2 follows.
    pub pool: bool,
    /// Whether a `ReLU` follows.
    pub relu: bool,
    /// What the operands of its products are rounded to.
    pub precision: Precision,
}

impl FusedConvolution {
    /// Rows and columns of one image's result.
    const fn output_size(&self) -> (usize, usize) {
        let (height, width) = (self.convolution.out_height(), self.convolution.out_width());
        if self.pool {
            (height / 2, width / 2)
        } else {
            (height, width)
        }
    }

    /// Numbers in one image's result.
    const fn output_len(&self) -> usize {
        let (height, width) = self.output_size();
        height * width * self.convolution.outputs
    }
}
