//! `inkling engine`: runs an engine on standard input and output, for the window.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd as Standard;
#[cfg(windows)]
use std::os::windows::io::AsHandle as Standard;

use super::failure::Failure;
use crate::engine::{ServeError, serve};

/// Serves until the client disconnects.
pub fn run() -> Result<(), Failure> {
    reserve_standard_output().map_err(ServeError::Pipe).and_then(|output| serve(io::stdin(), output)).map_err(|error| match error {
        ServeError::NoCaller => Failure::Usage(sentence(&error)),
        ServeError::Version { .. } => Failure::Failed(format!("{} Restart Inkling so that both have the same version.", sentence(&error))),
        ServeError::Pipe(_) => Failure::Failed(sentence(&error)),
    })
}

/// "No client connected."
fn sentence(error: &ServeError) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    letters.next().map(|first| format!("{}{}.", first.to_uppercase(), letters.as_str())).unwrap_or_default()
}

/// Reserves standard output for the protocol: whatever else this process prints there, such as a graphics driver, goes to standard error.
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
