//! An engine that serves a caller in another process, over a pair of pipes.

use std::io::{self, Read, Write};

use super::handle::{EngineHandle, EngineSettings};
use super::wire::{self, Handshake};

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

/// Serves until the caller ends or shuts it down. A run that has completed an epoch by then is saved.
pub fn serve(mut input: impl Read + Send + 'static, mut output: impl Write) -> Result<(), ServeError> {
    let theirs = wire::recv_handshake(&mut input)?.ok_or(ServeError::NoCaller)?;
    let ours = Handshake::ours();
    wire::send_handshake(&mut output)?;
    if theirs != ours {
        return Err(ServeError::Version { ours: ours.program, theirs: theirs.program });
    }
    let settings: EngineSettings = wire::read(&mut input)?.ok_or(ServeError::NoCaller)?;
    let EngineHandle { commands, events, .. } = EngineHandle::spawn(settings, || {});
    std::thread::Builder::new().name("inkling-caller".to_owned()).spawn(move || {
        loop {
            match wire::read(&mut input) {
                Ok(Some(command)) => {
                    if commands.send(command).is_err() {
                        return;
                    }
                }
                // Without a caller the engine saves what there is to save, and ends.
                Ok(None) => return,
                Err(error) => return tracing::error!(%error, "the caller cannot be understood"),
            }
        }
    })?;
    let mut alive = true;
    // Also with nobody to hear it, the engine comes to its end by itself.
    while let Ok(event) = events.recv() {
        alive = alive && wire::write(&mut output, &event).inspect_err(|error| tracing::info!(%error, "the caller is gone")).is_ok();
    }
    Ok(())
}
