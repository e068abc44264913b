//! Owns sums over the rows of `[rows, channels]` on a GPU: stripes of rows side by side, joined in a fixed order. Must not know what is summed.

use candle_core::cuda_backend::cudarc::driver::LaunchConfig;
use candle_core::{DType, Result, Tensor};

use super::gpu::{gpu, launch, place, room};

/// Rows that one block sums, at least, and the most stripes that rows are cut into.
const ROWS: usize = 256;
const STRIPES: usize = 512;

/// How rows are cut.
#[derive(Clone, Copy)]
pub struct Stripes {
    pub rows: usize,
    pub channels: usize,
}

impl Stripes {
    /// None of which is empty, since all but the last are as high as rows divided by their number, rounded up.
    pub fn count(self) -> usize {
        self.rows.div_ceil(self.rows.div_ceil(STRIPES).max(ROWS))
    }

    /// A block for 32 channels of a stripe.
    pub fn blocks(self) -> LaunchConfig {
        LaunchConfig { grid_dim: ((self.channels as u32).div_ceil(32), self.count() as u32, 1), block_dim: (32, 8, 1), shared_mem_bytes: 0 }
    }

    /// A block for 32 channels of all stripes.
    pub fn joining(self) -> LaunchConfig {
        LaunchConfig { grid_dim: ((self.channels as u32).div_ceil(32), 1, 1), ..self.blocks() }
    }

    /// Room for two numbers of each channel and stripe.
    pub fn room(self, beside: &Tensor) -> Result<[Tensor; 2]> {
        let room = || room((self.count(), self.channels), DType::F32, beside);
        Ok([room()?, room()?])
    }

    /// Two sums for each channel, of which `launched` computes each stripe's, into the places it is given.
    pub fn two_sums(self, beside: &Tensor, launched: impl FnOnce(u64, u64) -> Result<()>) -> Result<[Tensor; 2]> {
        let [first, second] = self.room(beside)?;
        let parts = (place(&first)?, place(&second)?);
        launched(parts.0, parts.1)?;
        let sums = [room(self.channels, DType::F32, beside)?, room(self.channels, DType::F32, beside)?];
        let (whole, channels) = ((place(&sums[0])?, place(&sums[1])?), self.channels as u32);
        launch!(gpu(beside)?, "join_sums", self.joining(), parts.0, parts.1, whole.0, whole.1, channels, self.count() as u32);
        Ok(sums)
    }
}
