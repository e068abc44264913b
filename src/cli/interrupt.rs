//! Ctrl-C during long work: the first press requests a stop, the second ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs the handler.
pub fn install_handler() {
    let installed = ctrlc::set_handler(|| {
        if REQUESTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    if let Err(error) = installed {
        // Ctrl-C then ends the program immediately, as usual.
        tracing::warn!(%error, "Ctrl-C cannot be handled");
    }
}

/// Whether Ctrl-C has been pressed.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
