//! GPU load, read by a process of its own: a driver that crashes or hangs there costs its figures
//! and nothing else. That process prints a line a second and is killed once nobody looks any more.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::Gpu;
use super::load::LoadSample;
use crate::system::process::ChildProcess;

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
    process: Option<Watched>,
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
        let state = self.process.as_ref().map(Watched::look);
        match state {
            Some(State::Answers(gpus)) => return gpus,
            Some(State::Failed) => (self.process, self.failed_at) = (None, Some(Instant::now())),
            Some(State::Idle) => self.process = None,
            None => {}
        }
        if self.process.is_none() && self.failed_at.is_none_or(|at| at.elapsed() >= RETRY_AFTER) {
            let started = Watched::start((self.program)());
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

struct Watched {
    process: ChildProcess,
    latest: Arc<Mutex<Latest>>,
}

struct Latest {
    state: State,
    printed: Instant,
    looked: Instant,
}

impl Watched {
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
        if let Err(error) = Builder::new().name("inkling-gpus".to_owned()).spawn(listen) {
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
