//! Probing the hardware. Takes up to a few seconds if a driver is slow, so it must not be called on
//! the window's thread.
//!
//! NVIDIA GPUs are probed through NVML, the driver's own library, which is loaded at run time.
//! Without it there are no GPUs; a graphics card without a driver is reported. The Apple GPU is
//! probed without creating queues or buffers.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::TemperatureSensor;
use nvml_wrapper::error::NvmlError;
use sysinfo::{CpuRefreshKind, Disks, MemoryRefreshKind, RefreshKind, System};

use super::{Cpu, Gpu, Hardware, device_support};
use crate::device::{Library, cuda_folders, find_cuda_libraries, missing_cuda_libraries};
use crate::run_config::DeviceChoice;
#[cfg(target_os = "linux")]
use crate::system::files::read_limited;
use crate::system::process::run_within;
use crate::system::threads;
use crate::text::format::count;

/// The kernel's files about itself have a line or two.
#[cfg(target_os = "linux")]
const MAX_SYSTEM_FILE_BYTES: u64 = 4_096;
/// How long to wait for a driver before it counts as absent.
const DRIVER_TIMEOUT: Duration = Duration::from_secs(2);
/// The time limit of the process that probes drivers.
const SUBPROCESS_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs `program` (`inkling hardware --json`) with a time limit and returns what it finds. If it
/// crashes or hangs, a driver is to blame, and the result is what can be found without drivers.
pub fn probe_in_subprocess(program: Command, runs: &Path) -> Hardware {
    let ended = run_within(program, SUBPROCESS_TIMEOUT);
    let found = ended.as_ref().ok().and_then(|(output, _)| {
        output
            .lines()
            .find_map(|line| serde_json::from_str(line).ok())
    });
    found.unwrap_or_else(|| {
        let how = ended.map_or_else(|reason| reason, |(_, exit)| format!("it ended with {exit}"));
        Hardware {
            gpu_finding: Some(format!(
                "Probing the graphics driver failed: {how}. Reinstall the driver; until then, training runs on the CPU."
            )),
            ..probe_without_drivers(runs)
        }
    })
}

/// Probes everything that needs no driver.
fn probe_without_drivers(runs: &Path) -> Hardware {
    let (memory_total, memory_available) = memory().unwrap_or_default();
    let (system, cpu, disk_free) = (system(), probe_cpu(), disk_free(runs));
    Hardware {
        system,
        cpu,
        memory_total,
        memory_available,
        disk_free,
        ..Hardware::default()
    }
}

/// Probes this machine; the free disk space is on the disk with the folder `runs`.
pub fn probe(runs: &Path) -> Hardware {
    // Drivers are asked first, so that they answer while the rest is looked at.
    let asked = with_timeout(probe_gpus);
    #[cfg(target_os = "macos")]
    let metal = with_timeout(probe_metal);
    let rest = probe_without_drivers(runs);
    let (found, gpu_finding) = asked().unwrap_or_else(|| {
        let finding = "The NVIDIA driver did not respond within two seconds, so training runs on the CPU. If this keeps happening, restart the computer.";
        (Vec::new(), Some(finding.to_owned()))
    });
    let cuda_finding = match device_support(DeviceChoice::Cuda) {
        Err(reason) => found.first().map(|_| reason),
        Ok(()) => cuda_finding(&found, &find_cuda_libraries(&cuda_folders())),
    };
    Hardware {
        gpus: found,
        gpu_finding,
        cuda_finding,
        #[cfg(target_os = "macos")]
        metal: metal().flatten(),
        ..rest
    }
}

pub fn system() -> String {
    System::long_os_version()
        .ok()
        .or_else(|| System::name().ok())
        .unwrap_or_else(|| std::env::consts::OS.to_owned())
}

/// This machine in a few words, without probing drivers: "AMD EPYC 9B45, 2 cores, Linux (Debian
/// 12)".
pub fn machine() -> String {
    in_words(&probe_cpu(), &system())
}

/// A processor and a system in a few words.
pub(super) fn in_words(cpu: &Cpu, system: &str) -> String {
    let cores = count(cpu.usable_cores.into(), "core");
    format!("{}, {cores}, {system}", cpu.brand)
}

/// Total and available memory, in bytes.
fn memory() -> Option<(u64, u64)> {
    System::new_with_specifics(RefreshKind::nothing().with_memory(MemoryRefreshKind::everything()))
        .ok()
        .as_ref()
        .map(memory_of)
}

/// The same from the last refresh of `system`.
pub(super) fn memory_of(system: &System) -> (u64, u64) {
    // In a container the limit counts, not the machine.
    let limit = system
        .cgroup_limits()
        .filter(|limit| limit.total_memory > 0 && limit.total_memory < system.total_memory());
    limit.map_or_else(
        || (system.total_memory(), system.available_memory()),
        |limit| (limit.total_memory, limit.free_memory),
    )
}

