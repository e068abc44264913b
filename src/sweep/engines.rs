//! Trials in engines: on this machine, with its threads divided among them, or on other
//! machines, one each.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::slurm::SlurmArray;
use super::trial::TrialEpoch;
use crate::engine::{EngineHandle, EngineHost, EngineSettings, RemoteHost};
use crate::hardware::usable_cores;
use crate::problem::{Code, Problem};
use crate::protocol::{Command, EngineError, Event, Job, JobEvent};
use crate::records::{DataUpload, JobId};
use crate::run_config::{DeviceChoice, RunConfig};
use crate::runs::Checkpoints;

/// More trials at once than this are not the default: each holds the data in memory.
const MAX_PARALLEL: u32 = 4;

/// The trials that train in parallel on this machine if none is given: one per thread, at most 4. A
/// GPU is shared badly, because each has a separate driver.
pub fn usual_parallel(config: &RunConfig) -> u32 {
    if config.device == DeviceChoice::Cuda {
        1
    } else {
        config
            .threads
            .unwrap_or_else(usable_cores)
            .clamp(1, MAX_PARALLEL)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Trials,
    /// Runs, which are saved; one that was interrupted is resumed from its checkpoint.
    Runs,
}

/// Trains trials in engines, each of which trains one at a time.
#[derive(Debug)]
pub struct EngineExecutor {
    work: Work,
    settings: EngineSettings,
    slots: Vec<Slot>,
    /// The job array whose tasks are the slots.
    array: Option<SlurmArray>,
    /// How many engines share the threads of this machine; `None` for other machines, which have
    /// their own.
    share_threads: Option<u32>,
    jobs: u64,
    wake: SyncSender<()>,
    woken: Receiver<()>,
    received: VecDeque<(u32, TrialEvent)>,
}

impl EngineExecutor {
    /// For this many trials at once on this machine; engines start with the first trial.
    pub fn local(host: &EngineHost, settings: EngineSettings, parallel: u32) -> Self {
        let parallel = parallel.max(1);
        let slots = (0..parallel).map(|_| Slot::of(host.clone())).collect();
        Self::new(Work::Trials, settings, slots, Some(parallel), None)
    }

    /// For trials where the window trains: at once on this machine, or one at a time on another.
    pub fn of_host(host: EngineHost, settings: EngineSettings, parallel: u32) -> Self {
        match host {
            EngineHost::Remote(host) => Self::on_hosts(Work::Trials, [host], settings),
            host => Self::local(&host, settings, parallel),
        }
    }

    /// For one trial at a time on each of these machines; one that is named several times trains as
    /// many.
    pub fn on_hosts(
        work: Work,
        hosts: impl IntoIterator<Item = RemoteHost>,
        settings: EngineSettings,
    ) -> Self {
        let slots = hosts
            .into_iter()
            .map(|host| Slot::of(EngineHost::Remote(host)))
            .collect();
        Self::new(work, settings, slots, None, None)
    }

    /// For one trial at a time in each task of a Slurm job array; a trial begins as soon as a task
    /// runs.
    pub fn in_array(work: Work, array: SlurmArray, settings: EngineSettings) -> Self {
        let slots = (0..array.tasks()).map(|_| Slot::default()).collect();
        Self::new(work, settings, slots, None, Some(array))
    }

    fn new(
        work: Work,
        settings: EngineSettings,
        slots: Vec<Slot>,
        share_threads: Option<u32>,
        array: Option<SlurmArray>,
    ) -> Self {
        // One pending wake-up is enough, because the receiver takes all events.
        let (wake, woken) = sync_channel(1);
        Self {
            work,
            settings,
            slots,
            array,
            share_threads,
            jobs: 0,
            wake,
            woken,
            received: VecDeque::new(),
        }
    }

    fn threads(&self, config: &RunConfig) -> Option<u32> {
        let share = |engines: u32| (config.threads.unwrap_or_else(usable_cores) / engines).max(1);
        self.share_threads.map(share).or(config.threads)
    }

    fn poll(&mut self) {
        for slot in &mut self.slots {
            while let Some(event) = slot.next() {
                self.received.extend(slot.on_event(event));
            }
        }
    }
}

impl Executor for EngineExecutor {
    fn start(&mut self, trial: u32, config: &RunConfig) -> Result<(), Problem> {
        let config = RunConfig {
            threads: self.threads(config),
            ..config.clone()
        };
        let id = JobId(self.jobs + 1);
        let slot = self
            .slots
            .iter_mut()
            .find(|slot| slot.is_free())
            .ok_or(EngineError::Busy)?;
        self.jobs += 1;
        let device = config.device;
        let job = match self.work {
            Work::Trials => Job::Trial(config),
            Work::Runs => {
                let interrupted = Checkpoints::new(&self.settings.checkpoints)
                    .list()
                    .into_iter()
                    .find(|run| run.card.config == config);
                Job::Train {
                    config,
                    from: interrupted.map(|run| run.folder),
                }
            }
        };
        let command = Command::Submit {
            id,
            job: Box::new(job),
            data: None,
        };
        slot.begin(id, trial, device, &self.settings, &self.wake, command);
        Ok(())
    }

    fn stop(&mut self, trial: u32) {
        self.received.retain(|(of, _)| *of != trial);
        self.slots.iter_mut().for_each(|slot| slot.stop(trial));
    }

    fn capacity(&mut self) -> Result<u32, Problem> {
        if let Some(array) = &mut self.array {
            array.assign(&mut self.slots)?;
        }
        let usable = self.slots.iter().filter(|slot| slot.is_usable()).count() as u32;
        let failure = |slot: &Slot| slot.failure().cloned();
        match self
            .slots
            .iter()
            .map(failure)
            .collect::<Option<Vec<Problem>>>()
            .and_then(|mut all| all.pop())
        {
            Some(problem) => Err(problem),
            None => Ok(usable),
        }
    }

    fn next(&mut self, limit: Duration) -> Option<(u32, TrialEvent)> {
        self.poll();
        if self.received.is_empty() {
            let _ = self.woken.recv_timeout(limit);
            self.poll();
        }
        self.received.pop_front()
    }
}

/// Trains trials, on this machine or on others. Every trial that was started ends with
/// [`TrialEvent::Completed`], [`TrialEvent::Interrupted`] or [`TrialEvent::Failed`], unless it is
/// stopped: nothing more is reported of that one.
pub trait Executor {
    /// Starts a trial. Its first epoch is 1, whatever was started under the same number before.
    fn start(&mut self, trial: u32, config: &RunConfig) -> Result<(), Problem>;

    /// Ends a trial. At once afterwards, another can be started in its place.
    fn stop(&mut self, trial: u32);

    /// How many trials can train at the same time now; fewer than were asked for if machines
    /// cannot be reached. An error if none ever will.
    fn capacity(&mut self) -> Result<u32, Problem> {
        Ok(u32::MAX)
    }

    /// The next event, waiting for it at most this long.
    fn next(&mut self, limit: Duration) -> Option<(u32, TrialEvent)>;
}

#[derive(Clone, Debug, PartialEq)]
pub enum TrialEvent {
    /// How much of it is done, 0 to 1.
    Progress(f32),
    /// Its data is about to be sent to another machine.
    Sending(DataUpload),
    /// Changes of its data besides reading it.
    DataNotes(Vec<String>),
    Epoch(TrialEpoch),
    /// It trained to its end.
    Completed,
    /// The engine that trained it was asked to end, by a signal for example; the trial can begin
    /// again.
    Interrupted,
    /// It cannot be trained, or diverged, or where it trained is gone.
    Failed(Problem),
}

/// How often a connection is tried again after it was lost, before anything was received.
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
    /// True if something was received from a machine at this slot.
    was_reached: bool,
    /// Connections that were lost since something was received.
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
        self.job.is_none() && self.host.is_some() && self.failure().is_none() && !rests()
    }

    /// Why nothing is tried here any more: a machine was never reached, or not again.
    pub fn failure(&self) -> Option<&Problem> {
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
            EngineHandle::start(host, settings.clone(), move |_| {
                let _ = wake.try_send(());
            })
        });
        self.job = Some((id, trial));
        // Why an engine is gone is its last event.
        engine.send(command);
    }

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

    /// The effect of an event on the slot's trial.
    pub fn on_event(&mut self, event: Event) -> Option<(u32, TrialEvent)> {
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
            Event::DataNotes { job, notes } => {
                trial(job).map(|trial| (trial, TrialEvent::DataNotes(notes)))
            }
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
