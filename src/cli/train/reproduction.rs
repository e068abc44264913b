//! What is said after a run that was trained again.

use super::report::JsonLine;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::records::RunSummary;
use crate::runs::Reproduction;

/// Says whether the weights came out the same; a failure where they did not.
pub fn report(first: &RunSummary, again: &RunSummary, output: &mut Output) -> Result<(), Failure> {
    let found = Reproduction::compare(first, again)?;
    let (same, sentence) = (found.is_same(), found.sentence());
    let Reproduction {
        tensors,
        differing,
        largest_difference,
        circumstances,
        ..
    } = found;
    output.json(&JsonLine::Reproduced {
        same,
        tensors,
        differing,
        largest_difference,
        circumstances,
    })?;
    if same {
        output.text(&sentence)
    } else {
        Err(Failure::Failed(sentence))
    }
}
