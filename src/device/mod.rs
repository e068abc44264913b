//! Opening devices for tensors, and the libraries that this takes. Which device is best, and
//! whether it computes correctly, is not decided here.

#[cfg_attr(not(feature = "cuda"), path = "cuda/stub.rs")]
mod cuda;
mod cuda_libraries;
mod process_memory;

use std::panic::{AssertUnwindSafe, catch_unwind};

use candle_core::Device;

pub use cuda::HAS_CUDA;
pub use cuda_libraries::{
    FOLDER_VARIABLE, Library, find as find_cuda_libraries, folders as cuda_folders,
    look_in as look_for_cuda_in, missing as missing_cuda_libraries,
};
pub use process_memory::{ProcessMemory, memory_held};

use crate::profiler::DeviceEvents;
use crate::run_config::{ConfigProblem, DeviceChoice};

/// Opens a device; the error gives the reason why it is not available.
pub fn open_device(choice: DeviceChoice) -> Result<Device, ConfigProblem> {
    let opened = match choice {
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(Device::Cpu),
        DeviceChoice::Cuda if HAS_CUDA => {
            match missing_cuda_libraries(&find_cuda_libraries(&cuda_folders())) {
                Some(missing) => Err(missing),
                None => guarded(cuda::open),
            }
        }
        DeviceChoice::Cuda => Err("This build of Inkling does not include CUDA.".to_owned()),
        DeviceChoice::Metal if cfg!(target_os = "macos") => guarded(|| Device::new_metal(0)),
        DeviceChoice::Metal => {
            Err("Metal needs an Apple GPU, and this machine has none.".to_owned())
        }
    };
    opened.map_err(|reason| ConfigProblem::DeviceUnavailable {
        device: choice,
        reason,
    })
}

/// candle panics if the system has no such device (Metal before macOS 15, issue 3566).
fn guarded(open: impl FnOnce() -> candle_core::Result<Device>) -> Result<Device, String> {
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(opened) => opened.map_err(|error| first_line(&error)),
        Err(_) => Err("The system library for this device crashed.".to_owned()),
    }
}

/// candle's error message, without the backtrace that it appends.
pub fn first_line(error: &candle_core::Error) -> String {
    error
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// What tells when a device was done with something, without waiting for it; `None` where a device
/// has nothing of the kind.
pub fn events_of(device: &Device) -> candle_core::Result<Option<Box<dyn DeviceEvents>>> {
    if let Device::Cuda(device) = device {
        cuda::events(device)
    } else {
        Ok(None)
    }
}

/// Returns memory that was freed on a device, but is kept for later use, to the system.
pub fn release_freed_memory(device: &Device) -> candle_core::Result<()> {
    if let Device::Cuda(device) = device {
        cuda::release_freed_memory(device)
    } else {
        Ok(())
    }
}
