//! Owns one import as the engine sees it: a file in, a model among the runs out. Must not know formats.

use crate::engine::command_queue::CommandQueue;
use crate::engine::handle::{EngineSettings, RunsTarget};
use crate::import::{Imported, import};
use crate::problem::Problem;
use crate::protocol::{Event, Task};
use crate::records::{ImportFinding, ImportSpec, RunSummary};
use crate::runs::{Store, keep_in};

/// Imports a file.
pub(in crate::engine) fn carry_out(settings: &EngineSettings, queue: &CommandQueue<'_>, request: u64, spec: &ImportSpec) {
    queue.events.send(match imported(settings, spec) {
        Ok((summary, finding)) => Event::Imported { request, summary: Box::new(summary), finding },
        Err(problem) => Event::Failed { what: Task::Import(request), problem },
    });
}

fn imported(settings: &EngineSettings, spec: &ImportSpec) -> Result<(RunSummary, ImportFinding), Problem> {
    let Imported { file, summary, finding } = import(spec)?;
    let summary = match &settings.runs {
        RunsTarget::Store(root) => Store::new(root).keep(&file, &summary, settings.weights)?,
        RunsTarget::Folder(folder) => keep_in(folder, &file, &summary, settings.weights)?,
    };
    Ok((summary, finding))
}
