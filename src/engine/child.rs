//! Owns an engine in a process of its own, at the end of a handle like any other: whatever becomes of that process, the caller gets a
//! last event that says so. Must not know what the engine does.
//!
//! Four threads, none of which the caller ever waits for: one writes commands, one reads events, one keeps the last words the process
//! says on its standard error, and one watches over all of them.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command as Program, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::event_sink::EventSink;
use super::handle::{EngineHandle, EngineSettings, EngineSide};
use super::wire::{self, Handshake};
use crate::problem::EngineExit;
use crate::protocol::{Command, Event};
use crate::system::process;

/// How long an engine may be silent before it counts as hung: longer than anything it does between two looks at its commands.
pub const HANG_TIMEOUT: Duration = Duration::from_secs(30);
/// Looks at the engine within that time. Counted instead of the clock: a machine that slept has not waited.
const PINGS: u32 = 8;
/// Lines of its standard error that are kept.
const STDERR_LINES: usize = 8;
/// How long an engine that was told to end, or has closed its line, may take to be gone.
const GRACE: Duration = Duration::from_secs(10);

impl EngineHandle {
    /// Starts an engine as a child process: `program` is `inkling engine`, or whatever speaks like it. Where that fails, or ends in any
    /// way that was not asked for, [`Event::EngineExited`] is the last event. `patience` is how long it may be silent.
    pub fn child(program: Program, settings: EngineSettings, patience: Duration, wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (handle, side) = Self::pair(wake);
        let events = side.events.fork();
        let number = Arc::clone(&handle.process);
        let open = move || ChildEngine::open(program, &settings, side, &number).watch(patience);
        let spawned = Builder::new().name("inkling-child".to_owned()).spawn(open);
        if let Err(error) = spawned {
            let reason = error.to_string();
            events.send(Event::EngineExited(EngineExit::NotStarted { reason }));
        }
        handle
    }
}

/// What is shared by the threads around one child.
struct ChildEngine {
    events: EventSink,
    child: io::Result<Child>,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    alive: Arc<AtomicBool>,
    /// True once the caller asked for the end, or dropped its handle.
    ending: Arc<AtomicBool>,
    ended: Receiver<Option<EngineExit>>,
    stderr_tail: Option<JoinHandle<String>>,
}

impl ChildEngine {
    /// Starts the child and the threads that write and read.
    fn open(mut program: Program, settings: &EngineSettings, side: EngineSide, number: &OnceLock<u32>) -> Self {
        let EngineSide { commands, events } = side;
        let child = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        if let Ok(child) = &child {
            number.get_or_init(|| child.id());
        }
        let (over, ended) = channel();
        let mut line =
            Self { events, child, stdin: Arc::default(), alive: Arc::default(), ending: Arc::default(), ended, stderr_tail: None };
        if let Err(error) = line.start_threads(settings, commands, over)
            && line.child.is_ok()
        {
            line.kill();
            line.child = Err(error);
        }
        line
    }

    fn start_threads(
        &mut self,
        settings: &EngineSettings,
        commands: Receiver<Command>,
        over: Sender<Option<EngineExit>>,
    ) -> io::Result<()> {
        let Ok(child) = &mut self.child else { return Ok(()) };
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let thread = |name: &str| Builder::new().name(format!("inkling-child-{name}"));
        if let Some(stderr) = stderr {
            self.stderr_tail = Some(thread("words").spawn(move || stderr_tail(stderr))?);
        }
        if let Some(stdout) = stdout {
            let (events, alive) = (self.events.fork(), Arc::clone(&self.alive));
            thread("events").spawn(move || {
                // A receiver that is gone has seen the end by itself.
                let _ = over.send(take_events(stdout, &events, &alive));
            })?;
        }
        *self.stdin.lock().unwrap_or_else(PoisonError::into_inner) = stdin;
        let (stdin, ending, settings) = (Arc::clone(&self.stdin), Arc::clone(&self.ending), settings.clone());
        thread("commands").spawn(move || {
            let mut open = with(&stdin, |pipe| wire::send_handshake(pipe).and_then(|()| wire::write(pipe, &settings)));
            while let Ok(command) = commands.recv() {
                ending.fetch_or(command == Command::Shutdown, Ordering::Relaxed);
                // To an engine that is gone nothing can be said; the thread that reads finds out why.
                open = open && with(&stdin, |pipe| wire::write(pipe, &command));
            }
            ending.store(true, Ordering::Relaxed);
            // Without a caller the engine ends.
            stdin.lock().unwrap_or_else(PoisonError::into_inner).take();
        })?;
        Ok(())
    }

