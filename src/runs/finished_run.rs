//! A finished run with its steps, for its curves, and the newest evaluation of its model.

use std::path::Path;

use super::folder::{STEPS, load};
use super::{RunError, evaluation_file, step_table};
use crate::records::{RunSummary, SplitEvaluation, StepPoint};
use crate::system::files::read_limited;

/// Larger tables of steps are not read; one has about 100 kB.
const MAX_BYTES: u64 = 4 << 20;

#[derive(Clone, Debug, PartialEq)]
pub struct FinishedRun {
    pub summary: RunSummary,
    /// Its steps, thinned; none where they cannot be read.
    pub steps: Vec<StepPoint>,
    /// The newest evaluation of its model: the last that a person asked for, or else the one on
    /// test images after training.
    pub evaluation: Option<SplitEvaluation>,
}

impl FinishedRun {
    /// Reads the run in `folder`.
    pub fn load(folder: &Path) -> Result<Self, RunError> {
        let summary = load(folder)?;
        let evaluation = evaluation_file::read(folder).or_else(|| summary.test.clone());
        Ok(Self {
            summary,
            steps: load_steps(folder),
            evaluation,
        })
    }
}

/// The steps of the run in `folder`, thinned; none where they cannot be read.
pub fn load_steps(folder: &Path) -> Vec<StepPoint> {
    let table = read_limited(&folder.join(STEPS), MAX_BYTES);
    let table = table
        .inspect_err(|error| tracing::info!(%error, "a run without its steps"))
        .unwrap_or_default();
    step_table::parse(&String::from_utf8_lossy(&table))
}
