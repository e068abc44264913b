//! The two ends of the line between an engine and its caller (window or command line), and how
//! events leave the engine: at once, but telemetry at most ten times a second. Nothing ever blocks
//! it.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::host::{Devices, ThisMachine};
use super::supervisor::{supervise, work};
use crate::protocol::{Command, EngineExit, Event, Urgency};
use crate::records::{JobId, StepPoint, Telemetry};
use crate::run_config::WeightFormat;
use crate::runs::CheckpointThread;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunsTarget {
    /// A new folder inside this one for each run.
    Store(PathBuf),
    Folder {
        folder: PathBuf,
        /// True if a run that is there may be replaced.
        replace: bool,
    },
}

/// An engine's view of this installation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EngineSettings {
    /// Where data sets are looked for, best first.
    pub data_folders: Vec<PathBuf>,
    /// The one of these that was named for this run: it comes before those that a resumed run was
    /// started with.
    pub data_dir: Option<PathBuf>,
    /// Where finished runs go; a resumed run goes to the folder it was started with, unless this is
    /// one.
    pub runs: RunsTarget,
    /// Where the checkpoints of runs in progress go.
    pub checkpoints: PathBuf,
    /// Where reports of benchmarks go.
    pub benchmarks: PathBuf,
    /// How their model files store the weights; `None` for 32 bits, or what a resumed run was
    /// started with.
    pub weights: Option<WeightFormat>,
    /// Where NVIDIA's libraries are looked for first, if a person chose a folder.
    pub cuda_folder: Option<PathBuf>,
    /// True if training gives way to the window when both want the CPU.
    pub background_priority: bool,
    /// True if runs report what they make of held-out images as they train, for somebody who
    /// watches.
    pub reports_learning: bool,
    /// The list of other machines that My digits may be sent to.
    #[serde(skip)]
    pub recipients: PathBuf,
    #[serde(skip, default = "this_machine")]
    pub devices: Arc<dyn Devices>,
}

impl EngineSettings {
    /// The same for an engine on another machine: none of the folders of this one.
    pub(super) fn for_other_machine(&self) -> Self {
        Self {
            data_folders: Vec::new(),
            data_dir: None,
            runs: RunsTarget::Store(PathBuf::new()),
            checkpoints: PathBuf::new(),
            benchmarks: PathBuf::new(),
            cuda_folder: None,
            ..self.clone()
        }
    }
}

pub fn this_machine() -> Arc<dyn Devices> {
    Arc::new(ThisMachine)
}

/// The caller's end. Dropping it interrupts the engine, like [`Command::Interrupt`].
#[derive(Debug)]
pub struct EngineHandle {
    pub(super) commands: Sender<Command>,
    pub(super) events: Receiver<Event>,
    pub(super) process: Arc<OnceLock<u32>>,
}

pub struct EngineSide {
    pub commands: Receiver<Command>,
    pub events: EventSink,
}

impl EngineHandle {
    /// Starts an engine on a separate thread; if there can be none, [`Event::EngineExited`]
    /// reports it. `wake` is called after each event, from that thread.
    pub fn spawn(settings: EngineSettings, wake: impl Fn(Urgency) + Send + Sync + 'static) -> Self {
        let (handle, side) = Self::pair(wake);
        let not_started = side.events.fork();
        // Here, where threads begin with the usual priority.
        let started =
            CheckpointThread::start(settings.background_priority).and_then(|checkpoint_thread| {
                supervise(side, move |context| {
                    work(&settings, &checkpoint_thread, context);
                })
            });
        if let Err(error) = started {
            not_started.send(no_thread(&error));
        }
        handle
    }

    pub fn pair(wake: impl Fn(Urgency) + Send + Sync + 'static) -> (Self, EngineSide) {
        let (command_sender, commands) = channel();
        let (event_sender, events) = channel();
        let handle = Self {
            commands: command_sender,
            events,
            process: Arc::default(),
        };
        (
            handle,
            EngineSide {
                commands,
                events: EventSink::new(event_sender, wake),
            },
        )
    }

