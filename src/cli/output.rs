//! Owns standard output and standard error: what goes where, and what happens when nobody reads it.
//! Must not know what is said.

use std::io::{self, Write};

use serde::Serialize;

use super::failure::Failure;

/// Standard output of one command. A reader that has seen enough (`inkling … | head`) is no failure: what follows is dropped.
#[derive(Debug)]
pub struct Output {
    json: bool,
    closed: bool,
}

impl Output {
    /// With `json`, standard output holds nothing but JSON, an object a line.
    pub const fn new(json: bool) -> Self {
        Self { json, closed: false }
    }

    /// True when standard output is for scripts.
    pub const fn is_json(&self) -> bool {
        self.json
    }

    /// True when nobody reads standard output any more.
    pub const fn closed(&self) -> bool {
        self.closed
    }

    /// Says something to scripts.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        if !self.json {
            return Ok(());
        }
        let line = serde_json::to_string(value).map_err(|error| unwritable(&error.to_string()))?;
        self.line(&line)
    }

    /// Says something to people: on standard error where standard output is for scripts.
    pub fn text(&mut self, text: &str) -> Result<(), Failure> {
        if self.json {
            note(text);
            return Ok(());
        }
        self.line(text)
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

/// Says something to people on standard error.
pub fn note(text: &str) {
    // Nobody is left to tell when standard error is gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}
