//! The app's end of the engine: connecting to it, choosing whether it lives on a thread or in a
//! separate process, and what happens when it is gone.

use crate::settings::Settings;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::background::SharedFolder;
use super::ctx::{AppDeps, Request};
use super::notice::Severity;
use super::state::App;
use crate::engine::{EngineHandle, EngineHost, EngineSettings, RunsTarget, this_machine};
use crate::problem::{Message, Problem};
use crate::protocol::{Command, EngineError, EngineExit};
use crate::records::ModelRef;
use crate::run_config::DeviceChoice;
use crate::runs::Checkpoints;
use crate::window::Ctx;

/// The engine there is, and how it is reached.
pub(super) struct EngineLink {
    pub handle: EngineHandle,
    pub host: EngineHost,
    /// Where an engine lives when no device asks for something else.
    usual_host: EngineHost,
    /// False once it is gone and a new one could not be started.
    alive: bool,
    /// True once it was asked to end: no other takes its place.
    pub ending: bool,
    /// True once it said something; one that never did is not restarted again and again.
    responded: bool,
    /// The data folders it was started with.
    pub data_folders: Vec<PathBuf>,
}

impl EngineLink {
    pub fn start(deps: &AppDeps, settings: &Settings) -> Self {
        Self::start_on(deps.host.clone(), deps.host.clone(), deps, settings)
    }

    fn start_on(
        host: EngineHost,
        usual_host: EngineHost,
        deps: &AppDeps,
        settings: &Settings,
    ) -> Self {
        let engine = engine_settings(deps, settings);
        let data_folders = engine.data_folders.clone();
        let handle = (deps.connect)(host.clone(), engine, Arc::clone(&deps.wake));
        Self {
            handle,
            host,
            usual_host,
            alive: true,
            ending: false,
            responded: false,
            data_folders,
        }
    }

    /// Where an engine lives when no device asks for something else.
    pub fn usual_host(&self) -> EngineHost {
        self.usual_host.clone()
    }

    /// Where an engine lives that computes on this device.
    pub fn host_for(&self, device: DeviceChoice) -> EngineHost {
        self.usual_host.for_device(device)
    }
}

/// The installation, as an engine gets it.
pub(super) fn engine_settings(deps: &AppDeps, settings: &Settings) -> EngineSettings {
    EngineSettings {
        data_folders: deps
            .paths
            .data
            .iter()
            .chain(&settings.data_folders)
            .cloned()
            .collect(),
        data_dir: None,
        runs: RunsTarget::Store(deps.paths.runs.clone()),
        checkpoints: deps.paths.checkpoints.clone(),
        benchmarks: deps.paths.benchmarks.clone(),
        weights: None,
        cuda_folder: settings.cuda_folder.clone(),
        background_priority: true,
        reports_learning: true,
        recipients: deps.paths.recipients.clone(),
        devices: this_machine(),
    }
}

impl App {
    /// Takes in every event that has come.
    pub(super) fn poll_engine(&mut self) {
        while self.next_event(Duration::ZERO) {}
    }

    /// Takes in the next event, waiting for it at most this long; false if there is none.
    fn next_event(&mut self, limit: Duration) -> bool {
        if !self.ctx.engine.alive {
            return false;
        }
        match self.ctx.engine.handle.recv_timeout(limit) {
            Ok(Some(event)) => {
                self.ctx.engine.responded = true;
                self.on_event(event);
            }
            Ok(None) => return false,
            Err(_) => self.engine_disconnected(),
        }
        true
    }

    /// Waits at most this long for the newest drawing to be recognized, and returns whether it has
    /// been. Does not wait while a job keeps the engine busy.
    pub fn wait_for_verdict(&mut self, limit: Duration) -> bool {
        let limit = if self.ctx.jobs.is_empty() {
            limit
        } else {
            Duration::ZERO
        };
        let start = Instant::now();
        while self.draw.is_behind(&self.ctx)
            && self.next_event(limit.saturating_sub(start.elapsed()))
        {
            self.settle();
        }
        !self.draw.is_behind(&self.ctx)
    }

    /// Carries out what features want of the engine and of each other.
    pub(super) fn settle(&mut self) {
        while let Some(request) = self.ctx.requests.pop_front() {
            match request {
                Request::Send(command) => self.send_now(*command),
                Request::Prepare { before } => self.screen_changed(before),
                Request::Start(run) => self.train.start_run(&mut self.ctx, *run, None),
                Request::ShowResults(folder) => self.show_results(&folder),
                Request::UpdateInferenceDevice => self.update_inference_device(),
                Request::CopyImage(image) => self.shell.copy_image(&mut self.ctx, image),
                Request::RunBegins => self.draw.classified_at = 0.0,
                Request::TimePresets => self.machine.time_presets(&mut self.ctx),
                Request::MoveEngine(host) => self.move_engine_to(host),
                Request::RestartEngine => self.restart_engine(),
                Request::Do(action) => self.apply(*action),
            }
        }
    }

