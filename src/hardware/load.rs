//! The current load of this machine: how busy its CPU and GPUs are, and how full their memory is.
//! Never sample it on the window's thread: a sample can take a quarter of a second, and a driver
//! can hang.

use std::process::Command;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sysinfo::{MINIMUM_CPU_UPDATE_INTERVAL, System};

use super::subprocess::GpuSubprocess;
use super::{Gpu, nvidia, probe};
use crate::device::memory_held;

/// CPU load is measured over the time since the last sample; after longer than this the measurement
/// starts anew.
const MAX_AGE: Duration = Duration::from_secs(3);

/// The load of this machine at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadSample {
    /// Load of all cores by all programs, 0 to 1.
    pub processor: f32,
    /// Total memory, in bytes.
    pub memory_total: u64,
    /// Available memory, in bytes.
    pub memory_available: u64,
    /// Resident memory of the watched processes, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_memory: Option<u64>,
    /// NVIDIA GPUs, if they are watched and the driver responds.
    pub gpus: Vec<Gpu>,
}

/// What to sample besides CPU and memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// The ids of the processes whose memory is summed.
    pub processes: Vec<u32>,
    /// Whether to sample NVIDIA GPUs.
    pub gpus: bool,
}

pub struct Meter {
    /// `None` if the system is not supported.
    system: Option<System>,
    last: Option<Instant>,
    gpus: Box<dyn FnMut() -> Vec<Gpu> + Send>,
}

impl Meter {
    /// Queries the GPU driver in this process, which must be one that may crash with it.
    pub fn with_drivers() -> Self {
        let driver = nvidia::Driver::connect();
        Self::new(move || driver.gpus())
    }

    /// Leaves GPUs to another process, `program`: `inkling hardware --watch --json`. It runs only
    /// while GPUs are watched.
    pub fn with_drivers_in_subprocess(program: impl Fn() -> Command + Send + 'static) -> Self {
        let mut subprocess = GpuSubprocess::new(program);
        Self::new(move || subprocess.gpus())
    }

    fn new(gpus: impl FnMut() -> Vec<Gpu> + Send + 'static) -> Self {
        Self {
            system: System::new().ok(),
            last: None,
            gpus: Box::new(gpus),
        }
    }

    pub fn sample(&mut self, watched: &Watched) -> LoadSample {
        let gpus = if watched.gpus {
            (self.gpus)()
        } else {
            Vec::new()
        };
        let Some(system) = &mut self.system else {
            return LoadSample {
                gpus,
                ..LoadSample::default()
            };
        };
        if self.last.is_none_or(|last| last.elapsed() > MAX_AGE) {
            system.refresh_cpu_usage();
            std::thread::sleep(MINIMUM_CPU_UPDATE_INTERVAL);
        }
        system.refresh_cpu_usage();
        self.last = Some(Instant::now());
        system.refresh_memory();
        let (memory_total, memory_available) = probe::memory_of(system);
        let processor = (system.global_cpu_usage() / 100.0).clamp(0.0, 1.0);
        LoadSample {
            processor,
            memory_total,
            memory_available,
            process_memory: memory_held(system, &watched.processes),
            gpus,
        }
    }
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter")
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}
