//! A place for one trial at a time: an engine, on this machine or another.

use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use super::engines::TrialEvent;
use super::trial::TrialEpoch;
use crate::engine::{EngineHandle, EngineHost, EngineSettings, RemoteHost};
use crate::problem::{Code, Problem};
use crate::protocol::{Command, EngineError, Event, JobEvent};
use crate::records::JobId;
use crate::run_config::DeviceChoice;

/// How often a connection is tried again after it was lost, before anything was heard through it.
const ATTEMPTS: u32 = 3;
/// The time before it is tried again.
const PAUSE: Duration = Duration::from_secs(10);
/// A task of a job array runs some time before its engine does.
const TASK_ATTEMPTS: u32 = 30;
const TASK_PAUSE: Duration = Duration::from_secs(1);

/// A place for one trial. Its engine stays, with the data that it has loaded.
#[derive(Debug, Default)]
pub struct Slot {
    /// Where the engine lives; `None` while that is not known.
    host: Option<EngineHost>,
    engine: Option<EngineHandle>,
    job: Option<(JobId, u32)>,
    /// True if something was heard from a machine at this slot.
    was_reached: bool,
    /// Connections that were lost since something was heard.
    losses: u32,
    /// Why the last connection was lost, and when.
    lost: Option<(Instant, Problem)>,
}

impl Slot {
    pub fn of(host: EngineHost) -> Self {
        Self {
            host: Some(host),
            ..Self::default()
        }
    }

    /// The other machine, if it is on one.
    pub fn remote(&self) -> Option<&RemoteHost> {
        self.host.as_ref()?.remote()
    }

    /// Moves it to this machine.
    pub fn assign(&mut self, host: RemoteHost) {
        *self = Self {
            was_reached: self.was_reached,
            ..Self::of(EngineHost::Remote(host))
        };
    }

    /// Takes its machine away: the task has ended.
    pub fn unassign(&mut self) {
        self.host = None;
    }

    fn is_task(&self) -> bool {
        matches!(self.remote(), Some(RemoteHost::Slurm(_)))
    }

    /// True if a trial trains here, or can.
    pub fn is_usable(&self) -> bool {
        self.job.is_some() || self.is_free()
    }

    /// True if a trial can begin here now.
    pub fn is_free(&self) -> bool {
        let pause = if self.is_task() { TASK_PAUSE } else { PAUSE };
        let rests = || {
            self.lost
                .as_ref()
                .is_some_and(|(when, _)| when.elapsed() < pause)
        };
        self.job.is_none() && self.host.is_some() && self.given_up().is_none() && !rests()
    }

    /// Why nothing is tried here any more: a machine was never reached, or not again.
    pub fn given_up(&self) -> Option<&Problem> {
        let attempts = match self.remote()? {
            RemoteHost::Slurm(_) => TASK_ATTEMPTS,
            RemoteHost::Ssh(_) if self.was_reached => ATTEMPTS,
            RemoteHost::Ssh(_) => 1,
        };
        self.lost
            .as_ref()
            .filter(|_| self.losses >= attempts)
            .map(|(_, problem)| problem)
    }

    pub fn begin(
        &mut self,
        id: JobId,
        trial: u32,
        device: DeviceChoice,
        settings: &EngineSettings,
        wake: &SyncSender<()>,
        command: Command,
    ) {
        let host = self.host.clone().unwrap_or_default().for_device(device);
        let engine = self.engine.get_or_insert_with(|| {
            let wake = wake.clone();
            EngineHandle::start(host, settings.clone(), move || {
                let _ = wake.try_send(());
            })
        });
        self.job = Some((id, trial));
        // Why an engine is gone is its last event.
        engine.send(command);
    }

    /// Ends a trial, if it is this one.
    pub fn stop(&mut self, trial: u32) {
        if let Some((id, _)) = self.job.take_if(|(_, number)| *number == trial)
            && let Some(engine) = &self.engine
        {
            engine.send(Command::Cancel(id));
        }
    }

    pub fn next(&self) -> Option<Event> {
        self.engine
            .as_ref()?
            .try_recv()
            .unwrap_or(Some(Event::Failed(EngineError::Gone.into())))
    }

    /// What an event means for the slot's trial.
    pub fn heard(&mut self, event: Event) -> Option<(u32, TrialEvent)> {
        let job = self.job;
        let trial = |id: JobId| job.filter(|(job, _)| *job == id).map(|(_, trial)| trial);
        let (before, was_reached) = (std::mem::take(&mut self.losses), self.was_reached);
        self.was_reached = true;
        match event {
            Event::Epoch { run, record } => {
                trial(run).map(|trial| (trial, TrialEvent::Epoch(TrialEpoch::from(&record))))
            }
            Event::Job { id, event } => trial(id).map(|trial| {
                let event = match event {
                    JobEvent::Progress(progress) => {
                        return (trial, TrialEvent::Progress(progress.fraction));
                    }
                    JobEvent::Done(_) => TrialEvent::Completed,
                    // Nobody here has cancelled it: the engine was asked to end, and takes no
                    // further trial.
                    JobEvent::Cancelled
                    | JobEvent::Failed(Problem {
                        code: Code::Interrupted { .. },
                        ..
                    }) => {
                        self.engine = None;
                        TrialEvent::Interrupted
                    }
                    JobEvent::Failed(problem) => TrialEvent::Failed(problem),
                };
                self.job = None;
                (trial, event)
            }),
            Event::Sending(upload) => job.map(|(_, trial)| (trial, TrialEvent::Sending(upload))),
            Event::EngineExited(exit) => {
                (self.losses, self.was_reached) = (before, was_reached);
                self.engine_lost(exit.into())
            }
            Event::Failed(problem) if problem.code == Code::EngineGone => {
                (self.losses, self.was_reached) = (before, was_reached);
                self.engine_lost(problem)
            }
            // Of models and drawings there is nothing to say here.
            _ => None,
        }
    }

    /// The engine is gone; the next trial starts another. A trial on another machine begins again,
    /// elsewhere perhaps.
    fn engine_lost(&mut self, problem: Problem) -> Option<(u32, TrialEvent)> {
        self.engine = None;
        let is_remote = self.remote().is_some();
        self.losses += 1;
        self.lost = is_remote.then(|| (Instant::now(), problem.clone()));
        let event = if is_remote {
            TrialEvent::Interrupted
        } else {
            TrialEvent::Failed(problem)
        };
        self.job.take().map(|(_, trial)| (trial, event))
    }
}
