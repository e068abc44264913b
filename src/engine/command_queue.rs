//! Commands as they come in. What can be answered at any moment, also between two training steps,
//! is answered here: pings, drawings, a change of model or device, exports that need no measuring.
//! The rest waits for the worker or for the job that runs.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use super::handle::{EngineSettings, EventSink};
use super::jobs;
use super::recognizer::Recognizer;
use super::supervisor::{Activity, WorkerContext};
use crate::problem::Problem;
use crate::progress::Cancelled;
use crate::protocol::{Command, Event, JobResult, Question};
use crate::records::JobId;

/// How often a comparison of inference devices is looked at while no command comes.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The engine's commands, and what it answers by itself.
pub(super) struct CommandQueue<'c> {
    commands: &'c mut Receiver<Command>,
    pub events: &'c mut EventSink,
    activity: &'c mut Option<Activity>,
    waiting: VecDeque<Command>,
    pub recognizer: Recognizer,
}

impl<'c> CommandQueue<'c> {
    pub fn new(context: WorkerContext<'c>, settings: &EngineSettings) -> Self {
        let WorkerContext {
            commands,
            events,
            activity,
        } = context;
        let recognizer = Recognizer::new(settings, events);
        Self {
            commands,
            events,
            activity,
            waiting: VecDeque::new(),
            recognizer,
        }
    }

    /// Notes that a job begins: it has the machine for itself.
    pub fn start(&mut self, id: JobId) {
        self.recognizer.device.postpone();
        self.recognizer.job_started();
        *self.activity = Some(Activity::Job(id));
    }

    pub fn end(&mut self, id: JobId, result: Result<JobResult, Problem>) {
        self.events.send(Event::Job {
            id,
            event: result.into(),
        });
        self.recognizer.job_ended(self.events);
        *self.activity = None;
    }

    /// Answers what has come in and returns the next command that is left.
    pub fn poll(&mut self) -> Option<Command> {
        loop {
            match self.commands.try_recv() {
                Ok(command) => self.dispatch(command),
                Err(TryRecvError::Empty) => break,
                // Whoever shuts the engine down sends a command for that: this caller has vanished.
                Err(TryRecvError::Disconnected) => {
                    self.waiting.push_back(Command::Interrupt);
                    break;
                }
            }
        }
        if let Some((request, what)) = self.recognizer.waiting.take() {
            self.read(request, &what);
        }
        self.waiting.pop_front()
    }

    /// Waits for the next command, answering meanwhile what can be answered.
    pub fn wait(&mut self) -> Command {
        loop {
            if let Some(command) = self.wait_for(Duration::MAX) {
                return command;
            }
        }
    }

    /// The same for no longer than `limit`.
    pub fn wait_for(&mut self, limit: Duration) -> Option<Command> {
        let start = Instant::now();
        loop {
            if let Some(command) = self.poll() {
                return Some(command);
            }
            let left = limit.saturating_sub(start.elapsed());
            if left.is_zero() {
                return None;
            }
            // Nothing is compared while a run is paused either.
            if self.activity.is_none() {
                self.recognizer.poll_devices(self.events);
            }
            let timeout = if self.recognizer.device.is_comparing() {
                POLL_INTERVAL
            } else {
                Duration::MAX
            };
            match self.commands.recv_timeout(timeout.min(left)) {
                Ok(command) => self.dispatch(command),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Some(Command::Interrupt),
            }
        }
    }

    /// Whether the job that runs is to go on: the latest job goes first, so a new one cancels it.
    pub fn check(&mut self, id: JobId) -> Result<(), Cancelled> {
        match self.poll() {
            Some(Command::Cancel(named)) if named == id => Err(Cancelled),
            Some(command @ (Command::Submit { .. } | Command::Shutdown | Command::Interrupt)) => {
                self.requeue(command);
                Err(Cancelled)
            }
            _ => Ok(()),
        }
    }

    /// Puts a command back, to be given next.
    pub fn requeue(&mut self, command: Command) {
        self.waiting.push_front(command);
    }

    fn dispatch(&mut self, command: Command) {
        match command {
            Command::Ping => self.events.send(Event::Pong),
            Command::UseModel(model) => self.recognizer.use_model(&model, self.events),
            Command::ChooseInferenceDevice { choice, usable } => {
                self.recognizer.device.choose(choice, usable);
            }
            Command::Read {
                request,
                what: what @ (Question::Drawings(_) | Question::Map(_)),
            } => self.read(request, &what),
            Command::Read { request, what } => self.recognizer.waiting = Some((request, what)),
            Command::Submit { id, ref job, .. } => {
                match self.doing(Activity::Job(id), |_| jobs::run_at_once(job)) {
                    Some(result) => self.events.send(Event::Job {
                        id,
                        event: result.into(),
                    }),
                    None => self.waiting.push_back(command),
                }
            }
            // Answered by whoever serves a caller on another machine, before they come here.
            Command::FindBundle(_) | Command::SendFile { .. } | Command::KeepBundle { .. } => {}
            Command::Cancel(_)
            | Command::Pause(_)
            | Command::Resume(_)
            | Command::TakeStep { .. }
            | Command::ScaleLearningRate { .. }
            | Command::Save { .. }
            | Command::Shutdown
            | Command::Interrupt => {
                self.waiting.push_back(command);
            }
        }
    }

    fn read(&mut self, request: u64, what: &Question) {
        let answer = self.doing(Activity::Read(request), |queue| {
            queue.recognizer.read(what, queue.events)
        });
        self.events.send(Event::Read { request, answer });
    }

    /// Does something in between, so that a panic in it is reported as what it was.
    fn doing<T>(&mut self, activity: Activity, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.activity.replace(activity);
        let done = work(self);
        *self.activity = before;
        done
    }
}
