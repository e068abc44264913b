//! The caller's end of an engine on another machine: passes commands and events on, and turns the
//! paths in them into those of the other side.
//!
//! One thread does it all, from one inbox. What trains or recognizes drawings is computed there;
//! what reads or writes models of this machine (evaluation, fine-tuning, exports, imports), or
//! measures it, is done here, by an engine of this process.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::process::Command as Program;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use super::bundle::IncomingFiles;
use super::host::RemoteHost;
use super::received::{RemoteRun, Unsaved};
use super::uploads::SentData;
use crate::engine::child::HANG_TIMEOUT;
use crate::engine::handle::{EngineHandle, EngineSettings, EngineSide, EventSink, no_thread};
use crate::problem::Problem;
use crate::protocol::{Command, EngineError, EngineExit, Event, Job, JobEvent, Question, Urgency};
use crate::records::{BundleId, Ensemble, JobId, ModelRef};
use crate::run_config::DataSpec;
use crate::system::process::ignoring_hangup_and_termination;
use crate::system::threads;

/// How long to wait before it is tried again to save a run that could not be.
const RETRY_AFTER: Duration = Duration::from_secs(2);

pub(super) enum Input {
    /// From whoever holds the handle.
    Command(Command),
    CallerGone,
    /// From the other machine.
    Remote(Event),
    RemoteGone,
    /// From the engine of this process.
    Here(Event),
}

pub(super) struct Caller {
    pub settings: EngineSettings,
    pub events: EventSink,
    pub remote: Sender<Command>,
    here: Option<Sender<Command>>,
    inbox: Receiver<Input>,
    to_inbox: Sender<Input>,
    /// Commands that came while files were sent.
    waiting: VecDeque<Command>,
    pub machine: RemoteHost,
    pub sent: Option<SentData>,
    /// How many commands about a bundle are still to be answered.
    unanswered: BTreeMap<BundleId, usize>,
    /// Models that are there, and where the same are here.
    pub models: BTreeMap<PathBuf, PathBuf>,
    /// Files that have come, by their folder there.
    pub received: IncomingFiles<PathBuf>,
    /// True while the files of a run are sent that has completed an epoch: stopped, it becomes a
    /// model there.
    pub sends_run_with_model: bool,
    pub run: Option<RemoteRun>,
    /// The name of the last run's data there, and here.
    pub run_data: Option<(DataSpec, DataSpec)>,
    /// A run that has ended and could not be saved yet.
    pub unsaved: Option<Unsaved>,
    is_connected: bool,
}

impl EngineHandle {
    /// Starts the program that reaches another machine, and so an engine there:
    /// `inkling engine --remote` at the end of `ssh`, for example. `machine` is where that leads.
    /// If it fails, [`Event::EngineExited`] is the last event.
    pub fn remote(
        program: Program,
        machine: &RemoteHost,
        settings: EngineSettings,
        wake: impl Fn(Urgency) + Send + Sync + 'static,
    ) -> Self {
        let (handle, EngineSide { commands, events }) = Self::pair(wake);
        let not_started = events.fork();
        let (to_inbox, inbox) = channel();
        let Self {
            commands: remote,
            events: from_remote,
            ..
        } = Self::child(
            ignoring_hangup_and_termination(program),
            settings.for_other_machine(),
            HANG_TIMEOUT,
            |_| {},
        );
        let caller = Caller {
            settings,
            events,
            remote,
            here: None,
            inbox,
            to_inbox: to_inbox.clone(),
            waiting: VecDeque::new(),
            machine: machine.clone(),
            sent: None,
            unanswered: BTreeMap::new(),
            models: BTreeMap::new(),
            received: IncomingFiles::default(),
            sends_run_with_model: false,
            run: None,
            run_data: None,
            unsaved: None,
            is_connected: true,
        };
        let started = forward(
            commands,
            to_inbox.clone(),
            Input::Command,
            Input::CallerGone,
        )
        .and_then(|()| forward(from_remote, to_inbox, Input::Remote, Input::RemoteGone))
        .and_then(|()| threads::spawn("inkling-remote", move || caller.run()));
        if let Err(error) = started {
            not_started.send(no_thread(&error));
        }
        handle
    }
}

/// Puts everything that comes from a channel into the inbox, and at its end `last`.
fn forward<T: Send + 'static>(
    from: Receiver<T>,
    inbox: Sender<Input>,
    input: impl Fn(T) -> Input + Send + 'static,
    last: Input,
) -> std::io::Result<()> {
    let pass = move || {
        // Without an inbox nobody is interested any more.
        from.into_iter()
            .map(input)
            .chain([last])
            .all(|input| inbox.send(input).is_ok());
    };
    threads::spawn("inkling-remote-inbox", pass).map(drop)
}

