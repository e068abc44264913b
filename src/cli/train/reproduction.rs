//! What is said after a run that was trained again.

use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::records::RunSummary;
use crate::runs::Reproduction;

#[derive(Serialize)]
struct Reproduced {
    event: &'static str,
    same: bool,
    tensors: usize,
    differing: usize,
    /// The largest difference of two weights; null where a tensor is missing or has another shape.
    largest_difference: Option<f32>,
    /// What was not the same for both, and may be the reason.
    circumstances: Vec<&'static str>,
}

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
    output.json(&Reproduced {
        event: "reproduced",
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
