//! The log: warnings on standard error, and more in a file of the local folder, of limited size.
//! Failing to write it never stops anything.
//!
//! Messages are fixed texts; whatever varies is a field, as in
//! `info!(path = %path.display(), "a leftover remains")`. So [`shareable`] can tell them apart: it
//! keeps the messages, and of the fields only what cannot be personal.

mod file;
mod line;
mod names;
mod shareable;

use std::fmt::{self, Debug};
use std::io::{self, IsTerminal};
use std::path::Path;

use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::fmt::layer;
use tracing_subscriber::prelude::*;

use super::files::read_limited;
use crate::text::visible;
use file::{LogFile, MAX_BYTES, NAMES};
use line::LineFormat;

pub use names::Names;
pub use shareable::shareable;

/// What standard error gets unless `RUST_LOG` says otherwise. winit warns of peculiarities of the
/// display that the user cannot do anything about.
const STDERR: &str = "warn,winit=error";
const FILE: &str = "warn,winit=error,inkling=info";

/// Starts logging, with the file in `folder`, and has panics logged as well. Nothing is created
/// before there is something to write.
pub fn start(folder: &Path) {
    let to_stderr = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(STDERR));
    let to_stderr = layer()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .fmt_fields(debug_fn(visible_field).delimited(" "))
        .with_filter(to_stderr);
    let to_file = layer()
        .event_format(LineFormat)
        .with_ansi(false)
        .with_writer(LogFile::new(folder))
        .with_filter(EnvFilter::new(FILE));
    tracing_subscriber::registry()
        .with(to_stderr)
        .with(to_file)
        .init();
    log_panics();
}

/// Writes a field in one line, in which text from outside stays text.
fn visible_field(to: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    let value = shown(&format!("{value:?}"));
    if field.name() == "message" {
        write!(to, "{value}")
    } else {
        write!(to, "{}={value}", field.name())
    }
}

/// Text as the log and standard error show it: in one line, and without the passwords in addresses.
fn shown(text: &str) -> String {
    visible::one_line(&visible::without_credentials(text))
}

/// The last lines of the log in `folder`, at most `count`, the oldest first.
pub fn last_lines(folder: &Path, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for name in NAMES {
        // A line may have been written when the limit was all but reached.
        let text = read_limited(&folder.join(name), 2 * MAX_BYTES).unwrap_or_default();
        let older = String::from_utf8_lossy(&text);
        lines.splice(0..0, older.lines().map(str::to_owned));
        if lines.len() >= count {
            break;
        }
    }
    lines.split_off(lines.len().saturating_sub(count))
}

/// Logs panics besides what is done about them already.
fn log_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or("unknown");
        let location = panic
            .location()
            .map(ToString::to_string)
            .unwrap_or_default();
        let thread = std::thread::current();
        // Standard error hears of it from the hook before, so this is not a warning.
        tracing::info!(location, thread = thread.name(), text, "a thread panicked");
        before(panic);
    }));
}