/// Starts `ask` on a separate thread and returns a function that waits for its answer: if the
/// driver hangs or panics, there is none.
fn with_timeout<T: Send + 'static>(
    ask: impl FnOnce() -> T + Send + 'static,
) -> impl FnOnce() -> Option<T> {
    let (sender, answer) = channel();
    let asked = threads::spawn("inkling-probe", move || sender.send(ask()));
    move || {
        asked
            .ok()
            .and_then(|_| answer.recv_timeout(DRIVER_TIMEOUT).ok())
    }
}

/// Free space in bytes on the disk of `path`, or of the nearest folder above it that exists.
fn disk_free(path: &Path) -> Option<u64> {
    // On Windows the canonical form of a path begins differently from the names of disks.
    let resolved = |folder: &Path| {
        if cfg!(windows) {
            std::path::absolute(folder)
        } else {
            folder.canonicalize()
        }
    };
    let path = path.ancestors().find_map(|folder| resolved(folder).ok())?;
    Disks::new_with_refreshed_list()
        .ok()?
        .iter()
        .filter(|disk| path.starts_with(disk.mount_point()))
        .max_by_key(|disk| disk.mount_point().as_os_str().len())
        .map(sysinfo::Disk::available_space)
}

/// How long `sysctl` may take.
#[cfg(target_os = "macos")]
const SYSCTL_LIMIT: Duration = Duration::from_secs(2);

pub fn probe_cpu() -> Cpu {
    let system =
        System::new_with_specifics(RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing())).ok();
    let brand = system
        .as_ref()
        .and_then(|system| Some(system.cpus().first()?.brand().trim().to_owned()))
        .filter(|brand| !brand.is_empty());
    let (performance_cores, efficiency_cores) = core_kinds().unzip();
    Cpu {
        brand: brand.unwrap_or_else(|| format!("{} CPU", std::env::consts::ARCH)),
        physical_cores: System::physical_core_count().ok().map(|count| count as u32),
        usable_cores: usable_cores(),
        performance_cores,
        efficiency_cores,
        simd: simd().into_iter().map(str::to_owned).collect(),
    }
}

/// The number of threads that this process can run at once. Looked up once: on Linux that means
/// reading several files.
pub fn usable_cores() -> u32 {
    static CORES: LazyLock<u32> = LazyLock::new(|| {
        std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
    });
    *CORES
}

#[cfg(target_arch = "x86_64")]
fn simd() -> Vec<&'static str> {
    [
        (
            "AVX2",
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
        ),
        ("AVX-512", is_x86_feature_detected!("avx512f")),
        ("AVX-512 BF16", is_x86_feature_detected!("avx512bf16")),
    ]
    .into_iter()
    .filter_map(|(name, there)| there.then_some(name))
    .collect()
}

#[cfg(target_arch = "aarch64")]
fn simd() -> Vec<&'static str> {
    vec!["NEON"]
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn simd() -> Vec<&'static str> {
    Vec::new()
}

/// The numbers of performance and efficiency cores of a CPU that has both.
#[cfg(target_os = "linux")]
fn core_kinds() -> Option<(u32, u32)> {
    let count = |kind: &str| {
        let list = read_limited(
            &Path::new("/sys/devices").join(kind).join("cpus"),
            MAX_SYSTEM_FILE_BYTES,
        )
        .ok()?;
        let list = String::from_utf8(list).ok()?;
        list.trim()
            .split(',')
            .map(|range| {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                Some(last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)? + 1)
            })
            .sum::<Option<u32>>()
    };
    Some((count("cpu_core")?, count("cpu_atom")?))
}

#[cfg(target_os = "macos")]
fn core_kinds() -> Option<(u32, u32)> {
    let count = |level: &str| -> Option<u32> {
        let mut sysctl = Command::new("sysctl");
        sysctl.args(["-n", &format!("hw.{level}.physicalcpu")]);
        run_within(sysctl, SYSCTL_LIMIT).ok()?.0.trim().parse().ok()
    };
    Some((count("perflevel0")?, count("perflevel1")?))
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
const fn core_kinds() -> Option<(u32, u32)> {
    None
}

/// The CUDA version that Inkling is built with.
const CUDA: u32 = 13;

/// The GPUs, or a sentence why they cannot be used, if there is a reason.
fn probe_gpus() -> (Vec<Gpu>, Option<String>) {
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
    let is_nvidia_display = |folder: &Path| {
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
fn probe_metal() -> Option<super::Metal> {
    use objc2_metal::MTLDevice;
    let device = candle_metal_kernels::metal::Device::system_default()?;
    Some(super::Metal {
        name: device.as_ref().name().to_string(),
        unified_memory: device.as_ref().hasUnifiedMemory(),
        working_set: device.recommended_max_working_set_size() as u64,
    })
}
