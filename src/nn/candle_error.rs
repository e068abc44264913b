//! What candle says went wrong, as data; apart from `error`, which is plain data that knows no
//! candle.

use super::ComputeError;
use crate::device;

/// A tensor operation fails only because of a bug or a lack of memory; candle's message is all
/// there is to tell which.
impl From<candle_core::Error> for ComputeError {
    fn from(error: candle_core::Error) -> Self {
        let message = device::first_line(&error);
        // CUDA says CUDA_ERROR_OUT_OF_MEMORY or "out of memory", cuBLAS CUBLAS_STATUS_ALLOC_FAILED,
        // Metal "Insufficient Memory"; candle hands on what they say.
        let said = message.to_lowercase().replace('_', " ");
        let is_short = ["out of memory", "alloc failed", "insufficient memory"]
            .iter()
            .any(|of| said.contains(of));
        if is_short {
            Self::OutOfMemory { message }
        } else {
            Self::Failed { message }
        }
    }
}
