//! An engine that serves a caller in another process, over a pair of pipes.

use std::io::{self, Read, Write};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::handle::{EngineHandle, EngineSettings};
use super::wire::{self, Handshake};
use crate::protocol::Command;

/// Why a caller is not served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// There is none, or it has ended.
    #[error("no client connected; this command is used internally by the GUI")]
    NoCaller,
    /// It is of another version.
    #[error("the client is Inkling {theirs}, but this engine is Inkling {ours}")]
    Version {
        /// This program's.
        ours: String,
        /// The caller's.
        theirs: String,
    },
    /// What it says makes no sense, or a pipe broke.
    #[error("the client sent an invalid message: {0}")]
    Pipe(#[from] io::Error),
}

/// Interrupts the engine that is served, once there is one.
#[derive(Clone, Debug, Default)]
pub struct Interrupter(Arc<OnceLock<Sender<Command>>>);

impl Interrupter {
    /// Interrupts it, as a caller that vanishes does; false where there is none yet.
    pub fn interrupt(&self) -> bool {
        self.0.get().is_some_and(|commands| commands.send(Command::Interrupt).is_ok())
    }
}

/// Serves until the caller shuts the engine down, or is gone: then a run in progress is interrupted and can be resumed.
pub fn serve(mut input: impl Read + Send + 'static, mut output: impl Write, interrupter: &Interrupter) -> Result<(), ServeError> {
    let theirs = wire::recv_handshake(&mut input)?.ok_or(ServeError::NoCaller)?;
    let ours = Handshake::ours();
    wire::send_handshake(&mut output)?;
    if theirs != ours {
        return Err(ServeError::Version { ours: ours.program, theirs: theirs.program });
    }
    let settings: EngineSettings = wire::read(&mut input)?.ok_or(ServeError::NoCaller)?;
    let EngineHandle { commands, events, .. } = EngineHandle::spawn(settings, || {});
    interrupter.0.get_or_init(|| commands.clone());
    std::thread::Builder::new().name("inkling-caller".to_owned()).spawn(move || {
        loop {
            match wire::read(&mut input) {
                Ok(Some(command)) => {
                    if commands.send(command).is_err() {
                        return;
                    }
                }
                Ok(None) => break tracing::info!("the caller is gone"),
                Err(error) => break tracing::error!(%error, "the caller cannot be understood"),
            }
        }
        // Until it has ended, also where a panic made it forget.
        while commands.send(Command::Interrupt).is_ok() {
            std::thread::sleep(Duration::from_secs(1));
        }
    })?;
    let mut alive = true;
    // Also with nobody to hear it, the engine comes to its end by itself.
    while let Ok(event) = events.recv() {
        alive = alive && wire::write(&mut output, &event).inspect_err(|error| tracing::info!(%error, "the caller is gone")).is_ok();
    }
    Ok(())
}
