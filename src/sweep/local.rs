//! Trials on this machine: an engine for each of those that train at the same time.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use super::executor::{Executor, TrialEvent};
use super::trial::TrialEpoch;
use crate::engine::{EngineHandle, EngineHost, EngineSettings};
use crate::hardware::usable_cores;
use crate::problem::Problem;
use crate::protocol::{Command, Event, Job, JobEvent};
use crate::records::JobId;
use crate::run_config::{DeviceChoice, RunConfig};

/// More trials at once than this are not the default: each holds the data in memory.
const MOST_AT_ONCE: u32 = 4;

/// The trials that train at once where nobody says: one per thread, at most 4. A GPU is shared badly, because each has a driver of its own.
pub fn usual_at_once(config: &RunConfig) -> u32 {
    if config.device == DeviceChoice::Cuda { 1 } else { config.threads.unwrap_or_else(usable_cores).clamp(1, MOST_AT_ONCE) }
}

/// Trains so many trials at once, in engines of their own, with the threads divided among them.
#[derive(Debug)]
pub struct LocalExecutor {
    host: EngineHost,
    settings: EngineSettings,
    slots: Vec<Slot>,
    jobs: u64,
    wake: SyncSender<()>,
    woken: Receiver<()>,
    heard: VecDeque<(u32, TrialEvent)>,
}

/// A place for one trial. Its engine stays, with the data that it has loaded.
#[derive(Debug, Default)]
struct Slot {
    engine: Option<EngineHandle>,
    job: Option<(JobId, u32)>,
}

impl LocalExecutor {
    /// An executor for this many trials at once; engines start with the first trial.
    pub fn new(host: EngineHost, settings: EngineSettings, at_once: u32) -> Self {
        // One pending wake-up is enough, because the receiver takes all events.
        let (wake, woken) = sync_channel(1);
        let slots = (0..at_once.max(1)).map(|_| Slot::default()).collect();
        Self { host, settings, slots, jobs: 0, wake, woken, heard: VecDeque::new() }
    }

    /// The threads of each trial.
    fn threads(&self, config: &RunConfig) -> u32 {
        (config.threads.unwrap_or_else(usable_cores) / self.slots.len() as u32).max(1)
    }

    fn poll(&mut self) {
        for slot in &mut self.slots {
            while let Some(event) = slot.next() {
                self.heard.extend(slot.heard(event));
            }
        }
    }
}

impl Slot {
    /// The next event of the engine.
    fn next(&self) -> Option<Event> {
        self.engine.as_ref()?.try_recv().unwrap_or(Some(Event::Failed(Problem::EngineGone)))
    }

    /// What an event means for the slot's trial.
    fn heard(&mut self, event: Event) -> Option<(u32, TrialEvent)> {
        let job = self.job;
        let trial = |id: JobId| job.filter(|(job, _)| *job == id).map(|(_, trial)| trial);
        match event {
            Event::Epoch { run, record } => trial(run).map(|trial| (trial, TrialEvent::Epoch(TrialEpoch::from(&record)))),
            Event::Job { id, event } => trial(id).map(|trial| {
                let event = match event {
                    JobEvent::Progress(progress) => return (trial, TrialEvent::Progress(progress.fraction)),
                    JobEvent::Done(_) => TrialEvent::Completed,
                    // Nobody here has cancelled it: the engine was asked to end, and takes no further trial.
                    JobEvent::Cancelled | JobEvent::Failed(Problem::Interrupted { .. }) => {
                        self.engine = None;
                        TrialEvent::Interrupted
                    }
                    JobEvent::Failed(problem) => TrialEvent::Failed(problem),
                };
                self.job = None;
                (trial, event)
            }),
            Event::EngineExited(exit) => self.lost(exit.into()),
            Event::Failed(Problem::EngineGone) => self.lost(Problem::EngineGone),
            // Of models and drawings there is nothing to say here.
            _ => None,
        }
    }

    /// The engine is gone; the next trial starts another.
    fn lost(&mut self, problem: Problem) -> Option<(u32, TrialEvent)> {
        self.engine = None;
        self.job.take().map(|(_, trial)| (trial, TrialEvent::Failed(problem)))
    }
}

impl Executor for LocalExecutor {
    fn start(&mut self, trial: u32, config: &RunConfig) -> Result<(), Problem> {
        let config = RunConfig { threads: Some(self.threads(config)), ..config.clone() };
        let id = JobId(self.jobs + 1);
        let slot = self.slots.iter_mut().find(|slot| slot.job.is_none()).ok_or(Problem::Busy)?;
        let wake = self.wake.clone();
        let engine = slot.engine.get_or_insert_with(|| {
            EngineHandle::start(self.host.for_device(config.device), self.settings.clone(), move || {
                let _ = wake.try_send(());
            })
        });
        self.jobs += 1;
        slot.job = Some((id, trial));
        // Why an engine is gone is its last event.
        engine.send(Command::Submit { id, job: Box::new(Job::Trial(config)) });
        Ok(())
    }

    fn stop(&mut self, trial: u32) {
        self.heard.retain(|(heard, _)| *heard != trial);
        for slot in &mut self.slots {
            if let Some((id, _)) = slot.job.take_if(|(_, number)| *number == trial)
                && let Some(engine) = &slot.engine
            {
                engine.send(Command::Cancel(id));
            }
        }
    }

    fn next(&mut self, limit: Duration) -> Option<(u32, TrialEvent)> {
        self.poll();
        if self.heard.is_empty() {
            let _ = self.woken.recv_timeout(limit);
            self.poll();
        }
        self.heard.pop_front()
    }
}
