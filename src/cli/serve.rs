//! Owns `inkling engine`: an engine at the end of this process's standard input and output, for Inkling's window.
//! Must not let anything else write there.

use std::io;

use super::failure::Failure;
use super::frames::take_standard_output;
use crate::engine::{Unserved, serve};

/// Serves until the caller is done.
pub fn run() -> Result<(), Failure> {
    take_standard_output().map_err(Unserved::Pipe).and_then(|output| serve(io::stdin(), output)).map_err(|error| match error {
        Unserved::NoCaller => Failure::Usage(sentence(&error)),
        Unserved::Version { .. } => Failure::Failed(format!("{} Restart Inkling so that both have the same version.", sentence(&error))),
        Unserved::Pipe(_) => Failure::Failed(sentence(&error)),
    })
}

/// "The caller …."
fn sentence(error: &Unserved) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    letters.next().map(|first| format!("{}{}.", first.to_uppercase(), letters.as_str())).unwrap_or_default()
}
