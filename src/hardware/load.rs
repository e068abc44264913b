//! The current load of this machine: how busy its CPU and GPUs are, and how full their memory is.
//! Never read it on the window's thread: a reading can take a quarter of a second, and a driver can hang.

use std::process::Command;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sysinfo::{MINIMUM_CPU_UPDATE_INTERVAL, System};

use super::subprocess::GpuSubprocess;
use super::{Gpu, nvidia, probe};
use crate::device::memory_held;

/// How busy a processor is is told over the time since the last reading; after more than this it is measured anew.
const STALE: Duration = Duration::from_secs(3);

/// What this machine is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadSample {
    /// Share of all cores that is busy, with the work of every program, 0 to 1.
    pub processor: f32,
    /// Memory of the machine, in bytes.
    pub memory_total: u64,
    /// Memory not in use, in bytes.
    pub memory_available: u64,
    /// Resident memory of the processes that were asked for, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_memory: Option<u64>,
    /// NVIDIA GPUs, as far as they were asked for and answer.
    pub gpus: Vec<Gpu>,
}

/// What is looked at besides processor and memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// Processes whose memory counts, by their numbers.
    pub processes: Vec<u32>,
    /// True for NVIDIA GPUs.
    pub gpus: bool,
}

/// Takes readings, one after the other.
pub struct Meter {
    /// `None` where the system tells nothing.
    system: Option<System>,
    last: Option<Instant>,
    gpus: Box<dyn FnMut() -> Vec<Gpu> + Send>,
}

impl Meter {
    /// One that asks the GPU's driver itself, for a process that a driver may break.
    pub fn with_drivers() -> Self {
        let driver = nvidia::Driver::connect();
        Self::new(move || driver.gpus())
    }

    /// One that leaves GPUs to another process, `program`: `inkling hardware --watch --json`. It runs only while GPUs are looked at.
    pub fn with_drivers_in_subprocess(program: impl Fn() -> Command + Send + 'static) -> Self {
        let mut subprocess = GpuSubprocess::new(program);
        Self::new(move || subprocess.gpus())
    }

    fn new(gpus: impl FnMut() -> Vec<Gpu> + Send + 'static) -> Self {
        Self { system: System::new().ok(), last: None, gpus: Box::new(gpus) }
    }

    /// How things stand.
    pub fn read(&mut self, watched: &Watched) -> LoadSample {
        let gpus = if watched.gpus { (self.gpus)() } else { Vec::new() };
        let Some(system) = &mut self.system else { return LoadSample { gpus, ..LoadSample::default() } };
        if self.last.is_none_or(|last| last.elapsed() > STALE) {
            system.refresh_cpu_usage();
            std::thread::sleep(MINIMUM_CPU_UPDATE_INTERVAL);
        }
        system.refresh_cpu_usage();
        self.last = Some(Instant::now());
        system.refresh_memory();
        let (memory_total, memory_available) = probe::memory_of(system);
        let processor = (system.global_cpu_usage() / 100.0).clamp(0.0, 1.0);
        LoadSample { processor, memory_total, memory_available, process_memory: memory_held(system, &watched.processes), gpus }
    }
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter").field("last", &self.last).finish_non_exhaustive()
    }
}
