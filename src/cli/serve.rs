//! `inkling engine`: runs an engine on standard input and output, for the window.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd as Standard;
#[cfg(windows)]
use std::os::windows::io::AsHandle as Standard;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::failure::Failure;
use crate::engine::{CallerLocation, Interrupter, ServeError, serve};
use crate::system::signals::{Signal, listen};

#[derive(Debug, clap::Args)]
pub struct ServeArgs {
    /// The client is on another machine: files are sent both ways
    #[arg(long)]
    remote: bool,
}

/// Serves until the client disconnects.
pub fn run(arguments: &ServeArgs) -> Result<(), Failure> {
    let caller = if arguments.remote {
        CallerLocation::OtherMachine
    } else {
        CallerLocation::ThisMachine
    };
    let (interrupter, ended) = (Interrupter::default(), Arc::new(AtomicU8::new(0)));
    listen_to_signals(&interrupter, &ended);
    let output = reserve_standard_output().map_err(ServeError::Connection);
    let served = output.and_then(|output| serve(io::stdin(), output, caller, &interrupter));
    match ended.load(Ordering::Relaxed) {
        0 => served.map_err(|error| of_serving(&error)),
        status => Err(Failure::Terminated {
            sentence: None,
            status,
        }),
    }
}

fn of_serving(error: &ServeError) -> Failure {
    match error {
        ServeError::NoCaller => Failure::Usage(sentence(error)),
        ServeError::Version { .. } => Failure::Failed(format!(
            "{} Restart Inkling so that both have the same version.",
            sentence(error)
        )),
        ServeError::InvalidMessage(_)
        | ServeError::Connection(_)
        | ServeError::NoThread(_)
        | ServeError::Store(_) => Failure::Failed(sentence(error)),
    }
}

/// A terminal sends its signals to every process that was started there. What Ctrl-C means the
/// client says; a request to end interrupts the run.
fn listen_to_signals(interrupter: &Interrupter, ended: &Arc<AtomicU8>) {
    let (interrupter, ended) = (interrupter.clone(), Arc::clone(ended));
    let listening = listen(move |signal| {
        if let Signal::Terminate { status } = signal {
            ended.store(status, Ordering::Relaxed);
            if !interrupter.interrupt() {
                std::process::exit(i32::from(status));
            }
        }
    });
    if let Err(error) = listening {
        tracing::warn!(%error, "signals cannot be handled");
    }
}

/// "No client connected."
fn sentence(error: &ServeError) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
        .unwrap_or_default()
}

/// Reserves standard output for the protocol: whatever else this process prints there, such as a
/// graphics driver, goes to standard error.
fn reserve_standard_output() -> io::Result<File> {
    #[cfg(unix)]
    let own = io::stdout().as_fd().try_clone_to_owned()?;
    #[cfg(windows)]
    let own = io::stdout().as_handle().try_clone_to_owned()?;
    // SAFETY: nothing owns and closes either descriptor, and descriptor 1 stays open for writing.
    if unsafe { libc::dup2(2, 1) } < 0 {
        // Other output would then corrupt the protocol, which the client notices.
        tracing::warn!(error = %io::Error::last_os_error(), "standard output is not reserved for the protocol");
    }
    Ok(own.into())
}