    /// The id of the process it lives in, once that is started; `None` for an engine in this one.
    pub fn process(&self) -> Option<u32> {
        self.process.get().copied()
    }

    /// Where commands go, for another thread.
    pub fn commands(&self) -> Sender<Command> {
        self.commands.clone()
    }

    /// Sends a command; false when the engine is gone.
    pub fn send(&self, command: Command) -> bool {
        self.try_send(command).is_ok()
    }

    /// Sends a command; returns it if the engine is gone.
    pub fn try_send(&self, command: Command) -> Result<(), Box<Command>> {
        self.commands
            .send(command)
            .map_err(|unsent| Box::new(unsent.0))
    }

    /// The next event that is there already; `Err` when the engine is gone and every event was
    /// taken.
    pub fn try_recv(&self) -> Result<Option<Event>, EngineGone> {
        match self.events.try_recv() {
            Ok(event) => Ok(Some(event)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(EngineGone),
        }
    }

    /// The next event, waiting for it at most this long; `Err` when the engine is gone and every
    /// event was taken.
    pub fn recv_timeout(&self, limit: Duration) -> Result<Option<Event>, EngineGone> {
        match self.events.recv_timeout(limit) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(EngineGone),
        }
    }

    /// Waits for the next event; `None` when the engine is gone.
    pub fn recv(&self) -> Option<Event> {
        self.events.recv().ok()
    }
}

pub(super) fn no_thread(error: &impl Display) -> Event {
    Event::EngineExited(EngineExit::NotStarted {
        reason: format!("no thread could be started ({error})"),
    })
}

/// The engine's end of the line was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineGone;

/// Telemetry is sent at most this often. The window decides how often it draws it.
const INTERVAL: Duration = Duration::from_millis(100);

/// Sends events to the caller.
pub struct EventSink {
    sender: Sender<Event>,
    wake: Arc<dyn Fn(Urgency) + Send + Sync>,
    last_telemetry: Option<Instant>,
    waiting: Vec<StepPoint>,
}

impl EventSink {
    pub(super) fn new(
        sender: Sender<Event>,
        wake: impl Fn(Urgency) + Send + Sync + 'static,
    ) -> Self {
        Self {
            sender,
            wake: Arc::new(wake),
            last_telemetry: None,
            waiting: Vec::new(),
        }
    }

    /// Another sink for the same caller, for another thread.
    pub(super) fn fork(&self) -> Self {
        Self {
            sender: self.sender.clone(),
            wake: Arc::clone(&self.wake),
            last_telemetry: None,
            waiting: Vec::new(),
        }
    }

    pub fn send(&self, event: Event) {
        let urgency = event.urgency();
        // A caller that is gone wants no events; the engine learns of it from its commands.
        if self.sender.send(event).is_ok() {
            (self.wake)(urgency);
        }
    }

    /// Reports what was done to the images of a job's data, if anything was.
    pub fn data_notes(&self, job: JobId, notes: &[String]) {
        if !notes.is_empty() {
            self.send(Event::DataNotes {
                job,
                notes: notes.to_vec(),
            });
        }
    }

    /// Sends telemetry of which only the newest value matters, unless some was sent just now.
    pub fn telemetry(&mut self, event: impl FnOnce() -> Event) {
        if self.due() {
            self.send(event());
        }
    }

    /// Keeps a training step and sends all that were kept when it is time.
    pub fn step(&mut self, run: JobId, point: StepPoint, now: Telemetry) {
        self.waiting.push(point);
        if self.due() {
            self.flush(run, now);
        }
    }

    pub fn flush(&mut self, run: JobId, now: Telemetry) {
        if !self.waiting.is_empty() {
            let steps = std::mem::take(&mut self.waiting);
            self.send(Event::Steps { run, steps, now });
        }
    }

    fn due(&mut self) -> bool {
        let now = Instant::now();
        let due = self
            .last_telemetry
            .is_none_or(|last| now.duration_since(last) >= INTERVAL);
        if due {
            self.last_telemetry = Some(now);
        }
        due
    }
}