    /// Waits for the end, whichever way it comes, and reports it.
    fn watch(mut self, patience: Duration) {
        if let Err(error) = &self.child {
            return self.events.send(Event::EngineExited(EngineExit::NotStarted { reason: error.to_string() }));
        }
        let mut silent = 0;
        let mut hung = false;
        let loss = loop {
            match self.ended.recv_timeout(patience / PINGS) {
                Ok(loss) => break loss,
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            silent = if self.alive.swap(false, Ordering::Relaxed) { 0 } else { silent + 1 };
            if silent >= PINGS {
                hung = true;
                self.kill();
            } else {
                self.ping();
            }
        };
        if loss.is_some() {
            // It is alive, but of no use.
            self.kill();
        }
        let status = self.reap();
        let words = self.stderr_tail.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        if self.ending.load(Ordering::Relaxed) {
            return;
        }
        self.events.send(Event::EngineExited(match loss {
            _ if hung => EngineExit::Hung { seconds: patience.as_secs() as u32 },
            Some(loss) => loss,
            None => EngineExit::Ended { status: status.map_or_else(|| "no status".to_owned(), |status| status.to_string()), words },
        }));
    }

    /// Asks for a sign of life, unless a command is stuck in the pipe: then silence says enough.
    fn ping(&self) {
        if let Ok(mut stdin) = self.stdin.try_lock()
            && let Some(pipe) = stdin.as_mut()
        {
            // That the pipe is broken shows at its other end.
            let _ = wire::write(pipe, &Command::Ping);
        }
    }

    fn kill(&mut self) {
        if let Ok(child) = &mut self.child {
            // One that is gone already cannot be killed, and need not be.
            let _ = child.kill();
        }
    }

    /// Waits until the process is gone, not forever.
    fn reap(&mut self) -> Option<ExitStatus> {
        let child = self.child.as_mut().ok()?;
        // One that had to be ended has a status as well.
        process::wait(child, GRACE).or_else(|| child.wait().ok())
    }
}

/// Writes to the pipe; false when it is closed.
fn with(stdin: &Mutex<Option<ChildStdin>>, write: impl FnOnce(&mut ChildStdin) -> io::Result<()>) -> bool {
    let mut stdin = stdin.lock().unwrap_or_else(PoisonError::into_inner);
    stdin.as_mut().is_some_and(|pipe| write(pipe).is_ok())
}

/// Passes events on until there are no more; gives what was wrong, if it was something else than the end of the process.
fn take_events(stdout: impl Read, events: &EventSink, alive: &AtomicBool) -> Option<EngineExit> {
    let mut stdout = BufReader::new(stdout);
    let garbled =
        |error: io::Error| (error.kind() == io::ErrorKind::InvalidData).then(|| EngineExit::Garbled { reason: error.to_string() });
    match wire::recv_handshake(&mut stdout) {
        Ok(Some(theirs)) if theirs != Handshake::ours() => {
            return Some(EngineExit::Version { ours: Handshake::ours().program, theirs: theirs.program });
        }
        Ok(Some(_)) => alive.store(true, Ordering::Relaxed),
        Ok(None) => return None,
        Err(error) => return garbled(error),
    }
    loop {
        match wire::read(&mut stdout) {
            Ok(Some(event)) => {
                alive.store(true, Ordering::Relaxed);
                if event != Event::Pong {
                    events.send(event);
                }
            }
            Ok(None) => return None,
            Err(error) => return garbled(error),
        }
    }
}

/// The last lines of what was said.
fn stderr_tail(stderr: impl Read) -> String {
    let mut lines = VecDeque::new();
    for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).into_owned();
        tracing::info!(target: "inkling::engine::child", "{line}");
        if lines.len() == STDERR_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
    Vec::from(lines).join("\n").trim().to_owned()
}
