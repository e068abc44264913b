#[cfg(target_os = "linux")]
use std::path::Path;
use std::sync::LazyLock;

use sysinfo::{CpuRefreshKind, RefreshKind, System};

use super::Cpu;
#[cfg(target_os = "linux")]
use super::MAX_SYSTEM_FILE_BYTES;
#[cfg(target_os = "linux")]
use crate::system::files::read_limited;
#[cfg(target_os = "macos")]
use crate::system::process::run_within;

/// How long `sysctl` may take.
#[cfg(target_os = "macos")]
const SYSCTL_LIMIT: std::time::Duration = std::time::Duration::from_secs(2);

pub fn probe() -> Cpu {
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
        let mut sysctl = std::process::Command::new("sysctl");
        sysctl.args(["-n", &format!("hw.{level}.physicalcpu")]);
        run_within(sysctl, SYSCTL_LIMIT).ok()?.0.trim().parse().ok()
    };
    Some((count("perflevel0")?, count("perflevel1")?))
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
const fn core_kinds() -> Option<(u32, u32)> {
    None
}
