//! What is said at the end of repeated runs.

use super::report::{JsonLine, RepeatedRun};
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::records::RunSummary;
use crate::runs::{Repeats, RunEntry};

/// Prints the mean accuracy of the runs that belong to this one, with its interval; nothing where
/// fewer than two are left.
pub fn report(saved: &[RunEntry], one: &RunSummary, output: &mut Output) -> Result<(), Failure> {
    let Some(repeats) = Repeats::of(saved, one) else {
        return Ok(());
    };
    let (Some(mean), Some((lowest, highest))) = (repeats.mean(), repeats.extremes()) else {
        return Ok(());
    };
    let one = |run: &RunSummary| RepeatedRun {
        seed: run.config.seed,
        accuracy: repeats.accuracy(run),
        run: run.folder.display().to_string(),
    };
    output.json(&JsonLine::Repeated {
        runs: mean.count,
        measured_on: repeats.measured_on(),
        mean_accuracy: mean.mean,
        low: mean.low,
        high: mean.high,
        standard_deviation: mean.deviation,
        lowest: one(lowest),
        highest: one(highest),
    })?;
    output.text(&repeats.sentence())
}
