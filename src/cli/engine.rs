//! The command line's end of the engine: one job, followed to its end.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use super::failure::{Failure, INTERRUPTED};
use super::interrupt::{self, Request};
use super::output::Progress;
use crate::data::DataError;
use crate::engine::{EngineHandle, EngineHost, EngineSettings, RunsTarget, this_machine};
use crate::problem::{Code, Problem};
use crate::progress::Cancelled;
use crate::protocol::{Command, EngineError, Event, Job, JobEvent, JobProgress, JobResult};
use crate::records::JobId;
use crate::run_config::{DeviceChoice, WeightFormat};
use crate::system::paths::Paths;

/// The name of the only job.
const JOB: JobId = JobId(1);

/// How often this process checks for Ctrl-C and requests to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The longest this process waits for a signal that its engine has handled already, as may happen
/// on a busy machine.
const MAX_SIGNAL_DELAY: Duration = Duration::from_millis(500);

/// An update on a job before it ends.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "each is handled before the next one comes"
)]
pub enum Update {
    Progress(JobProgress),
    /// A further event of a training run or a benchmark.
    Event(Event),
    Cancelling,
    /// Its engine has crashed or stopped; the failure follows.
    EngineLost,
}

/// An engine started by a subcommand, and its events.
#[derive(Debug)]
pub struct Engine {
    handle: EngineHandle,
    woken: Receiver<()>,
}

impl Engine {
    /// Starts one for work on this device, in a separate process if the device needs a driver.
    /// `data_dir` is searched before the usual data folders.
    pub fn start(device: DeviceChoice, data_dir: Option<PathBuf>) -> Result<Self, Problem> {
        let host = EngineHost::from_env().for_device(device);
        Ok(Self::start_on(host, settings(data_dir, None, None)?))
    }

    pub fn start_on(host: EngineHost, settings: EngineSettings) -> Self {
        // One pending wake-up is enough, because the receiver takes all events.
        let (wake, woken) = sync_channel(1);
        let handle = EngineHandle::start(host, settings, move |_| {
            let _ = wake.try_send(());
        });
        Self { handle, woken }
    }

    /// Has the run that could not be saved saved in this folder, or tried again without one; may be
    /// called from any thread.
    pub fn run_saver(&self) -> impl Fn(Option<PathBuf>) + Send + use<> {
        let commands = self.handle.commands();
        // If the engine is gone, the run has ended.
        move |folder| drop(commands.send(Command::Save { run: JOB, folder }))
    }

    /// Submits a job and follows it to its end; `None` if it was cancelled, as Ctrl-C does once its
    /// handler is installed. A request to end interrupts it: that is a failure.
    pub fn run(
        &self,
        job: Job,
        update: impl FnMut(Update) -> Result<(), Failure>,
    ) -> Result<Option<JobResult>, Failure> {
        self.submit(job)?;
        self.follow_to_end(update)
    }

    /// The same, and stops the job before it begins: a resumed run that has completed an epoch is
    /// saved as it is.
    pub fn run_stopped(
        &self,
        job: Job,
        update: impl FnMut(Update) -> Result<(), Failure>,
    ) -> Result<Option<JobResult>, Failure> {
        self.submit(job)?;
        self.send(Command::Cancel(JOB))?;
        self.follow_to_end(update)
    }

    fn submit(&self, job: Job) -> Result<(), Problem> {
        self.send(Command::Submit {
            id: JOB,
            job: Box::new(job),
            data: None,
        })
    }

    fn follow_to_end(
        &self,
        update: impl FnMut(Update) -> Result<(), Failure>,
    ) -> Result<Option<JobResult>, Failure> {
        let followed = self.follow(update);
        match (interrupt::requested(), followed) {
            (Some(Request::Interrupt(status)), Ok(None)) => {
                Err(Failure::from(Cancelled).terminated(status))
            }
            // However its engine has ended: perhaps the signal reached that first.
            (Some(Request::Interrupt(status)), Err(failure)) => Err(failure.terminated(status)),
            (_, followed) => followed,
        }
    }

