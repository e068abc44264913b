//! Probing the hardware. Takes up to a few seconds if a driver is slow, so it must not be called on
//! the window's thread.

use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use sysinfo::{Disks, MemoryRefreshKind, RefreshKind, System};

use super::{Cpu, Hardware, cpu, device_support, nvidia};
use crate::device::{cuda_folders, find_cuda_libraries};
use crate::run_config::DeviceChoice;
use crate::system::process::run_within;

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
            gpu_finding: Some(nvidia::probe_failed(&how)),
            ..probe_without_drivers(runs)
        }
    })
}

/// Probes everything that needs no driver.
fn probe_without_drivers(runs: &Path) -> Hardware {
    let (memory_total, memory_available) = memory().unwrap_or_default();
    let (system, cpu, disk_free) = (system(), cpu::probe(), disk_free(runs));
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
    let gpus = with_timeout(nvidia::probe);
    #[cfg(target_os = "macos")]
    let metal = with_timeout(super::metal::probe);
    let rest = probe_without_drivers(runs);
    let (gpus, gpu_finding) = gpus().unwrap_or_else(|| (Vec::new(), Some(nvidia::timed_out())));
    let cuda_finding = match device_support(DeviceChoice::Cuda) {
        Err(reason) => gpus.first().map(|_| reason),
        Ok(()) => nvidia::cuda_finding(&gpus, &find_cuda_libraries(&cuda_folders())),
    };
    Hardware {
        gpus,
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
    in_words(&cpu::probe(), &system())
}

/// A processor and a system in a few words.
pub(super) fn in_words(cpu: &Cpu, system: &str) -> String {
    let cores = if cpu.usable_cores == 1 {
        "1 core".to_owned()
    } else {
        format!("{} cores", cpu.usable_cores)
    };
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
    let asked = std::thread::Builder::new()
        .name("inkling-probe".to_owned())
        .spawn(move || sender.send(ask()));
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
