//! An engine in a separate process, at the end of a handle like any other: whatever becomes of
//! that process, the caller gets a last event about it.
//!
//! Three threads, none of which the caller ever waits for: one writes commands, one reads events,
//! and one watches over both. The process is watched as every child of this program is
//! ([`crate::system::process`]).

use std::io::{self, BufReader, Read};
use std::process::{ChildStdin, ChildStdout, Command as Program, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::Duration;

use super::handle::{EngineHandle, EngineSettings, EngineSide, EventSink};
use super::wire::{self, Handshake};
use crate::protocol::{Command, EngineExit, Event, Urgency};
use crate::system::process::{ChildProcess, ignoring_ctrl_c};
use crate::system::threads;

/// How long an engine may be silent before it counts as hung: longer than anything it does between
/// two looks at its commands.
pub const HANG_TIMEOUT: Duration = Duration::from_secs(30);
/// Pings within that time. They are counted instead of the clock, because a machine that slept has
/// not waited.
const PINGS: u32 = 8;
/// How long an engine that was asked to end, or has closed its pipe, may take to exit.
const GRACE: Duration = Duration::from_secs(10);

impl EngineHandle {
    /// Starts an engine as a child process: `program` is `inkling engine`, or whatever speaks like
    /// it. If that fails, or ends in any way that was not asked for, [`Event::EngineExited`] is
    /// the last event. `patience` is how long it may be silent.
    pub fn child(
        program: Program,
        settings: EngineSettings,
        patience: Duration,
        wake: impl Fn(Urgency) + Send + Sync + 'static,
    ) -> Self {
        let (handle, EngineSide { commands, events }) = Self::pair(wake);
        let (not_spawned, not_opened) = (events.fork(), events.fork());
        let number = Arc::clone(&handle.process);
        let open = move || {
            let opened = ChildProcess::spawn(ignoring_ctrl_c(program), Stdio::piped()).and_then(
                |(process, stdin, stdout)| {
                    number.get_or_init(|| process.id());
                    ChildEngine::open(process, stdin, stdout, &settings, commands, events)
                },
            );
            match opened {
                Ok(engine) => engine.watch(patience),
                Err(error) => not_opened.send(not_started(&error)),
            }
        };
        if let Err(error) = threads::spawn("inkling-child", open) {
            not_spawned.send(not_started(&error));
        }
        handle
    }
}

fn not_started(error: &io::Error) -> Event {
    Event::EngineExited(EngineExit::NotStarted {
        reason: error.to_string(),
    })
}

/// The state that the threads around one child share.
struct ChildEngine {
    events: EventSink,
    process: ChildProcess,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    alive: Arc<AtomicBool>,
    /// True once the caller asked for the end, or dropped its handle.
    ending: Arc<AtomicBool>,
    ended: Receiver<Option<EngineExit>>,
}

impl ChildEngine {
    /// Starts the threads that write and read.
    fn open(
        process: ChildProcess,
        stdin: Option<ChildStdin>,
        stdout: ChildStdout,
        settings: &EngineSettings,
        commands: Receiver<Command>,
        events: EventSink,
    ) -> io::Result<Self> {
        let (over, ended) = channel();
        let engine = Self {
            events,
            process,
            stdin: Arc::new(Mutex::new(stdin)),
            alive: Arc::default(),
            ending: Arc::default(),
            ended,
        };
        engine
            .start_threads(stdout, settings, commands, over)
            .inspect_err(|_| engine.process.kill())?;
        Ok(engine)
    }

    fn start_threads(
        &self,
        stdout: ChildStdout,
        settings: &EngineSettings,
        commands: Receiver<Command>,
        over: Sender<Option<EngineExit>>,
    ) -> io::Result<()> {
        let thread = |name: &str| Builder::new().name(format!("inkling-child-{name}"));
        let (events, alive) = (self.events.fork(), Arc::clone(&self.alive));
        thread("events").spawn(move || {
            // A receiver that is gone has seen the end by itself.
            let _ = over.send(take_events(stdout, &events, &alive));
        })?;
        let (stdin, ending, settings) = (
            Arc::clone(&self.stdin),
            Arc::clone(&self.ending),
            settings.clone(),
        );
        thread("commands").spawn(move || {
            let mut open = with(&stdin, |pipe| {
                wire::send_handshake(pipe).and_then(|()| wire::write(pipe, &settings))
            });
            while let Ok(command) = commands.recv() {
                ending.fetch_or(
                    matches!(command, Command::Shutdown | Command::Interrupt),
                    Ordering::Relaxed,
                );
                // To an engine that is gone nothing can be said; the thread that reads finds out
                // why.
                open = open && with(&stdin, |pipe| wire::write(pipe, &command));
            }
            ending.store(true, Ordering::Relaxed);
            // Without a caller the engine interrupts its run and ends.
            threads::lock(&stdin).take();
        })?;
        Ok(())
    }

    /// Waits for the end, whichever way it comes, and reports it.
    fn watch(self, patience: Duration) {
        let mut silent = 0;
        let mut hung = false;
        let exit = loop {
            match self.ended.recv_timeout(patience / PINGS) {
                Ok(exit) => break exit,
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            silent = if self.alive.swap(false, Ordering::Relaxed) {
                0
            } else {
                silent + 1
            };
            if silent >= PINGS {
                hung = true;
                self.process.kill();
            } else {
                self.ping();
            }
        };
        if exit.is_some() {
            // It is alive, but of no use.
            self.process.kill();
        }
        let ended = self.process.wait(GRACE);
        if self.ending.load(Ordering::Relaxed) {
            return;
        }
        self.events.send(Event::EngineExited(match exit {
            _ if hung => EngineExit::Hung {
                seconds: patience.as_secs() as u32,
            },
            Some(exit) => exit,
            None => EngineExit::Ended {
                status: ended.status,
                words: ended.stderr_tail,
            },
        }));
    }

    /// Pings the engine, unless a command is stuck in the pipe: then silence says enough.
    fn ping(&self) {
        if let Ok(mut stdin) = self.stdin.try_lock()
            && let Some(pipe) = stdin.as_mut()
        {
            // That the pipe is broken shows at its other end.
            let _ = wire::write(pipe, &Command::Ping);
        }
    }
}

/// Writes to the pipe; false when it is closed.
fn with(
    stdin: &Mutex<Option<ChildStdin>>,
    write: impl FnOnce(&mut ChildStdin) -> io::Result<()>,
) -> bool {
    let mut stdin = threads::lock(stdin);
    stdin.as_mut().is_some_and(|pipe| write(pipe).is_ok())
}

/// Passes events on until there are no more; returns what was wrong, if it was something else than
/// the end of the process.
fn take_events(stdout: impl Read, events: &EventSink, alive: &AtomicBool) -> Option<EngineExit> {
    let mut stdout = BufReader::new(stdout);
    let garbled = |error: io::Error| {
        (error.kind() == io::ErrorKind::InvalidData).then(|| EngineExit::Garbled {
            reason: error.to_string(),
        })
    };
    match wire::recv_handshake(&mut stdout) {
        Ok(Some(theirs)) if theirs != Handshake::ours() => {
            return Some(EngineExit::Version {
                ours: Handshake::ours().program,
                theirs: theirs.program,
            });
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
