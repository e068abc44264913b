//! What goes wrong, for people and callers: each module's error words itself beside its
//! variants ([`Explain`]), and becomes a [`Problem`] when it crosses to somebody who only shows it
//! or looks at its [`Code`].

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::text::visible::one_line;

/// A sentence for what happened and one for what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub what: String,
    /// The remedy; may be empty.
    pub remedy: String,
}

impl Message {
    /// Both are a line each, whatever names and library messages they quote.
    pub fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
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

/// An error that words itself: its `Display` is a sentence about what happened. Windows and
/// terminals show the same text, so remedies name settings rather than buttons.
pub trait Explain: fmt::Display + fmt::Debug {
    /// A sentence about what to do; empty if there is nothing to do.
    fn remedy(&self) -> String;

    /// For callers that treat it unlike others.
    fn code(&self) -> Code {
        Code::Other
    }

    fn message(&self) -> Message {
        Message::new(self.to_string(), self.remedy())
    }
}

/// The kinds that callers treat differently.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Code {
    #[default]
    Other,
    Cancelled,
    /// A run is in progress already.
    Busy,
    /// No run or model answers to that reference any more.
    NoSuchRun,
    /// Options that make no sense, or that a person has to agree with first.
    Usage,
    /// Settings that cannot be used, or not here.
    Config,
    /// Settings again: batches are larger than this many training images.
    BatchLargerThanSet {
        images: u64,
    },
    /// A model file cannot be used.
    Model,
    /// The same, because another program saved it: it has to be imported first.
    ForeignWeights {
        path: PathBuf,
    },
    /// A computation came to no result.
    Compute,
    /// The same, for lack of memory.
    OutOfMemory,
    /// The loss became NaN or exploded, and rolling back did not help.
    Diverged,
    /// A run was interrupted before its end.
    Interrupted {
        /// The folder of the checkpoint it can be resumed from, if it has one.
        checkpoint: Option<PathBuf>,
    },
    /// Files are in the way, and nobody said that they may be replaced.
    FilesExist {
        paths: Vec<PathBuf>,
    },
    /// The engine crashed, and was restarted.
    Panicked,
    /// The engine is gone and did not come back.
    EngineGone,
}

/// An error in the words of its module, as plain data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    pub code: Code,
    pub message: Message,
    /// "`DataError::Missing`", for the log; nothing that varies is in it.
    pub name: String,
}

impl<E: Explain> From<E> for Problem {
    fn from(error: E) -> Self {
        let path = std::any::type_name::<E>();
        let kind = path.rsplit("::").next().unwrap_or(path);
        let variant: String = format!("{error:?}")
            .chars()
            .take_while(|&letter| letter.is_ascii_alphanumeric() || letter == '(')
            .collect();
        let code = error.code();
        // Whatever was cancelled, nothing failed.
        let name = match code {
            Code::Cancelled => "Cancelled".to_owned(),
            _ => format!("{kind}::{variant}"),
        };
        Self {
            code,
            message: error.message(),
            name,
        }
    }
}

impl std::error::Error for Problem {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

/// An external error message in one line, ended with a full stop.
pub fn sentence(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        "unknown error.".to_owned()
    } else if text.ends_with(['.', '!', '?']) {
        text
    } else {
        format!("{text}.")
    }
}

/// Paths with commas between them.
pub fn list<P: AsRef<Path>>(paths: &[P]) -> String {
    let paths = paths.iter().map(|path| path.as_ref().display().to_string());
    paths.collect::<Vec<_>>().join(", ")
}
