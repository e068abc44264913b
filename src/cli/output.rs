//! Standard output and standard error: JSON or text, progress and notes.

use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use schemars::JsonSchema;
use serde::Serialize;
use tracing::Level;

use super::failure::Failure;
use crate::system::files::open_regular;
use crate::text::visible;

/// How much is printed besides results and errors.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Verbosity {
    /// Print results and errors only: no progress and no notes
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "verbose",
        help_heading = "Global options"
    )]
    quiet: bool,
    /// Print the log instead of progress bars; -vv prints more of it
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Global options")]
    verbose: u8,
}

static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

impl Verbosity {
    pub fn set(self) {
        VERBOSITY.get_or_init(|| self);
    }

    fn get() -> Self {
        VERBOSITY.get().copied().unwrap_or_default()
    }

    /// The part of the log that goes to standard error, if asked for.
    pub const fn log_level(self) -> Option<Level> {
        match self.verbose {
            0 if self.quiet => Some(Level::ERROR),
            0 => None,
            1 => Some(Level::INFO),
            _ => Some(Level::DEBUG),
        }
    }
}

/// The standard output of a subcommand. If it is closed early (`inkling … | head`), further output
/// is dropped without an error.
#[derive(Debug)]
pub struct Output {
    json: bool,
    closed: bool,
}

impl Output {
    /// With `json`, standard output contains only JSON, one object per line.
    pub const fn new(json: bool) -> Self {
        Self {
            json,
            closed: false,
        }
    }

    pub const fn is_json(&self) -> bool {
        self.json
    }

    /// Whether standard output was closed by its reader.
    pub const fn closed(&self) -> bool {
        self.closed
    }

    /// Prints a JSON object, if the output is JSON. It has a schema, which
    /// [`super::schema`] lists for the command.
    pub fn json(&mut self, value: &(impl Serialize + JsonSchema)) -> Result<(), Failure> {
        if !self.json {
            return Ok(());
        }
        let line = serde_json::to_string(value).map_err(|error| unwritable(&error.to_string()))?;
        self.line(&line)
    }

    /// Prints a JSON object, or text for people if the output is not JSON.
    pub fn json_or(
        &mut self,
        value: &(impl Serialize + JsonSchema),
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if self.json {
            self.json(value)
        } else {
            self.text(&text())
        }
    }

    /// Prints text for people, to standard error if standard output is JSON.
    pub fn text(&mut self, text: &str) -> Result<(), Failure> {
        if self.json {
            note(text);
            return Ok(());
        }
        self.line(&visible::lines(text))
    }

    /// Prints what else one may want to know after a result.
    pub fn hint(&mut self, text: &str) -> Result<(), Failure> {
        if Verbosity::get().quiet {
            return Ok(());
        }
        self.text(text)
    }

    /// Prints a script of ours exactly as it is.
    pub fn script(&mut self, script: &str) -> Result<(), Failure> {
        self.line(script)
    }

    /// Prints the content of a file.
    pub fn file(&mut self, path: &Path) -> Result<(), Failure> {
        self.write(|out| io::copy(&mut open_regular(path)?, out).map(drop))
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        self.write(|out| writeln!(out, "{line}"))
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        if self.closed {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        match write(&mut out).and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => Err(unwritable(&error.to_string())),
        }
    }
}

fn unwritable(reason: &str) -> Failure {
    Failure::Failed(format!("Could not write to standard output: {reason}."))
}

/// Prints to standard error what may interest people.
pub fn note(text: &str) {
    if !Verbosity::get().quiet {
        warn(text);
    }
}

/// Prints to standard error what went wrong.
pub fn warn(text: &str) {
    // If standard error is gone, there is nobody to report it to.
    let _ = writeln!(io::stderr().lock(), "{}", visible::lines(text));
}

/// A duration: `0:42`, `1:02:03`.
pub fn clock(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

const STEPS: f32 = 1000.0;

/// A progress bar on standard error, hidden if that is not a terminal or gets the log.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    began: Instant,
}

impl Progress {
    /// A bar at 0%.
    pub fn new() -> Self {
        let target = match Verbosity::get().log_level() {
            None => ProgressDrawTarget::stderr(),
            Some(_) => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{bar:16} {percent:>3}%  {wide_msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            began: Instant::now(),
        }
    }

    /// Moves the bar to `fraction` (0 to 1); the remaining time is extrapolated.
    pub fn show(&self, fraction: f32, text: &str) {
        let elapsed = self.began.elapsed().as_secs_f64();
        let fraction = f64::from(fraction.clamp(0.0, 1.0));
        let remaining =
            (fraction > 0.02 && elapsed > 0.5).then(|| elapsed * (1.0 - fraction) / fraction);
        self.show_remaining(fraction as f32, text, remaining);
    }

    /// Moves the bar to `fraction` (0 to 1), with the remaining time in seconds if it is known.
    pub fn show_remaining(&self, fraction: f32, text: &str, remaining: Option<f64>) {
        // The time comes first because narrow terminals cut off the end.
        let left =
            remaining.map_or_else(String::new, |seconds| format!("{} left · ", clock(seconds)));
        self.bar
            .set_message(format!("{left}{}", visible::one_line(text)));
        self.bar
            .set_position((fraction.clamp(0.0, 1.0) * STEPS) as u64);
    }

    pub fn note(&self, text: &str) {
        self.suspend(|| note(text));
    }

    pub fn notes(&self, texts: &[String]) {
        texts.iter().for_each(|text| self.note(text));
    }

    pub fn warn(&self, text: &str) {
        self.suspend(|| warn(text));
    }

    /// Does what prints lines, above the bar.
    pub fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Drop for Progress {
    /// Removes the bar; the lines above it stay.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