impl Caller {
    fn run(mut self) {
        while self.is_connected {
            if let Some(command) = self.waiting.pop_front() {
                self.on_command(command);
                continue;
            }
            let limit = if self.unsaved.is_some() {
                RETRY_AFTER
            } else {
                Duration::MAX
            };
            match self.inbox.recv_timeout(limit) {
                Ok(Input::Command(command)) => self.on_command(command),
                Ok(input) => self.on_input(input),
                Err(RecvTimeoutError::Timeout) => self.save_again(None),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn on_input(&mut self, input: Input) {
        match input {
            Input::Command(command) => self.waiting.push_back(command),
            // A caller that vanishes interrupts the run.
            Input::CallerGone => self.waiting.push_back(Command::Interrupt),
            Input::Remote(event) => self.on_event(event),
            Input::RemoteGone => {
                // After `Interrupt` and `Shutdown` the child reports no exit: a run in progress
                // would end without a reason.
                if self.is_connected && self.run.is_some() {
                    self.connection_lost("it was closed".to_owned());
                }
                self.is_connected = false;
            }
            // Which model is in use, and where, the other engine says.
            Input::Here(event @ (Event::Job { .. } | Event::BenchmarkRow { .. })) => {
                self.events.send(event);
            }
            Input::Here(_) => {}
        }
    }

    /// The next answer about this bundle but the first `stale` ones, taking in meanwhile whatever
    /// else comes: if a job was cancelled while its files were sent, answers about them are
    /// still on their way. An error if the connection ends, or is to end.
    pub fn next_bundle_answer(
        &mut self,
        wanted: &BundleId,
        stale: &mut usize,
        job: Option<JobId>,
    ) -> Result<Result<Option<PathBuf>, String>, Problem> {
        loop {
            match self.inbox.recv() {
                Ok(Input::Remote(Event::Bundle { bundle, folder })) if bundle == *wanted => {
                    self.bundle_answered(&bundle);
                    match stale.checked_sub(1) {
                        Some(fewer) => *stale = fewer,
                        None => return Ok(folder),
                    }
                }
                Ok(Input::Command(Command::Cancel(id)))
                    if Some(id) == job && !self.sends_run_with_model =>
                {
                    return Err(crate::progress::Cancelled.into());
                }
                Ok(
                    input @ (Input::CallerGone
                    | Input::Command(Command::Interrupt | Command::Shutdown)),
                ) => {
                    self.on_input(input);
                    return Err(EngineError::Interrupted { checkpoint: None }.into());
                }
                Ok(input) => self.on_input(input),
                Err(_) => return Err(EngineError::Gone.into()),
            }
            if !self.is_connected {
                return Err(EngineError::Gone.into());
            }
        }
    }

    fn on_command(&mut self, command: Command) {
        match command {
            Command::Submit { id, job, .. } => self.submit(id, *job),
            Command::UseModel(ModelRef::File(path)) => match self.send_model(None, &path) {
                Ok(there) => self.tell(Command::UseModel(ModelRef::File(there))),
                Err(problem) => self.events.send(Event::Failed(problem)),
            },
            Command::UseModel(ModelRef::Ensemble(ensemble)) => {
                let there = ensemble
                    .models
                    .iter()
                    .map(|path| self.send_model(None, path))
                    .collect();
                match there {
                    Ok(models) => self.tell(Command::UseModel(ModelRef::Ensemble(Ensemble {
                        models,
                        ..ensemble
                    }))),
                    Err(problem) => self.events.send(Event::Failed(problem)),
                }
            }
            Command::Read { request, what } if my_digits_in(&what) > 0 => {
                match self.check_consent(my_digits_in(&what)) {
                    Ok(()) => self.tell(Command::Read { request, what }),
                    Err(problem) => self.events.send(Event::Read {
                        request,
                        answer: Err(problem),
                    }),
                }
            }
            // Which devices there are here means nothing there.
            Command::ChooseInferenceDevice { choice, .. } => {
                self.tell(Command::ChooseInferenceDevice {
                    choice,
                    usable: Vec::new(),
                });
            }
            Command::Save { folder, .. } if self.unsaved.is_some() => self.save_again(folder),
            Command::Save { run, .. } => self.tell(Command::Save { run, folder: None }),
            Command::Cancel(id) => {
                self.give_up_saving(Some(id));
                self.tell_both(&Command::Cancel(id));
            }
            command @ (Command::Interrupt | Command::Shutdown) => {
                self.give_up_saving(None);
                self.tell_both(&command);
            }
            command => self.tell(command),
        }
    }

    pub fn submit_here(&mut self, id: JobId, job: Job) {
        if self.here.is_none() {
            let EngineHandle {
                commands, events, ..
            } = EngineHandle::spawn(self.settings.clone(), |_| {});
            if let Err(error) = forward(
                events,
                self.to_inbox.clone(),
                Input::Here,
                Input::Here(Event::Pong),
            ) {
                return self.events.send(no_thread(&error));
            }
            self.here = Some(commands);
        }
        let command = Command::Submit {
            id,
            job: Box::new(job),
            data: None,
        };
        if self
            .here
            .as_ref()
            .is_none_or(|here| here.send(command).is_err())
        {
            self.here = None;
            self.events.send(Event::Job {
                id,
                event: JobEvent::Failed(EngineError::Gone.into()),
            });
        }
    }

    /// Sends a command to the other machine. If the connection is lost, that is the last event.
    pub fn tell(&self, command: Command) {
        let _ = self.remote.send(command);
    }

    /// Sends a command about a bundle, which will be answered.
    pub fn send_about_bundle(&mut self, bundle: &BundleId, command: Command) {
        *self.unanswered.entry(bundle.clone()).or_default() += 1;
        self.tell(command);
    }

    /// How many commands about a bundle are still to be answered.
    pub fn unanswered(&self, bundle: &BundleId) -> usize {
        self.unanswered.get(bundle).copied().unwrap_or_default()
    }

    fn bundle_answered(&mut self, bundle: &BundleId) {
        if let Some(left) = self.unanswered.get_mut(bundle) {
            *left -= 1;
            if *left == 0 {
                self.unanswered.remove(bundle);
            }
        }
    }

    fn tell_both(&self, command: &Command) {
        self.here
            .iter()
            .for_each(|here| drop(here.send(command.clone())));
        self.tell(command.clone());
    }

    fn on_event(&mut self, mut event: Event) {
        match event {
            Event::File { folder, mut part } => self.received.take(folder, &mut part),
            Event::Bundle { bundle, .. } => self.bundle_answered(&bundle),
            // This machine's folder takes the place of the one there.
            Event::Started { ref mut folder, .. } => {
                if let Some(run) = &self.run {
                    run.folder.path().clone_into(folder);
                }
                self.events.send(event);
            }
            Event::Checkpoint {
                ref mut folder,
                ref mut kept,
                ..
            } => {
                if kept.is_ok() {
                    *kept = self.keep_checkpoint(folder);
                }
                if let Some(run) = &self.run {
                    run.folder.path().clone_into(folder);
                }
                self.events.send(event);
            }
            Event::Job { id, event } => self.on_job_event(id, event),
            Event::ModelInUse(mut model) => {
                self.locate(&mut model.reference);
                if let Some((_, here)) = self
                    .run_data
                    .as_ref()
                    .filter(|(there, _)| *there == model.data)
                {
                    here.clone_into(&mut model.data);
                }
                self.events.send(Event::ModelInUse(model));
            }
            Event::InferenceDevice(mut comparison) => {
                self.locate(&mut comparison.model);
                self.events.send(Event::InferenceDevice(comparison));
            }
            Event::EngineExited(exit) => self.connection_lost(reason(exit)),
            event => self.events.send(event),
        }
    }

    fn connection_lost(&mut self, reason: String) {
        // Whoever gets this event may resume the run.
        self.run = None;
        self.is_connected = false;
        let machine = self.machine.name().to_owned();
        self.events
            .send(Event::EngineExited(EngineExit::Disconnected {
                machine,
                reason,
            }));
    }

    /// Names the file of a model as it is called here.
    fn locate(&self, reference: &mut ModelRef) {
        let paths = match reference {
            ModelRef::File(path) => std::slice::from_mut(path),
            ModelRef::Ensemble(ensemble) => ensemble.models.as_mut_slice(),
            ModelRef::Starter | ModelRef::Training(_) => return,
        };
        for path in paths {
            if let Some(here) = self.models.get(path) {
                here.clone_into(path);
            }
        }
    }
}

fn reason(exit: EngineExit) -> String {
    match exit {
        EngineExit::NotStarted { reason }
        | EngineExit::Garbled { reason }
        | EngineExit::Disconnected { reason, .. }
        | EngineExit::Slurm { reason } => reason,
        EngineExit::Ended { status, words } => {
            if words.is_empty() {
                status
            } else {
                words
            }
        }
        EngineExit::Hung { seconds } => format!("there was no answer for {seconds} s"),
        EngineExit::Version { ours, theirs } => {
            format!("Inkling {theirs} is installed there, and this is Inkling {ours}")
        }
    }
}

/// How many of My digits a question holds.
fn my_digits_in(what: &Question) -> u64 {
    match what {
        Question::Drawings(drawings) => drawings.len() as u64,
        Question::Map(spec) => spec.own.len() as u64,
        Question::Drawing { .. } | Question::Number { .. } | Question::Candidates { .. } => 0,
    }
}
