//! Owns live readings of GPUs by a process of its own: a driver that crashes or hangs there costs its figures and nothing else. That process
//! says a line a second and is ended once nobody looks any more. Must not know what the figures mean.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use super::Gpu;
use super::live::Reading;

/// How long it may say nothing: a driver that has to wake several GPUs first takes some seconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// Nobody looks any more when nobody did for this long.
const UNWATCHED: Duration = Duration::from_secs(5);
/// One that broke is tried again after this long.
const AGAIN: Duration = Duration::from_secs(30);

/// GPUs, as another process reads them.
pub(super) struct Apart {
    program: Box<dyn Fn() -> Command + Send>,
    process: Option<Process>,
    broke: Option<Instant>,
}

impl Apart {
    /// Nothing is started before somebody looks.
    pub fn new(program: impl Fn() -> Command + Send + 'static) -> Self {
        Self { program: Box::new(program), process: None, broke: None }
    }

    /// The newest reading, which never has to be waited for; nothing before the first, and none of a driver that does not answer.
    pub fn gpus(&mut self) -> Vec<Gpu> {
        let state = self.process.as_ref().map(Process::look);
        match state {
            Some(State::Answers(gpus)) => return gpus,
            Some(State::Broke) => (self.process, self.broke) = (None, Some(Instant::now())),
            Some(State::Left) => self.process = None,
            None => {}
        }
        if self.process.is_none() && self.broke.is_none_or(|broke| broke.elapsed() >= AGAIN) {
            let started = Process::start((self.program)());
            self.broke = started.is_err().then(Instant::now);
            self.process = started.inspect_err(|error| tracing::info!(%error, "GPUs cannot be watched")).ok();
        }
        Vec::new()
    }
}

/// How it is with such a process.
#[derive(Clone, Debug)]
enum State {
    Answers(Vec<Gpu>),
    /// It was ended because nobody looked.
    Left,
    /// It ended by itself, or says nothing.
    Broke,
}

struct Process {
    child: Arc<Mutex<Child>>,
    heard: Arc<Mutex<Heard>>,
}

struct Heard {
    state: State,
    spoke: Instant,
    looked: Instant,
}

impl Process {
    fn start(mut program: Command) -> io::Result<Self> {
        let mut child = program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdout = child.stdout.take();
        let now = Instant::now();
        let child = Arc::new(Mutex::new(child));
        let heard = Arc::new(Mutex::new(Heard { state: State::Answers(Vec::new()), spoke: now, looked: now }));
        let process = Self { child: Arc::clone(&child), heard: Arc::clone(&heard) };
        let listen = move || {
            let left = stdout.is_some_and(|stdout| listen(stdout, &heard));
            lock(&heard).state = if left { State::Left } else { State::Broke };
            end(&child);
            // One that is gone already needs no waiting for.
            let _ = lock(&child).wait();
        };
        if let Err(error) = Builder::new().name("inkling-gpus".to_owned()).spawn(listen) {
            end(&process.child);
            return Err(error);
        }
        Ok(process)
    }

    fn look(&self) -> State {
        let mut heard = lock(&self.heard);
        heard.looked = Instant::now();
        if matches!(heard.state, State::Answers(_)) && heard.spoke.elapsed() > PATIENCE {
            heard.state = State::Broke;
            // Its line closes, and whoever listens there sees to the rest.
            end(&self.child);
        }
        heard.state.clone()
    }
}

/// Takes in what is said until that ends, or nobody looks any more: true in the latter case.
fn listen(stdout: impl Read, heard: &Mutex<Heard>) -> bool {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let Ok(Reading { gpus, .. }) = serde_json::from_str(&line) else { continue };
        let mut heard = lock(heard);
        if heard.looked.elapsed() > UNWATCHED {
            return true;
        }
        (heard.state, heard.spoke) = (State::Answers(gpus), Instant::now());
    }
    false
}

fn end(child: &Mutex<Child>) {
    // One that is gone already cannot be ended, and need not be.
    let _ = lock(child).kill();
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
