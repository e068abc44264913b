//! Owns run folders: weights, settings and history of every finished run.
//! Must not know training or windows.

use std::path::PathBuf;

use crate::problem::Problem;
use crate::protocol::RunSummary;

/// One folder of a finished run.
#[derive(Clone, Debug)]
pub struct RunEntry {
    /// The folder.
    pub folder: PathBuf,
    /// What is in it, or why that cannot be read.
    pub summary: Result<Box<RunSummary>, Problem>,
}
