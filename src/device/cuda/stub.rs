//! Stand-in for `cuda` in builds without CUDA.

use candle_core::{CudaDevice, Device, Result};

use crate::profiler::DeviceEvents;

/// Whether this program was built with CUDA support.
pub const HAS_CUDA: bool = false;

pub fn open() -> Result<Device> {
    Device::new_cuda(0)
}

/// Does nothing: there is no such device.
#[expect(clippy::unnecessary_wraps, reason = "with CUDA it can fail")]
pub fn release_freed_memory(_: &CudaDevice) -> Result<()> {
    Ok(())
}

/// None: there is no such device.
#[expect(clippy::unnecessary_wraps, reason = "with CUDA it can fail")]
pub fn events(_: &CudaDevice) -> Result<Option<Box<dyn DeviceEvents>>> {
    Ok(None)
}
