//! Owns keeping standard output for frames alone: what anything else in this process writes there, such as a graphics driver, must not end up
//! between them. Must not know what the frames say.

use std::fs::File;
use std::io;
#[cfg(unix)]
use std::os::fd::AsFd as Standard;
#[cfg(windows)]
use std::os::windows::io::AsHandle as Standard;

/// Takes standard output away from everybody else: what is written there from now on goes to standard error.
pub fn take_standard_output() -> io::Result<File> {
    #[cfg(unix)]
    let own = io::stdout().as_fd().try_clone_to_owned()?;
    #[cfg(windows)]
    let own = io::stdout().as_handle().try_clone_to_owned()?;
    // SAFETY: neither descriptor is owned by anything that closes it, and descriptor 1 goes on being one that can be written to.
    if unsafe { libc::dup2(2, 1) } < 0 {
        // Whatever is written there garbles the frames then, which the caller notices.
        tracing::warn!(error = %io::Error::last_os_error(), "standard output is not for frames alone");
    }
    Ok(own.into())
}
