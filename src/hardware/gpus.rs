//! Probing NVIDIA GPUs through NVML, the driver's own library, which is loaded at run time. Without
//! it there are no GPUs; a graphics card without a driver is reported. The Apple GPU is probed
//! without creating queues or buffers.

use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::TemperatureSensor;
use nvml_wrapper::error::NvmlError;

use super::Gpu;
#[cfg(target_os = "linux")]
use super::MAX_SYSTEM_FILE_BYTES;
use crate::device::{Library, missing_cuda_libraries};
#[cfg(target_os = "linux")]
use crate::system::files::read_limited;

/// The CUDA version that Inkling is built with.
const CUDA: u32 = 13;

/// The GPUs, or a sentence why they cannot be used, if there is a reason.
pub(super) fn probe() -> (Vec<Gpu>, Option<String>) {
    match Nvml::init().and_then(|nvml| list(&nvml)) {
        Ok(gpus) => (gpus, None),
        Err(NvmlError::LibloadingError(_)) => (Vec::new(), card_without_driver()),
        Err(error) => {
            let finding = format!(
                "The NVIDIA driver is installed but does not respond ({error}). Restart the computer if the driver was updated recently; otherwise \
                 reinstall it. Until then, training runs on the CPU."
            );
            (Vec::new(), Some(finding))
        }
    }
}

/// A connection to the driver for repeated readings.
pub(super) struct Driver(Option<Nvml>);

impl Driver {
    /// Connects to the installed driver, if there is one.
    pub fn connect() -> Self {
        Self(Nvml::init().ok())
    }

    /// The current state of its GPUs; empty if the driver does not respond.
    pub fn gpus(&self) -> Vec<Gpu> {
        self.0
            .as_ref()
            .and_then(|nvml| list(nvml).ok())
            .unwrap_or_default()
    }
}

/// The message for a driver that did not respond in time.
pub(super) fn timed_out() -> String {
    "The NVIDIA driver did not respond within two seconds, so training runs on the CPU. If this keeps happening, restart the computer."
        .to_owned()
}

/// Why these GPUs cannot be used with `libraries`, the most basic reason first, as one or two
/// sentences; `None` if they can.
pub fn cuda_finding(gpus: &[Gpu], libraries: &[Library]) -> Option<String> {
    let first = gpus.first()?;
    let major = first
        .cuda
        .split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok())
        .unwrap_or(0);
    if major < CUDA {
        return Some(format!(
            "Driver {} supports CUDA {}, but Inkling needs CUDA {CUDA}. Install driver 580 or newer.",
            first.driver, first.cuda
        ));
    }
    missing_cuda_libraries(libraries)
}

/// The message for a probe whose process crashed or hung.
pub(super) fn probe_failed(how: &str) -> String {
    format!(
        "Probing the graphics driver failed: {how}. Reinstall the driver; until then, training runs on the CPU."
    )
}

fn list(nvml: &Nvml) -> Result<Vec<Gpu>, NvmlError> {
    let driver = nvml.sys_driver_version()?;
    let cuda = nvml.sys_cuda_driver_version()?;
    (0..nvml.device_count()?)
        .map(|index| {
            let device = nvml.device_by_index(index)?;
            let memory = device.memory_info()?;
            let capability = device.cuda_compute_capability()?;
            Ok(Gpu {
                name: device.name()?,
                memory_total: memory.total,
                memory_free: memory.free,
                driver: driver.clone(),
                cuda: format!("{}.{}", cuda / 1000, cuda % 1000 / 10),
                compute_capability: format!("{}.{}", capability.major, capability.minor),
                temperature: device.temperature(TemperatureSensor::Gpu).ok(),
                power: device
                    .power_usage()
                    .ok()
                    .map(|milliwatts| milliwatts as f32 / 1000.0),
                utilization: device
                    .utilization_rates()
                    .ok()
                    .map(|percent| percent.gpu as f32 / 100.0),
            })
        })
        .collect()
}

#[cfg(target_os = "linux")]
fn card_without_driver() -> Option<String> {
    let is_nvidia_display = |folder: &std::path::Path| {
        let read = |name: &str| {
            read_limited(&folder.join(name), MAX_SYSTEM_FILE_BYTES).unwrap_or_default()
        };
        read("vendor").trim_ascii() == b"0x10de" && read("class").starts_with(b"0x03")
    };
    std::fs::read_dir("/sys/bus/pci/devices").ok()?.filter_map(Result::ok).any(|entry| is_nvidia_display(&entry.path())).then(|| {
        "This machine has an NVIDIA graphics card but no NVIDIA driver. Install the driver your system offers to use the card; until then, \
         training runs on the CPU."
            .to_owned()
    })
}

#[cfg(not(target_os = "linux"))]
const fn card_without_driver() -> Option<String> {
    None
}

#[cfg(target_os = "macos")]
pub(super) fn probe_metal() -> Option<super::Metal> {
    use objc2_metal::MTLDevice;
    let device = candle_metal_kernels::metal::Device::system_default()?;
    Some(super::Metal {
        name: device.as_ref().name().to_string(),
        unified_memory: device.as_ref().hasUnifiedMemory(),
        working_set: device.recommended_max_working_set_size() as u64,
    })
}
