//! What candle says went wrong, as data; apart from `error`, which is plain data that knows no candle.

use super::ComputeError;
use crate::device;

/// A tensor operation can fail only through a mistake of ours or a lack of memory; either way candle's words are all there is.
impl From<candle_core::Error> for ComputeError {
    fn from(error: candle_core::Error) -> Self {
        let message = device::words(&error);
        // CUDA says CUDA_ERROR_OUT_OF_MEMORY or "out of memory", cuBLAS CUBLAS_STATUS_ALLOC_FAILED, Metal "Insufficient Memory"; candle hands
        // on what they say.
        let said = message.to_lowercase().replace('_', " ");
        let is_short = ["out of memory", "alloc failed", "insufficient memory"].iter().any(|of| said.contains(of));
        if is_short { Self::OutOfMemory { message } } else { Self::Failed { message } }
    }
}
