//! Saving a run. If that fails, it waits: for room, for permission, or for another folder.

use std::path::PathBuf;
use std::time::Duration;

use super::super::JobContext;
use crate::engine::handle::RunsTarget;
use crate::engine::places::{EndedRun, SavedRun};
use crate::problem::Problem;
use crate::protocol::{Command, EngineError, Event, JobEvent};
use crate::records::{RunPosition, RunSummary};
use crate::run_config::WeightFormat;
use crate::runs::{CheckpointWriter, RunContents, RunError};
use crate::train::TrainedModel;

/// How long to wait before it is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(2);

enum Waited {
    /// Time passed, or a person asked for it.
    Retry,
    OtherFolder(PathBuf),
    /// The run is to end, although it is not saved.
    Stopped,
    /// The same, and the engine ends with it.
    EngineEnds,
}

/// Saves the run; an error if it cannot be, or if it is interrupted while it waits for that.
pub fn save(
    target: RunsTarget,
    weights: WeightFormat,
    context: &mut JobContext<'_, '_>,
    trained: &TrainedModel,
    checkpoints: &CheckpointWriter,
) -> Result<RunSummary, Problem> {
    let mut run = EndedRun {
        target,
        contents: RunContents::of(trained)?,
        weights,
        checkpoints: Some(checkpoints),
    };
    let mut reported = None;
    loop {
        let problem = match run.save() {
            Ok(saved) => return Ok(report(saved, context)),
            Err(error @ RunError::Compute(_)) => return Err(error.into()),
            Err(error) => Problem::from(error),
        };
        let state = (problem, checkpoints.position());
        if reported.as_ref() != Some(&state) {
            report_unsaved(context, state.0.clone(), state.1);
        }
        reported = Some(state);
        match wait(context) {
            Waited::Retry => {}
            Waited::OtherFolder(folder) => {
                run.target = RunsTarget::Store(folder);
                reported = None;
            }
            Waited::Stopped | Waited::EngineEnds if checkpoints.position().is_some() => {
                return Err(EngineError::Interrupted { checkpoint: None }.into());
            }
            end @ (Waited::Stopped | Waited::EngineEnds) => match run.rescue() {
                Ok(saved) => return Ok(report(saved, context)),
                // Whoever stopped it is warned that it would be lost, and can still choose another
                // folder.
                Err(problem) if matches!(end, Waited::Stopped) => {
                    report_unsaved(context, problem, None);
                }
                Err(_) => {
                    return Err(EngineError::Interrupted { checkpoint: None }.into());
                }
            },
        }
    }
}

fn report_unsaved(context: &JobContext<'_, '_>, problem: Problem, checkpoint: Option<RunPosition>) {
    context.queue.events.send(Event::NotSaved {
        run: context.id,
        problem,
        checkpoint,
    });
}

fn report(SavedRun { summary, rescue }: SavedRun, context: &JobContext<'_, '_>) -> RunSummary {
    if let Some((problem, rescue)) = rescue {
        context.queue.events.send(Event::Rescued {
            run: context.id,
            problem,
            rescue,
        });
    }
    summary
}

fn wait(context: &mut JobContext<'_, '_>) -> Waited {
    let (id, queue) = (context.id, &mut context.queue);
    loop {
        match queue.wait_for(RETRY_AFTER) {
            None => return Waited::Retry,
            Some(Command::Save { run, folder }) if run == id => {
                return folder.map_or(Waited::Retry, Waited::OtherFolder);
            }
            Some(Command::Cancel(run)) if run == id => return Waited::Stopped,
            Some(command @ (Command::Shutdown | Command::Interrupt)) => {
                queue.requeue(command);
                return Waited::EngineEnds;
            }
            Some(Command::Submit { id, .. }) => queue.events.send(Event::Job {
                id,
                event: JobEvent::Failed(EngineError::Busy.into()),
            }),
            // What is meant for other jobs, which are over, or for a run that trains.
            Some(_) => {}
        }
    }
}
