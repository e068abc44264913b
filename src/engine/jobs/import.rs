//! Reads a file of weights and saves it as a model among the runs.

use super::{JobContext, JobError, Workspace};
use crate::engine::handle::RunsTarget;
use crate::import::{Imported, import};
use crate::protocol::JobResult;
use crate::records::ImportSpec;
use crate::run_config::WeightFormat;
use crate::runs::{RunContents, Store, keep_in};

pub(super) fn run(workspace: &Workspace<'_>, context: &mut JobContext<'_, '_>, spec: &ImportSpec) -> Result<JobResult, JobError> {
    let Imported { file, summary, finding } = import(spec, context)?;
    let weights = workspace.settings.weights.unwrap_or(WeightFormat::F32);
    let contents = RunContents::of_model(file, summary);
    let summary = match &workspace.settings.runs {
        RunsTarget::Store(root) => Store::new(root).keep(&contents, weights, None)?,
        RunsTarget::Folder { folder, replace } => keep_in(folder, *replace, &contents, weights, None)?,
    };
    Ok(JobResult::Import { summary, finding })
}
