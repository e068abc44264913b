//! Requests to end long work. Ctrl-C stops the work and saves the results so far; pressed again, it
//! ends the program. SIGTERM and SIGHUP interrupt: a run can be resumed.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::progress::Cancelled;
use crate::system::signals::{Signal, listen};

static STOP: AtomicBool = AtomicBool::new(false);
/// The exit status once this process was asked to end; 0 before.
static TERMINATE: AtomicU8 = AtomicU8::new(0);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// To stop, and save the results so far.
    Stop,
    /// To interrupt, and exit with this status.
    Interrupt(u8),
}

/// Takes requests from now on.
pub fn install_handler() {
    let installed = listen(|signal| match signal {
        Signal::Interrupt
            if TERMINATE.load(Ordering::Relaxed) != 0 || STOP.swap(true, Ordering::Relaxed) =>
        {
            std::process::exit(130)
        }
        Signal::Interrupt => {}
        // A terminal that is closed may send several signals.
        Signal::Terminate { status } => TERMINATE.store(status, Ordering::Relaxed),
    });
    if let Err(error) = installed {
        // Signals then end the program immediately, as usual.
        tracing::warn!(%error, "signals cannot be handled");
    }
}

/// Forgets that Ctrl-C was pressed: it was handled, and means something else when it is pressed
/// again.
pub fn forget_stop() {
    STOP.store(false, Ordering::Relaxed);
}

/// An error once the program was asked to stop: it ends work that reports its progress.
pub fn check() -> Result<(), Cancelled> {
    if requested().is_some() {
        Err(Cancelled)
    } else {
        Ok(())
    }
}

/// The last request, if there was one.
pub fn requested() -> Option<Request> {
    match TERMINATE.load(Ordering::Relaxed) {
        0 => STOP.load(Ordering::Relaxed).then_some(Request::Stop),
        status => Some(Request::Interrupt(status)),
    }
}
