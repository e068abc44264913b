//! The log: warnings on standard error, and more in a file of the local folder, of limited size.
//! Failing to write it never stops anything.
//!
//! Messages are fixed texts; whatever varies is a field, as in
//! `info!(path = %path.display(), "a leftover remains")`. So [`shareable`] can separate them: it
//! keeps the messages, and of the fields only what cannot be personal.

mod shareable;

use std::fmt::{self, Debug, Write as _};
use std::fs::{File, TryLockError};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use jiff::Timestamp;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter, layer};
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;

use super::files::read_limited;
use crate::system::files::open_append_private;
use crate::system::threads;
use crate::text::visible;

pub use shareable::{Names, shareable};

/// What standard error gets unless `RUST_LOG` says otherwise. winit warns of peculiarities of the
/// display that the user cannot do anything about.
const STDERR: &str = "warn,winit=error";
const FILE: &str = "warn,winit=error,inkling=info";

/// Starts logging, with the file in `folder`, and has panics logged as well. Standard error gets
/// what is at least this important, if given. Nothing is created before there is something
/// to write.
pub fn start(folder: &Path, to_stderr: Option<Level>) {
    let to_stderr = to_stderr.map_or_else(
        || EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(STDERR)),
        |level| {
            let others = level.min(Level::WARN);
            EnvFilter::new(format!("{others},winit=error,inkling={level}"))
        },
    );
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
        // The previous hook prints it on standard error, so this is not a warning.
        tracing::info!(location, thread = thread.name(), text, "a thread panicked");
        before(panic);
    }));
}

/// Writes such lines. Values are always quoted, with line breaks and quotation marks escaped, so
/// that it is certain where each ends.
pub struct LineFormat;

impl<S, N> FormatEvent<S, N> for LineFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let time = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ");
        let (level, target) = (event.metadata().level(), event.metadata().target());
        let mut fields = Fields::default();
        event.record(&mut fields);
        writeln!(
            writer,
            "{time} {} {level} {target}: {}{}",
            std::process::id(),
            fields.message,
            fields.others
        )
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    others: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message = shown(value);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(
                self.others,
                " {}={:?}",
                field.name(),
                visible::without_credentials(value)
            );
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

/// The log in use, and older ones.
pub const NAMES: [&str; 3] = ["inkling.log", "inkling.1.log", "inkling.2.log"];
/// A log of this many bytes is full.
pub const MAX_BYTES: u64 = 1 << 20;

/// The log in a folder, opened when the first line is written.
pub struct LogFile {
    folder: PathBuf,
    open: Mutex<Option<File>>,
}

impl LogFile {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            open: Mutex::new(None),
        }
    }

    fn append(&self, line: &[u8]) -> io::Result<()> {
        let mut open = threads::lock(&self.open);
        if !open.as_ref().is_some_and(|file| {
            file.metadata()
                .is_ok_and(|metadata| metadata.len() < MAX_BYTES)
        }) {
            *open = Some(self.next()?);
        }
        open.as_mut().map_or(Ok(()), |file| file.write_all(line))
    }

    /// The file to write to from now on.
    fn next(&self) -> io::Result<File> {
        std::fs::create_dir_all(&self.folder)?;
        let [current, older, oldest] = NAMES.map(|name| self.folder.join(name));
        let file = open_append_private(&current)?;
        let is_full = || {
            current
                .metadata()
                .is_ok_and(|metadata| metadata.len() >= MAX_BYTES)
        };
        if !is_full() {
            return Ok(file);
        }
        // One process renames; what others write in the meantime goes to the full one. Without
        // locks, two of them may lose an older log.
        if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && is_full() {
            let _ = std::fs::rename(&older, oldest);
            std::fs::rename(&current, older)?;
        }
        open_append_private(&current)
    }
}

/// A line of the log on its way to the file.
pub struct Line<'a>(&'a LogFile);

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Line(self)
    }
}

impl Write for Line<'_> {
    /// Called once for each line. On a full disk the line is lost.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let _ = self.0.append(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
