//! Owns runs that were interrupted: which there are, going on with one, forgetting one.
//! Must not know how a checkpoint is written or read.

use std::path::{Path, PathBuf};

use crate::app::App;
use crate::app::action::Screen;
use crate::app::background::BackgroundResult;
use crate::app::run::{LastCheckpoint, Phase, RunView};
use crate::engine::EngineHost;
use crate::problem::{EngineExit, Problem};
use crate::protocol::Command;
use crate::records::{ModelRef, RunId};
use crate::run_config::{DeviceChoice, RunConfig};
use crate::runs::{Checkpoints, InterruptedRun};

impl App {
    /// The run that broke off in this window and can go on.
    pub fn interrupted_checkpoint(&self) -> Option<&LastCheckpoint> {
        self.run.as_ref().and_then(RunView::resumable_checkpoint)
    }

    pub(in crate::app) fn list_interrupted(&self) {
        let checkpoints = Checkpoints::new(&self.deps.paths.checkpoints);
        self.background.run(move || Some(BackgroundResult::Interrupted(checkpoints.list())));
    }

    /// What lies there counts, not what was heard of it: an engine may die between writing a checkpoint and saying so.
    pub(in crate::app) fn set_interrupted(&mut self, runs: Vec<InterruptedRun>) {
        if let Some(run) = self.run.as_mut().filter(|run| run.phase == Phase::Failed)
            && let Some(left) = runs.iter().find(|left| Some(&left.folder) == run.checkpoints.as_ref())
        {
            run.checkpoint = Some(LastCheckpoint { folder: left.folder.clone(), epochs: left.card.epochs.len() as u32 });
        }
        self.interrupted = runs;
    }

    pub(in crate::app) fn forget_interrupted(&mut self, folder: PathBuf) {
        let checkpoints = Checkpoints::new(&self.deps.paths.checkpoints);
        if let Some(run) = self.run.as_mut().filter(|run| run.resumable_checkpoint().is_some_and(|last| last.folder == folder)) {
            (run.checkpoint, run.checkpoints) = (None, None);
        }
        self.background.run(move || {
            Some(match checkpoints.delete(&folder) {
                Ok(()) => BackgroundResult::Interrupted(checkpoints.list()),
                Err(error) => BackgroundResult::Failed(error.into()),
            })
        });
    }

    /// Goes on with an interrupted run from its checkpoint, here: on the processor if its device cannot be used.
    pub(in crate::app) fn resume_interrupted(&mut self, folder: &Path) {
        if self.is_training() {
            self.show_problem(&Problem::Busy);
            return;
        }
        let id = RunId(self.next_id());
        let here = self.run.take_if(|run| run.resumable_checkpoint().is_some_and(|last| last.folder == folder));
        // What took the engine with it is not tried again by itself.
        let here_again = here.is_some();
        let listed = || self.interrupted.iter().find(|run| run.folder == folder).map(|run| RunView::new(id, run.card.config.clone()));
        let Some(mut run) = here.map(|run| run.resumed_as(id)).or_else(listed) else { return };
        self.interrupted.retain(|run| run.folder != folder);
        if self.why_not_device(run.config.device).is_some() || here_again {
            run.config = RunConfig { device: DeviceChoice::Cpu, ..run.config };
        }
        run.config = self.with_device(&run.config);
        let config = run.config.clone();
        self.run = Some(run);
        self.screen = Screen::Train;
        self.reread_at = 0.0;
        self.move_to_host_for(config.device);
        if !self.send(Command::Start { run: id, config, from: Some(folder.to_owned()) }) {
            self.engine_is_gone();
        }
    }

    /// Has the engine live where a run on this device is carried out; the same model reads.
    pub(in crate::app) fn move_to_host_for(&mut self, device: DeviceChoice) {
        let host = self.deps.host.for_device(device);
        if self.host != host {
            self.host = host;
            self.start_engine_anew();
        }
    }

    /// Puts a fresh engine in the place of the one there is; the same model reads, the drawing that is there too.
    pub(in crate::app) fn start_engine_anew(&mut self) {
        let was_behind = self.predictions.is_behind();
        self.reconnect();
        if let Some(file @ ModelRef::File(_)) = self.model_in_use.as_ref().map(|model| model.reference.clone()) {
            self.send(Command::UseModel(file));
        }
        if was_behind {
            self.drawing_changed();
        }
    }

    /// The engine's process is gone: one on a thread takes its place.
    pub(in crate::app) fn engine_is_lost(&mut self, loss: EngineExit) {
        let was_training = self.is_training();
        self.engine_lost_everything();
        // For good: a process that was lost once may be lost again.
        (self.host, self.deps.host) = (EngineHost::Thread, EngineHost::Thread);
        self.give_reading_up();
        self.start_engine_anew();
        // What is said depends on what lies there.
        let checkpoints = Checkpoints::new(&self.deps.paths.checkpoints);
        self.background.run(move || Some(BackgroundResult::EngineExited { loss, was_training, interrupted: checkpoints.list() }));
    }
}
