//! Probing the hardware. Takes up to a few seconds if a driver is slow, so it must not be called on
//! the window's thread.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::mpsc::channel;
use std::time::Duration;

use sysinfo::{CpuRefreshKind, Disks, MemoryRefreshKind, RefreshKind, System};

#[cfg(target_os = "linux")]
use super::MAX_SYSTEM_FILE_BYTES;
use super::{Cpu, Hardware, device_support, gpus};
use crate::device::{cuda_folders, find_cuda_libraries};
use crate::run_config::DeviceChoice;
#[cfg(target_os = "linux")]
use crate::system::files::read_limited;
use crate::system::process::run_within;
use crate::system::threads;
use crate::text::format::count;

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
            gpu_finding: Some(gpus::probe_failed(&how)),
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

/// Probes this machine; the free disk space is that of the disk with the folder `runs`.
pub fn probe(runs: &Path) -> Hardware {
    // Drivers are asked first, so that they answer while the rest is looked at.
    let asked = with_timeout(gpus::probe);
    #[cfg(target_os = "macos")]
    let metal = with_timeout(gpus::probe_metal);
    let rest = probe_without_drivers(runs);
    let (found, gpu_finding) = asked().unwrap_or_else(|| (Vec::new(), Some(gpus::timed_out())));
    let cuda_finding = match device_support(DeviceChoice::Cuda) {
        Err(reason) => found.first().map(|_| reason),
        Ok(()) => gpus::cuda_finding(&found, &find_cuda_libraries(&cuda_folders())),
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

/// Starts `ask` on a thread of its own and returns a function that waits for its answer: if the
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
    // On Windows the canonical form of a path begins otherwise than those of disks.
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
