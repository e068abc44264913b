//! A finished run with its steps, for its curves.

use std::path::Path;

use super::folder::{STEPS, load};
use super::{RunError, step_table};
use crate::records::{RunSummary, StepPoint};
use crate::system::files::read_limited;

/// Larger tables of steps are not read; one has about 100 kB.
const MAX_BYTES: u64 = 4 << 20;

/// A finished run with its steps.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedRun {
    /// Its summary.
    pub summary: RunSummary,
    /// Its steps, thinned; none in runs of older versions, or where they cannot be read.
    pub steps: Vec<StepPoint>,
}

impl FinishedRun {
    /// Reads the run in `folder`.
    pub fn load(folder: &Path) -> Result<Self, RunError> {
        Ok(Self { summary: load(folder)?, steps: load_steps(folder) })
    }
}

/// The steps of the run in `folder`, thinned; none in runs of older versions, or where they cannot be read.
pub fn load_steps(folder: &Path) -> Vec<StepPoint> {
    let table = read_limited(&folder.join(STEPS), MAX_BYTES);
    let table = table.inspect_err(|error| tracing::info!(%error, "a run without its steps")).unwrap_or_default();
    step_table::parse(&String::from_utf8_lossy(&table))
}
