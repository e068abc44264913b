//! What is said at the end of repeated runs.

use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::records::RunSummary;
use crate::runs::{Repeats, RunEntry};

/// JSON after the last of them.
#[derive(Serialize)]
struct Repeated {
    event: &'static str,
    runs: usize,
    /// "test", or "validation" where the data has no test images.
    measured_on: &'static str,
    mean_accuracy: f64,
    /// The ends of the 95 % interval of the mean.
    low: f64,
    high: f64,
    standard_deviation: f64,
    lowest: One,
    highest: One,
}

#[derive(Serialize)]
struct One {
    seed: u64,
    accuracy: f64,
    run: String,
}

/// Prints the mean accuracy of the runs that belong to this one, with its interval; nothing where
/// fewer than two are left.
pub fn report(saved: &[RunEntry], one: &RunSummary, output: &mut Output) -> Result<(), Failure> {
    let Some(repeats) = Repeats::of(saved, one) else {
        return Ok(());
    };
    let (Some(mean), Some((lowest, highest))) = (repeats.mean(), repeats.extremes()) else {
        return Ok(());
    };
    let one = |run: &RunSummary| One {
        seed: run.config.seed,
        accuracy: repeats.accuracy(run),
        run: run.folder.display().to_string(),
    };
    output.json(&Repeated {
        event: "repeated",
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
