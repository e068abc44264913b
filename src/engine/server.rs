//! An engine that serves a caller in another process, over a pair of pipes.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::handle::{EngineHandle, EngineSettings};
use super::remote::{BundleStore, files_of};
use super::wire::{self, Handshake};
use crate::protocol::{Command, Event, JobEvent};
use crate::system::files::keep_new_files_private;
use crate::system::paths::Paths;
use crate::system::threads::{self, lock};

/// Why a caller is not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There is none, or it has ended.
    #[error(
        "no caller connected: Inkling starts this command itself, to compute in a separate process"
    )]
    NoCaller,
    #[error("the caller is Inkling {theirs}, but this engine is Inkling {ours}")]
    Version { ours: String, theirs: String },
    #[error("the client sent an invalid message: {0}")]
    InvalidMessage(io::Error),
    #[error("the connection to the client failed: {0}")]
    Connection(io::Error),
    #[error("no thread could be started: {0}")]
    NoThread(io::Error),
    #[error("the folder for files from other machines could not be prepared: {0}")]
    Store(io::Error),
}

impl ServeError {
    /// Why a frame could not be read or written.
    fn of_pipe(error: io::Error) -> Self {
        if error.kind() == ErrorKind::InvalidData {
            Self::InvalidMessage(error)
        } else {
            Self::Connection(error)
        }
    }
}

/// Interrupts the engine that is served, once there is one.
#[derive(Clone, Debug, Default)]
pub struct Interrupter(Arc<OnceLock<Sender<Command>>>);

impl Interrupter {
    /// Interrupts it, as a caller that vanishes does; false if there is none yet.
    pub fn interrupt(&self) -> bool {
        self.0
            .get()
            .is_some_and(|commands| commands.send(Command::Interrupt).is_ok())
    }
}

/// A caller on another machine pings every few seconds. One that is silent for this long is gone.
const SILENCE: Duration = Duration::from_mins(2);
/// The time from the start of an engine to the first words of its caller: a task of a job array may
/// run before it is connected to.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_mins(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallerLocation {
    /// On this machine: both see the same files.
    ThisMachine,
    /// On another: files are sent both ways.
    OtherMachine,
}

/// Serves until the caller shuts the engine down, or is gone: then a run in progress is interrupted
/// and can be resumed.
pub fn serve(
    input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
    caller: CallerLocation,
    interrupter: &Interrupter,
) -> Result<(), ServeError> {
    let (theirs, mut input) = handshake(input)?;
    let ours = Handshake::ours();
    wire::send_handshake(&mut output).map_err(ServeError::of_pipe)?;
    if theirs != ours {
        return Err(ServeError::Version {
            ours: ours.program,
            theirs: theirs.program,
        });
    }
    let mut settings: EngineSettings = wire::read(&mut input)
        .map_err(ServeError::of_pipe)?
        .ok_or(ServeError::NoCaller)?;
    let mut bundles = None;
    if caller == CallerLocation::OtherMachine {
        keep_new_files_private();
        let paths = Paths::find();
        let store = BundleStore::open(&paths).map_err(ServeError::Store)?;
        settings = store.settings(settings, &paths);
        bundles = Some(store);
    }
    // Both threads below write whole frames.
    let output = Arc::new(Mutex::new(output));
    let EngineHandle {
        commands, events, ..
    } = EngineHandle::spawn(settings, |_| {});
    interrupter.0.get_or_init(|| commands.clone());
    // Dropped with this function: the folders of its runs go with it.
    let bundles = Arc::new(Mutex::new(bundles));
    let (answering, answers) = (Arc::clone(&bundles), Arc::clone(&output));
    let heard = Arc::new(AtomicBool::new(true));
    let noticed = Arc::clone(&heard);
    if caller == CallerLocation::OtherMachine {
        watch(heard, commands.clone()).map_err(ServeError::NoThread)?;
    }
    let listening = move || {
        loop {
            match wire::read(&mut input) {
                Ok(Some(mut command)) => {
                    noticed.store(true, Ordering::Relaxed);
                    let answer = lock(&answering)
                        .as_mut()
                        .and_then(|bundles| bundles.answer(&mut command));
                    match answer {
                        // That the pipe is broken shows when the next event is written.
                        Some(event) => drop(wire::write(&mut *lock(&answers), &event)),
                        None if commands.send(command).is_err() => return,
                        None => {}
                    }
                }
                Ok(None) => break tracing::info!("the caller is gone"),
                Err(error) => break tracing::error!(%error, "the caller cannot be understood"),
            }
        }
        // Until it has ended, also if a panic made it forget.
        while commands.send(Command::Interrupt).is_ok() {
            std::thread::sleep(Duration::from_secs(1));
        }
    };
    threads::spawn("inkling-caller", listening).map_err(ServeError::NoThread)?;
    let mut alive = true;
    // Even if nobody listens, the engine ends by itself.
    while let Ok(event) = events.recv() {
        let is_end = matches!(
            event,
            Event::Job {
                event: JobEvent::Done(_) | JobEvent::Cancelled | JobEvent::Failed(_),
                ..
            }
        );
        if let Some(bundles) = lock(&bundles).as_mut().filter(|_| is_end) {
            bundles.job_ended();
        }
        for event in with_files(event, caller) {
            let written = || {
                wire::write(&mut *lock(&output), &event)
                    .inspect_err(|error| tracing::info!(%error, "the caller is gone"))
            };
            alive = alive && written().is_ok();
        }
    }
    lock(&bundles).take();
    Ok(())
}

/// The caller's handshake; an error if none comes for long: its connection may have been lost on
/// the way.
fn handshake<R: Read + Send + 'static>(mut input: R) -> Result<(Handshake, R), ServeError> {
    let (send, came) = channel();
    let receiving = move || {
        let theirs = wire::recv_handshake(&mut input);
        // Nobody waits for it any more if it came too late.
        let _ = send.send((theirs, input));
    };
    threads::spawn("inkling-handshake", receiving).map_err(ServeError::NoThread)?;
    let (theirs, input) = came
        .recv_timeout(HANDSHAKE_TIMEOUT)
        .map_err(|_| ServeError::NoCaller)?;
    Ok((
        theirs
            .map_err(ServeError::of_pipe)?
            .ok_or(ServeError::NoCaller)?,
        input,
    ))
}

/// Takes a caller for gone that has not even sent a ping for long: not every lost connection is
/// closed.
fn watch(heard: Arc<AtomicBool>, commands: Sender<Command>) -> io::Result<()> {
    let watching = move || {
        while heard.swap(false, Ordering::Relaxed) {
            std::thread::sleep(SILENCE);
        }
        tracing::info!("the caller is silent");
        let _ = commands.send(Command::Interrupt);
    };
    threads::spawn("inkling-watch", watching).map(drop)
}

/// The event, after the files that go with it to a caller on another machine.
fn with_files(event: Event, caller: CallerLocation) -> Vec<Event> {
    let files = if caller == CallerLocation::OtherMachine {
        files_of(&event)
    } else {
        Ok(Vec::new())
    };
    // The caller notices that the files are missing, and reports it.
    let files = files
        .inspect_err(|error| tracing::error!(%error, "files cannot be sent"))
        .unwrap_or_default();
    files.into_iter().chain([event]).collect()
}
