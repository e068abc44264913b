//! Owns what opening an NVIDIA GPU comes to in a program without CUDA.

use candle_core::{CudaDevice, Device, Result};

/// An error.
pub fn open() -> Result<Device> {
    Device::new_cuda(0)
}

/// Nothing: there is no such device.
#[expect(clippy::unnecessary_wraps, reason = "with CUDA it can fail")]
pub fn release_freed_memory(_: &CudaDevice) -> Result<()> {
    Ok(())
}
