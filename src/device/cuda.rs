//! Owns opening an NVIDIA GPU so that it computes without waiting. Must not know what it computes.

use candle_core::cuda_backend::WrapErr;
use candle_core::cuda_backend::cudarc::driver::{result as driver, sys};
use candle_core::{CudaDevice, Device, Result};

/// Opens the first GPU. Everything is done in the order in which it is asked for, whichever thread asks.
pub fn open() -> Result<Device> {
    let device = CudaDevice::new_with_stream(0)?;
    // SAFETY: there is a single stream, so that nothing has to wait for events.
    unsafe { device.disable_event_tracking() };
    keep_freed_memory(&device).w()?;
    Ok(Device::Cuda(device))
}

/// The driver would hand memory that was freed back to the system whenever somebody waits for the GPU, and ask for it again.
fn keep_freed_memory(device: &CudaDevice) -> std::result::Result<(), driver::DriverError> {
    let Some(pool) = pool(device)? else { return Ok(()) };
    let mut most = u64::MAX;
    // SAFETY: the pool is the device's own; the attribute is a 64-bit number.
    unsafe { driver::mem_pool::set_attribute(pool, sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, (&raw mut most).cast()) }
}

/// Hands memory that was freed back, for other programs.
pub fn release_freed_memory(device: &CudaDevice) -> Result<()> {
    match pool(device).w()? {
        // SAFETY: the pool is the device's own.
        Some(pool) => unsafe { driver::mem_pool::trim_to(pool, 0) }.w(),
        None => Ok(()),
    }
}

/// What memory comes from, where it does not come from the driver piece by piece.
fn pool(device: &CudaDevice) -> std::result::Result<Option<sys::CUmemoryPool>, driver::DriverError> {
    let stream = device.cuda_stream();
    let context = stream.context();
    // SAFETY: the device is there: it has a context.
    context.has_async_alloc().then(|| unsafe { driver::device::get_default_mem_pool(context.cu_device()) }).transpose()
}