    fn follow(
        &self,
        mut update: impl FnMut(Update) -> Result<(), Failure>,
    ) -> Result<Option<JobResult>, Failure> {
        let mut asked = None;
        loop {
            let request = interrupt::requested();
            if request != asked {
                asked = request;
                match request {
                    Some(Request::Stop) => {
                        update(Update::Cancelling)?;
                        self.send(Command::Cancel(JOB))?;
                    }
                    Some(Request::Interrupt(_)) => self.send(Command::Interrupt)?,
                    None => {}
                }
            }
            match self.next()? {
                Some(Event::Job {
                    event: JobEvent::Progress(progress),
                    ..
                }) => update(Update::Progress(progress))?,
                Some(Event::Job {
                    event: JobEvent::Done(result),
                    ..
                }) => return Ok(Some(*result)),
                Some(Event::Job {
                    event: JobEvent::Cancelled,
                    ..
                }) => return Ok(None),
                Some(Event::Job {
                    event: JobEvent::Failed(problem),
                    ..
                }) => {
                    if problem.code == Code::Panicked {
                        update(Update::EngineLost)?;
                    }
                    let interrupted = matches!(problem.code, Code::Interrupted { .. });
                    if interrupted {
                        wait_for_request();
                    }
                    let failure = Failure::from(problem);
                    return Err(if interrupted && interrupt::requested().is_some() {
                        failure.terminated(INTERRUPTED)
                    } else {
                        failure
                    });
                }
                Some(Event::EngineExited(exit)) => {
                    wait_for_request();
                    update(Update::EngineLost)?;
                    return Err(exit.into());
                }
                // A restarted engine has lost the job.
                Some(Event::Restarted) => {
                    update(Update::EngineLost)?;
                    return Err(EngineError::Gone.into());
                }
                Some(event) => update(Update::Event(event))?,
                None => {}
            }
        }
    }

    fn send(&self, command: Command) -> Result<(), Problem> {
        if self.handle.send(command) {
            return Ok(());
        }
        // Why is its last event, and that may come a moment later.
        while let Some(event) = self.handle.recv() {
            if let Event::EngineExited(exit) = event {
                wait_for_request();
                return Err(exit.into());
            }
        }
        Err(EngineError::Gone.into())
    }

    /// The next event; `None` if there was none for a short while.
    fn next(&self) -> Result<Option<Event>, Problem> {
        loop {
            match self.handle.try_recv() {
                Ok(Some(event)) => return Ok(Some(event)),
                Ok(None) => match self.woken.recv_timeout(POLL_INTERVAL) {
                    Ok(()) => {}
                    Err(RecvTimeoutError::Timeout) => return Ok(None),
                    // The engine has ended, but its last events may still be queued.
                    Err(RecvTimeoutError::Disconnected) => {
                        return self.handle.try_recv().map_err(|_| EngineError::Gone.into());
                    }
                },
                Err(_) => return Err(EngineError::Gone.into()),
            }
        }
    }
}

/// Waits briefly for a request to end: a terminal sends its signals to this process and to its
/// engine, which may handle them first.
fn wait_for_request() {
    let started = Instant::now();
    while interrupt::requested().is_none() && started.elapsed() < MAX_SIGNAL_DELAY {
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// What an engine of the command line works with. Runs are saved among Inkling's own unless another
/// folder is given.
pub fn settings(
    data_dir: Option<PathBuf>,
    runs: Option<RunsTarget>,
    weights: Option<WeightFormat>,
) -> Result<EngineSettings, DataError> {
    let paths = Paths::find();
    Ok(EngineSettings {
        data_folders: data_folders(data_dir.clone(), &paths)?,
        data_dir,
        runs: runs.unwrap_or(RunsTarget::Store(paths.runs)),
        checkpoints: paths.checkpoints,
        benchmarks: paths.benchmarks,
        weights,
        cuda_folder: None,
        background_priority: false,
        reports_learning: false,
        recipients: paths.recipients,
        devices: this_machine(),
    })
}

/// Shows how far a job is, behind what it does, and what was done to its data; the bar goes when
/// the job ends.
pub fn shown_by(progress: Progress, doing: &str) -> impl FnMut(Update) -> Result<(), Failure> {
    move |update| {
        match update {
            Update::Progress(now) => progress.show(now.fraction, doing),
            Update::Event(Event::DataNotes { notes, .. }) => progress.notes(&notes),
            _ => {}
        }
        Ok(())
    }
}

/// The folders to search for data sets, in order.
pub fn data_folders(given: Option<PathBuf>, paths: &Paths) -> Result<Vec<PathBuf>, DataError> {
    match given {
        Some(folder) if !folder.is_dir() => Err(DataError::Missing { path: folder }),
        _ => Ok(given
            .into_iter()
            .chain(paths.data.iter().cloned())
            .collect()),
    }
}
