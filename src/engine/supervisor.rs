//! The engine's thread: one job at a time, until shutdown. A panic in its work is reported and the
//! work starts anew.

use std::any::Any;
use std::error::Error;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;

use super::command_queue::CommandQueue;
use super::dataset_cache::DatasetCache;
use super::handle::{EngineSettings, EngineSide, EventSink, no_thread};
use super::jobs::{self, Workspace};
use crate::problem::Problem;
use crate::protocol::{Command, EngineError, Event, JobEvent};
use crate::records::JobId;
use crate::runs::CheckpointThread;
use crate::system::threads;

/// What the engine's work gets: commands, a sink for events, and a place to note its activity, so
/// that a panic is reported as what it interrupted.
pub struct WorkerContext<'a> {
    pub commands: &'a mut Receiver<Command>,
    pub events: &'a mut EventSink,
    pub activity: &'a mut Option<Activity>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Job(JobId),
    Read(u64),
}

impl Activity {
    pub const fn failed(self, problem: Problem) -> Event {
        match self {
            Self::Job(id) => Event::Job {
                id,
                event: JobEvent::Failed(problem),
            },
            Self::Read(request) => Event::Read {
                request,
                answer: Err(problem),
            },
        }
    }
}

/// Runs `work` on a separate thread until it returns, anew after each panic. An error if there
/// can be no further thread.
pub fn supervise(
    side: EngineSide,
    mut work: impl FnMut(WorkerContext<'_>) + Send + 'static,
) -> io::Result<()> {
    threads::spawn("inkling-engine", move || {
        let EngineSide {
            mut commands,
            events,
        } = side;
        loop {
            let (mut sink, mut activity) = (events.fork(), None);
            // Nothing the work owned outlives a panic: its state, its models and its half-sent
            // telemetry are dropped here.
            let context = WorkerContext {
                commands: &mut commands,
                events: &mut sink,
                activity: &mut activity,
            };
            let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(context))) else {
                return;
            };
            let message = panic_message(panic.as_ref());
            tracing::error!(%message, "the engine panicked");
            let problem = Problem::from(EngineError::Panicked { message });
            events.send(match activity {
                Some(activity) => Activity::failed(activity, problem),
                None => Event::Failed(problem),
            });
            events.send(Event::Restarted);
        }
    })?;
    Ok(())
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no reason given".to_owned())
}

pub(super) fn work(
    settings: &EngineSettings,
    checkpoint_thread: &CheckpointThread,
    context: WorkerContext<'_>,
) {
    if settings.background_priority {
        threads::below_normal();
    }
    // Whatever computes outside of a run uses this pool. Started by its first use, it would panic
    // where there can be no further thread.
    if let Err(error) = rayon::ThreadPoolBuilder::new().build_global()
        && error.source().is_some()
    {
        return context.events.send(no_thread(&error));
    }
    let mut queue = CommandQueue::new(context, settings);
    let mut workspace = Workspace {
        settings,
        checkpoint_thread,
        datasets: DatasetCache::default(),
    };
    loop {
        match queue.wait() {
            Command::Submit { id, job, data } => {
                workspace.datasets.sent = data;
                jobs::run(&mut workspace, &mut queue, id, &job);
            }
            Command::Shutdown | Command::Interrupt => return,
            // The job that was meant is over already.
            _ => {}
        }
    }
}
