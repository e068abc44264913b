//! Opening an NVIDIA GPU so that it computes without needless synchronization.

#[cfg(all(any(target_os = "linux", windows), target_arch = "x86_64"))]
mod stand_ins;

use candle_core::cuda_backend::WrapErr;
use candle_core::cuda_backend::cudarc::driver::{CudaEvent, result as driver, sys};
use candle_core::{CudaDevice, Device, Result};

use crate::profiler::{DeviceEvents, EventError};

/// Whether this program was built with CUDA support.
pub const HAS_CUDA: bool = true;

/// Opens the first GPU with a single stream: all threads' work is done in the order in which it is
/// submitted.
pub fn open() -> Result<Device> {
    let device = CudaDevice::new_with_stream(0)?;
    // SAFETY: there is a single stream, so no events are needed to order its work.
    unsafe { device.disable_event_tracking() };
    keep_freed_memory(&device).w()?;
    Ok(Device::Cuda(device))
}

/// Stops the driver from returning freed memory to the system at every synchronization, only to
/// allocate it again.
fn keep_freed_memory(device: &CudaDevice) -> std::result::Result<(), driver::DriverError> {
    let Some(pool) = pool(device)? else {
        return Ok(());
    };
    let mut threshold = u64::MAX;
    // SAFETY: the pool is the device's own; the attribute is a 64-bit number.
    unsafe {
        driver::mem_pool::set_attribute(
            pool,
            sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
            (&raw mut threshold).cast(),
        )
    }
}

/// Returns freed memory to the system, for other programs.
pub fn release_freed_memory(device: &CudaDevice) -> Result<()> {
    match pool(device).w()? {
        // SAFETY: the pool is the device's own.
        Some(pool) => unsafe { driver::mem_pool::trim_to(pool, 0) }.w(),
        None => Ok(()),
    }
}

/// Events on the stream of a GPU.
struct Events {
    device: CudaDevice,
    marked: Vec<CudaEvent>,
}

/// Marks in a GPU's work, for the profiler. The GPU is idle when they are handed out.
pub fn events(device: &CudaDevice) -> Result<Option<Box<dyn DeviceEvents>>> {
    device.cuda_stream().synchronize().w()?;
    Ok(Some(Box::new(Events {
        device: device.clone(),
        marked: Vec::new(),
    })))
}

impl DeviceEvents for Events {
    fn mark(&mut self) -> std::result::Result<(), EventError> {
        let event = self
            .device
            .cuda_stream()
            .record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))?;
        self.marked.push(event);
        Ok(())
    }

    fn read(&self) -> std::result::Result<Vec<f64>, EventError> {
        let Some(first) = self.marked.first() else {
            return Ok(Vec::new());
        };
        self.marked
            .iter()
            .map(|event| Ok(f64::from(first.elapsed_ms(event)?) * 1e3))
            .collect()
    }
}

/// The device's memory pool, if it supports asynchronous allocation.
fn pool(
    device: &CudaDevice,
) -> std::result::Result<Option<sys::CUmemoryPool>, driver::DriverError> {
    let stream = device.cuda_stream();
    let context = stream.context();
    // SAFETY: the device exists, since it has a context.
    context
        .has_async_alloc()
        .then(|| unsafe { driver::device::get_default_mem_pool(context.cu_device()) })
        .transpose()
}
