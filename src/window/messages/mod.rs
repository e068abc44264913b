//! The messages for people: what happened and what to do.

mod downloads;
mod notices;
mod problems;
mod sweeps;

use std::fmt;

use crate::text::visible::one_line;

/// A sentence for what happened and one for what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub what: String,
    /// What to do; may be empty.
    pub remedy: String,
}

impl Message {
    /// Both are a line each, whatever names and library messages they quote.
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: one_line(&what.into()),
            remedy: one_line(&remedy.into()),
        }
    }
}

/// Both sentences in one line, for terminals.
impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if self.remedy.is_empty() {
            Ok(())
        } else {
            write!(f, " {}", self.remedy)
        }
    }
}
