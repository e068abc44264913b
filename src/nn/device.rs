//! Owns opening a device for tensors. Must not know which one is best, nor whether it computes rightly.

use std::panic::{AssertUnwindSafe, catch_unwind};

use candle_core::Device;

use crate::run_config::{ConfigProblem, DeviceChoice};

/// The device; an error with the reason where there is none, or this program was built without it.
pub fn open_device(choice: DeviceChoice) -> Result<Device, ConfigProblem> {
    let opened = match choice {
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(Device::Cpu),
        DeviceChoice::Cuda if cfg!(feature = "cuda") => guarded(|| Device::new_cuda(0)),
        DeviceChoice::Cuda => Err("This Inkling was built without CUDA.".to_owned()),
        DeviceChoice::Metal if cfg!(target_os = "macos") => guarded(|| Device::new_metal(0)),
        DeviceChoice::Metal => Err("Metal is Apple's; this machine has no Apple GPU.".to_owned()),
    };
    opened.map_err(|reason| ConfigProblem::DeviceUnavailable { device: choice, reason })
}

/// candle panics where a system has no such device (Metal before macOS 15, issue 3566).
fn guarded(open: impl FnOnce() -> candle_core::Result<Device>) -> Result<Device, String> {
    match catch_unwind(AssertUnwindSafe(open)) {
        Ok(opened) => opened.map_err(|error| error.to_string()),
        Err(_) => Err("The system's library for it broke.".to_owned()),
    }
}