    fn send_now(&mut self, command: Command) {
        let job = match &command {
            Command::Submit { job, .. } => Some(job.device()),
            _ => None,
        };
        if let Some(device) = job.flatten() {
            self.move_engine_for(device);
        }
        if !self.deliver(command) && job.is_some() {
            self.engine_disconnected();
        }
    }

    /// Sends a command, starting a new engine if there is none. False when none can be had.
    fn deliver(&mut self, command: Command) -> bool {
        let Err(command) = self.ctx.try_send(command) else {
            return true;
        };
        // What an engine that is gone has said last is taken in before another takes its place.
        self.poll_engine();
        // A job that was abandoned with that engine is not handed to the next one.
        if let Command::Submit { id, .. } = &*command
            && !self.ctx.jobs.has(*id)
        {
            return true;
        }
        let Err(command) = self.ctx.try_send(*command) else {
            return true;
        };
        self.reconnect();
        self.ctx.engine.handle.send(*command)
    }

    /// Has the engine live where it reaches this device.
    pub(super) fn move_engine_for(&mut self, device: DeviceChoice) {
        let host = self.ctx.engine.host_for(device);
        if self.ctx.engine.host != host {
            self.ctx.engine.host = host;
            self.restart_engine();
        }
    }

    /// Has the engine live on this host from now on.
    pub(super) fn move_engine_to(&mut self, host: EngineHost) {
        (self.ctx.engine.host, self.ctx.engine.usual_host) = (host.clone(), host);
        self.restart_engine();
        self.update_inference_device();
    }

    /// Puts a new engine in the place of the one there is, which goes on with the same model and
    /// drawing.
    pub(super) fn restart_engine(&mut self) {
        let was_behind = self.draw.is_behind(&self.ctx);
        self.reconnect();
        if let Some(model @ (ModelRef::File(_) | ModelRef::Ensemble(_))) = self
            .ctx
            .model_in_use
            .as_ref()
            .map(|model| model.reference.clone())
        {
            self.send_now(Command::UseModel(model));
        }
        if was_behind {
            self.draw.recognize_again(&mut self.ctx);
        }
    }

    fn reconnect(&mut self) {
        self.ctx.engine = EngineLink::start_on(
            self.ctx.engine.host.clone(),
            self.ctx.engine.usual_host.clone(),
            &self.ctx.deps,
            &self.ctx.settings,
        );
        self.forget_requests();
        self.reset_inference_device();
    }

    /// The engine's process exited: one on a thread takes its place, for good, as a process that
    /// was lost once may be lost again.
    pub(super) fn engine_exited(&mut self, exit: EngineExit) {
        let was_training = self.ctx.is_training();
        self.abandon_jobs();
        if self.ctx.engine.host == EngineHost::Thread
            && matches!(exit, EngineExit::NotStarted { .. })
        {
            // Another would have as little to start with.
            self.ctx.engine.alive = false;
            return self.ctx.show_problem(&exit.into());
        }
        (self.ctx.engine.host, self.ctx.engine.usual_host) =
            (EngineHost::Thread, EngineHost::Thread);
        if self.ctx.other_machine.take().is_none() {
            self.draw.give_up_gpu_inference();
        }
        self.restart_engine();
        self.ctx.report_engine_loss(Some(exit), was_training);
    }

    /// The engine restarted itself after a panic.
    pub(super) fn engine_restarted(&mut self) {
        let was_training = self.ctx.is_training();
        self.abandon_jobs();
        self.ctx.report_engine_loss(None, was_training);
    }

    /// Nobody is at the engine's end any more: a new engine takes its place, unless this one never
    /// worked.
    pub(super) fn engine_disconnected(&mut self) {
        let was_training = self.ctx.is_training();
        self.abandon_jobs();
        if self.ctx.engine.ending {
            self.ctx.engine.alive = false;
        } else if self.ctx.engine.responded {
            self.restart_engine();
            self.ctx.report_engine_loss(None, was_training);
        } else {
            self.ctx.engine.alive = false;
            self.ctx.show_problem(&EngineError::Gone.into());
        }
    }
}

impl Ctx {
    fn try_send(&self, command: Command) -> Result<(), Box<Command>> {
        if self.engine.alive {
            self.engine.handle.try_send(command)
        } else {
            Err(Box::new(command))
        }
    }

    /// The message depends on the checkpoints that are there.
    fn report_engine_loss(&self, exit: Option<EngineExit>, was_training: bool) {
        let checkpoints = Checkpoints::new(&self.deps.paths.checkpoints);
        self.background.run_on(
            SharedFolder::Checkpoints,
            move || checkpoints.list(),
            move |app, interrupted| {
                app.train.set_interrupted(interrupted);
                // A crash within this process has ended its run already.
                let left = app
                    .train
                    .interrupted_checkpoint()
                    .map(|last| last.position)
                    .filter(|_| was_training || exit.is_none());
                let problem = exit.map(Problem::from);
                let was_training = was_training || left.is_some();
                let message = Message::engine_lost(problem.as_ref(), was_training, left);
                app.ctx.show_notice(Severity::Error, message);
            },
        );
    }
}
