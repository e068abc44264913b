//! Opening devices for tensors, the libraries that this takes, and the memory of processes. Which
//! device is best, and whether it computes correctly, is not decided here.

#[cfg_attr(not(feature = "cuda"), path = "cuda/stub.rs")]
mod cuda;
mod cuda_libraries;

use std::panic::{AssertUnwindSafe, catch_unwind};

use candle_core::Device;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

pub use cuda::HAS_CUDA;
pub use cuda_libraries::{
    FOLDER_VARIABLE, Library, find as find_cuda_libraries, folders as cuda_folders,
    look_in as look_for_cuda_in, missing as missing_cuda_libraries,
};

use crate::profiler::DeviceEvents;
use crate::run_config::{ConfigError, DeviceChoice};

/// Opens a device; the error is why it is not available.
pub fn open_device(choice: DeviceChoice) -> Result<Device, ConfigError> {
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
    opened.map_err(|reason| ConfigError::DeviceUnavailable {
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

/// Records when a device was done with something, without waiting for it; `None` if a device
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

/// The memory of this process, as the system reports it.
#[derive(Debug)]
pub struct ProcessMemory {
    system: Option<System>,
    bytes: u64,
}

impl Default for ProcessMemory {
    fn default() -> Self {
        Self {
            system: System::new().ok(),
            bytes: 0,
        }
    }
}

impl ProcessMemory {
    /// Resident memory of this process, in bytes; 0 if the system does not report it.
    pub fn bytes(&mut self) -> u64 {
        if let Some(system) = &mut self.system {
            self.bytes = memory_held(system, &[std::process::id()]).unwrap_or(self.bytes);
        }
        self.bytes
    }
}

/// Total resident memory of these process ids, in bytes; `None` if none of them is running.
pub fn memory_held(system: &mut System, processes: &[u32]) -> Option<u64> {
    let processes: Vec<Pid> = processes.iter().copied().map(Pid::from_u32).collect();
    system.refresh_processes_specifics(
        ProcessesToUpdate::Some(&processes),
        true,
        ProcessRefreshKind::nothing().with_memory(),
    );
    processes
        .iter()
        .filter_map(|&process| Some(system.process(process)?.memory()))
        .reduce(|all, one| all + one)
}
