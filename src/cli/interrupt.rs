//! Owns Ctrl-C while a run is under way: the first asks the run to stop, the second ends the program.
//! Must not know what stopping means.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C is a wish to stop.
pub fn listen() {
    let listening = ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    if let Err(error) = listening {
        // Ctrl-C then ends the program at once, as it does everywhere.
        tracing::warn!(%error, "Ctrl-C cannot be handled");
    }
}

/// True once Ctrl-C was pressed.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
