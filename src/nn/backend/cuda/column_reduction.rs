//! Sums over the rows of `[rows, channels]`: a block for each chunk of rows, whose partial sums are
//! reduced in a fixed order.

use candle_core::cuda_backend::cudarc::driver::LaunchConfig;
use candle_core::{DType, Result, Tensor};

use super::launch::launch;
use super::memory::{Uninit, empty, gpu};

/// A chunk has at least this many rows,
const MIN_ROWS: usize = 64;
/// and there are at most this many chunks.
const MAX_CHUNKS: usize = 512;

/// What is reduced, and how it is cut into chunks.
#[derive(Clone, Copy)]
pub struct ColumnReduction {
    pub rows: usize,
    pub channels: usize,
}

impl ColumnReduction {
    /// How many chunks. None is empty: all but the last have `rows / chunks` rows, rounded up.
    pub fn chunks(self) -> usize {
        self.rows
            .div_ceil(self.rows.div_ceil(MAX_CHUNKS).max(MIN_ROWS))
    }

    /// A block of 256 threads for up to 32 channels of a chunk.
    pub fn blocks(self) -> LaunchConfig {
        self.config(self.chunks() as u32, 256)
    }

    /// A block of 1,024 threads for up to 32 channels of all chunks.
    pub fn final_blocks(self) -> LaunchConfig {
        self.config(1, 1024)
    }

    fn config(self, chunks: u32, threads: u32) -> LaunchConfig {
        let columns = (self.channels as u32).next_power_of_two().min(32);
        LaunchConfig {
            grid_dim: ((self.channels as u32).div_ceil(columns), chunks, 1),
            block_dim: (columns, threads / columns, 1),
            shared_mem_bytes: 0,
        }
    }

    /// Memory for two partial results of each channel and chunk.
    pub fn partials(self, like: &Tensor) -> Result<[Uninit; 2]> {
        let partials = || empty((self.chunks(), self.channels), DType::F32, like);
        Ok([partials()?, partials()?])
    }

    /// Two sums of each channel, from the partial sums that `launch_sums` has a kernel write.
    ///
    /// # Safety
    /// `launch_sums` launches a kernel that writes both tensors.
    pub unsafe fn two_sums(
        self,
        like: &Tensor,
        launch_sums: impl FnOnce(&Uninit, &Uninit) -> Result<()>,
    ) -> Result<[Tensor; 2]> {
        let [first, second] = self.partials(like)?;
        launch_sums(&first, &second)?;
        let sums = [
            empty(self.channels, DType::F32, like)?,
            empty(self.channels, DType::F32, like)?,
        ];
        // SAFETY: the partial sums are `[chunks, channels]` and written; a thread for each channel
        // writes both sums.
        unsafe {
            launch!(
                gpu(like)?,
                "reduce_partials",
                self.final_blocks(),
                first,
                second,
                sums[0],
                sums[1],
                self.channels,
                self.chunks()
            );
            Ok(sums.map(|sums| sums.assume_init()))
        }
    }
}
