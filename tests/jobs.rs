//! Jobs in few words: submitting them, and what is heard of them.

use std::path::PathBuf;

use inkling::problem::Problem;
use inkling::protocol::{Command, Event, Job, JobEvent, JobProgress, JobResult};
use inkling::records::{JobId, RunSummary};
use inkling::run_config::RunConfig;

pub fn submit(id: u64, job: Job) -> Command {
    Command::Submit {
        id: JobId(id),
        job: Box::new(job),
        data: None,
    }
}

pub fn train(id: u64, config: &RunConfig, from: Option<PathBuf>) -> Command {
    submit(
        id,
        Job::Train {
            config: config.clone(),
            from,
        },
    )
}

/// The job that a command submits.
pub fn submitted(command: &Command) -> Option<(JobId, &Job)> {
    if let Command::Submit { id, job, .. } = command {
        Some((*id, job.as_ref()))
    } else {
        None
    }
}

/// The configuration and the checkpoint of the training run that a command submits.
pub fn submitted_run(command: &Command) -> Option<(JobId, &RunConfig, Option<&PathBuf>)> {
    match submitted(command)? {
        (id, Job::Train { config, from }) => Some((id, config, from.as_ref())),
        _ => None,
    }
}

pub fn progress(id: u64, fraction: f32) -> Event {
    Event::Job {
        id: JobId(id),
        event: JobEvent::Progress(JobProgress {
            fraction,
            ..JobProgress::default()
        }),
    }
}

pub fn done(id: JobId, result: JobResult) -> Event {
    Event::Job {
        id,
        event: JobEvent::Done(Box::new(result)),
    }
}

pub fn cancelled(id: JobId) -> Event {
    Event::Job {
        id,
        event: JobEvent::Cancelled,
    }
}

pub fn failed(id: JobId, problem: impl Into<Problem>) -> Event {
    Event::Job {
        id,
        event: JobEvent::Failed(problem.into()),
    }
}

/// The result of this job, once an event brings it; panics when the job fails.
pub fn result(event: Event, wanted: u64) -> Option<JobResult> {
    match event {
        Event::Job {
            id,
            event: JobEvent::Done(result),
        } if id.0 == wanted => Some(*result),
        Event::Job {
            event: JobEvent::Failed(problem),
            ..
        } => panic!("{problem}"),
        _ => None,
    }
}

/// Why this job failed, once an event says so.
pub fn failure(event: Event, wanted: u64) -> Option<Problem> {
    match event {
        Event::Job {
            id,
            event: JobEvent::Failed(problem),
        } if id.0 == wanted => Some(problem),
        _ => None,
    }
}

/// The summary of a training run that ended well; panics when a job fails.
pub fn finished(event: Event) -> Option<RunSummary> {
    match event {
        Event::Job {
            event: JobEvent::Done(result),
            ..
        } => match *result {
            JobResult::Train(summary) => Some(summary),
            other => panic!("{other:?}"),
        },
        Event::Job {
            event: JobEvent::Failed(problem),
            ..
        } => panic!("{problem}"),
        _ => None,
    }
}

/// True when a job has ended, however it did.
pub fn has_ended(event: &Event) -> bool {
    matches!(
        event,
        Event::Job {
            event: JobEvent::Done(_) | JobEvent::Cancelled | JobEvent::Failed(_),
            ..
        }
    )
}
