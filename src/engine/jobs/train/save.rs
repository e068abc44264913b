//! Saving a run. Where that fails, it waits: for room, for permission, or for another folder.

use std::path::PathBuf;
use std::time::Duration;

use super::super::{JobContext, JobError};
use crate::engine::handle::RunsTarget;
use crate::problem::Problem;
use crate::protocol::{Command, Event, JobEvent};
use crate::records::RunSummary;
use crate::run_config::WeightFormat;
use crate::runs::{CheckpointWriter, RunError, Store, save_to};
use crate::train::TrainedModel;

/// How long to wait before it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// What ends the waiting.
enum Waited {
    /// Time passed, or a person asked for it.
    Retry,
    /// A person chose another folder.
    OtherFolder(PathBuf),
    /// The run is to end without being saved.
    Interrupted,
}

/// Saves the run; an error where it cannot be, or where it is interrupted while it waits for that.
pub fn save(
    mut target: RunsTarget,
    weights: WeightFormat,
    context: &mut JobContext<'_, '_>,
    trained: &TrainedModel,
    checkpoints: &CheckpointWriter,
) -> Result<RunSummary, JobError> {
    let mut reported = None;
    loop {
        let saved = match &target {
            RunsTarget::Store(root) => Store::new(root).save(trained, weights, Some(checkpoints)),
            RunsTarget::Folder { folder, replace } => save_to(folder, *replace, trained, weights, Some(checkpoints)),
        };
        let problem = match saved {
            Ok(summary) => return Ok(summary),
            Err(error @ RunError::Compute(_)) => return Err(JobError::Failed(error.into())),
            Err(error) => Problem::from(error),
        };
        if reported.as_ref() != Some(&problem) {
            context.queue.events.send(Event::NotSaved { run: context.id, problem: problem.clone() });
            reported = Some(problem);
        }
        match wait(context) {
            Waited::Retry => {}
            Waited::OtherFolder(folder) => {
                target = RunsTarget::Store(folder);
                reported = None;
            }
            Waited::Interrupted => return Err(JobError::Failed(Problem::Interrupted { checkpoint: None })),
        }
    }
}

fn wait(context: &mut JobContext<'_, '_>) -> Waited {
    let (id, queue) = (context.id, &mut context.queue);
    loop {
        match queue.wait_for(RETRY_AFTER) {
            None => return Waited::Retry,
            Some(Command::Save { run, folder }) if run == id => return folder.map_or(Waited::Retry, Waited::OtherFolder),
            Some(Command::Cancel(run)) if run == id => return Waited::Interrupted,
            Some(command @ (Command::Shutdown | Command::Interrupt)) => {
                queue.requeue(command);
                return Waited::Interrupted;
            }
            Some(Command::Submit { id, .. }) => queue.events.send(Event::Job { id, event: JobEvent::Failed(Problem::Busy) }),
            // What is meant for other jobs, which are over, or for a run that trains.
            Some(_) => {}
        }
    }
}
