//! Standard output and standard error: results for scripts or people, and notes.
//!
//! Everything for people passes [`visible::lines`], so that no file name and no message reaches the
//! terminal as an escape code. JSON stays exact: it has escapes of its own.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::failure::Failure;
use crate::text::visible;

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

    /// Prints text for people, to standard error if standard output is JSON.
    pub fn text(&mut self, text: &str) -> Result<(), Failure> {
        if self.json {
            note(text);
            return Ok(());
        }
        self.line(&visible::lines(text))
    }

    /// Prints a script of ours exactly as it is.
    pub fn script(&mut self, script: &str) -> Result<(), Failure> {
        self.line(script)
    }

    fn line(&mut self, line: &str) -> Result<(), Failure> {
        if self.closed {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        match writeln!(out, "{line}").and_then(|()| out.flush()) {
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

/// Prints text for people to standard error.
pub fn note(text: &str) {
    // If standard error is gone, there is nobody to report it to.
    let _ = writeln!(io::stderr().lock(), "{}", visible::lines(text));
}
