//! Owns what opening an NVIDIA GPU comes to in a program without CUDA.

use candle_core::{Device, Result};

/// An error.
pub fn open() -> Result<Device> {
    Device::new_cuda(0)
}
