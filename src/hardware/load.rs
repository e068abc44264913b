//! The current load of this machine: how busy its CPU and GPUs are, and how full their memory is;
//! and how busy other programs keep the CPU while this one measures something. Never sample it on
//! the window's thread: a sample can take a quarter of a second, and a driver can hang.
//!
//! GPUs can be read by a separate process: a driver that crashes or hangs there costs its figures
//! and nothing else. That process prints a line a second and is killed once nobody looks any more.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sysinfo::{MINIMUM_CPU_UPDATE_INTERVAL, Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use super::{Gpu, probe};
use crate::device::memory_held;
use crate::system::process::ChildProcess;
use crate::system::threads::{self, lock};

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

/// Devices to sample besides CPU and memory.
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
        let driver = probe::Driver::connect();
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

/// How long it may print nothing: a driver that has to wake several GPUs first takes some seconds.
const HANG_TIMEOUT: Duration = Duration::from_secs(10);
/// It is killed when nobody looked for this long.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// One that failed is started again after this long.
const RETRY_AFTER: Duration = Duration::from_secs(30);
/// Bytes of the longest line that is read: a machine with many GPUs prints a few kilobytes.
const MAX_LINE_BYTES: u64 = 1 << 20;
/// How long one that was killed may take to be gone.
const GRACE: Duration = Duration::from_secs(10);

pub(super) struct GpuSubprocess {
    program: Box<dyn Fn() -> Command + Send>,
    process: Option<GpuProcess>,
    failed_at: Option<Instant>,
}

impl GpuSubprocess {
    /// Nothing is started before somebody looks.
    pub fn new(program: impl Fn() -> Command + Send + 'static) -> Self {
        Self {
            program: Box::new(program),
            process: None,
            failed_at: None,
        }
    }

    /// The newest reading, without waiting; empty before the first, and while the driver does not
    /// answer.
    pub fn gpus(&mut self) -> Vec<Gpu> {
        let state = self.process.as_ref().map(GpuProcess::look);
        match state {
            Some(State::Answers(gpus)) => return gpus,
            Some(State::Failed) => (self.process, self.failed_at) = (None, Some(Instant::now())),
            Some(State::Idle) => self.process = None,
            None => {}
        }
        if self.process.is_none() && self.failed_at.is_none_or(|at| at.elapsed() >= RETRY_AFTER) {
            let started = GpuProcess::start((self.program)());
            self.failed_at = started.is_err().then(Instant::now);
            self.process = started
                .inspect_err(|error| tracing::info!(%error, "GPUs cannot be watched"))
                .ok();
        }
        Vec::new()
    }
}

#[derive(Clone, Debug)]
enum State {
    Answers(Vec<Gpu>),
    /// It was killed because nobody looked.
    Idle,
    /// It ended by itself, or prints nothing.
    Failed,
}

struct GpuProcess {
    process: ChildProcess,
    latest: Arc<Mutex<Latest>>,
}

struct Latest {
    state: State,
    printed: Instant,
    looked: Instant,
}

impl GpuProcess {
    fn start(program: Command) -> io::Result<Self> {
        let (process, _, stdout) = ChildProcess::spawn(program, Stdio::null())?;
        let now = Instant::now();
        let latest = Arc::new(Mutex::new(Latest {
            state: State::Answers(Vec::new()),
            printed: now,
            looked: now,
        }));
        let watched = Self {
            process: process.clone(),
            latest: Arc::clone(&latest),
        };
        let listen = move || {
            let state = if listen(stdout, &latest) {
                State::Idle
            } else {
                State::Failed
            };
            lock(&latest).state = state;
            process.kill();
            process.wait(GRACE);
        };
        if let Err(error) = threads::spawn("inkling-gpus", listen) {
            watched.process.kill();
            return Err(error);
        }
        Ok(watched)
    }

    fn look(&self) -> State {
        let mut latest = lock(&self.latest);
        latest.looked = Instant::now();
        if matches!(latest.state, State::Answers(_)) && latest.printed.elapsed() > HANG_TIMEOUT {
            latest.state = State::Failed;
            // Its output closes, and the thread that listens there ends.
            self.process.kill();
        }
        latest.state.clone()
    }
}

/// Takes in what is printed until that ends, a line is too long, or nobody looks any more: true in
/// the last case.
fn listen(stdout: impl Read, latest: &Mutex<Latest>) -> bool {
    let (mut stdout, mut line) = (BufReader::new(stdout), Vec::new());
    loop {
        line.clear();
        if stdout
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)
            .is_err()
            || !line.ends_with(b"\n")
        {
            return false;
        }
        let Ok(LoadSample { gpus, .. }) = serde_json::from_slice(&line) else {
            continue;
        };
        let mut latest = lock(latest);
        if latest.looked.elapsed() > IDLE_TIMEOUT {
            return true;
        }
        (latest.state, latest.printed) = (State::Answers(gpus), Instant::now());
    }
}

/// The load of the CPU by all processes but this one.
pub struct BackgroundLoad {
    /// `None` if the system is not supported.
    system: Option<System>,
    since: Instant,
    /// The CPU time of this process until then, in milliseconds.
    own: u64,
}

impl BackgroundLoad {
    pub fn start() -> Self {
        let mut load = Self {
            system: System::new().ok(),
            since: Instant::now(),
            own: 0,
        };
        load.measure();
        load
    }

    /// The mean load since the last call that gave one, as a fraction of all cores from 0 to 1;
    /// `None` if that was too short a time ago, or the system does not tell.
    pub fn measure(&mut self) -> Option<f32> {
        let system = self.system.as_mut()?;
        let elapsed = self.since.elapsed();
        if self.own > 0 && elapsed < MINIMUM_CPU_UPDATE_INTERVAL {
            return None;
        }
        system.refresh_cpu_usage();
        let this = Pid::from_u32(std::process::id());
        system.refresh_processes_specifics(
            ProcessesToUpdate::Some(&[this]),
            false,
            ProcessRefreshKind::nothing().with_cpu(),
        );
        let own = system.process(this)?.accumulated_cpu_time();
        let cores = system.cpus().len().max(1) as f32;
        let ours =
            own.saturating_sub(self.own) as f32 / 1e3 / elapsed.as_secs_f32().max(1e-3) / cores;
        let all = system.global_cpu_usage() / 100.0;
        (self.own, self.since) = (own.max(1), Instant::now());
        Some((all - ours).clamp(0.0, 1.0))
    }
}
