//! The messages for people: what happened and what to do.

mod notices;
mod problems;

use std::fmt;

/// A sentence for what happened and one for what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What happened.
    pub what: String,
    /// What to do; may be empty.
    pub remedy: String,
}

impl Message {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}

/// Both sentences in one line, for terminals.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if self.remedy.is_empty() { Ok(()) } else { write!(f, " {}", self.remedy) }
    }
}
