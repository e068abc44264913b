//! Owns `inkling engine`: an engine at the end of this process's standard input and output, for Inkling's window.
//! Must not let anything else write there.

use std::io;

use super::failure::Failure;
use super::frames::take_standard_output;
use crate::engine::{ServeError, serve};

/// Serves until the caller is done.
pub fn run() -> Result<(), Failure> {
    take_standard_output().map_err(ServeError::Pipe).and_then(|output| serve(io::stdin(), output)).map_err(|error| match error {
        ServeError::NoCaller => Failure::Usage(sentence(&error)),
        ServeError::Version { .. } => Failure::Failed(format!("{} Restart Inkling so that both have the same version.", sentence(&error))),
        ServeError::Pipe(_) => Failure::Failed(sentence(&error)),
    })
}

/// "The caller …."
fn sentence(error: &ServeError) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    letters.next().map(|first| format!("{}{}.", first.to_uppercase(), letters.as_str())).unwrap_or_default()
}
