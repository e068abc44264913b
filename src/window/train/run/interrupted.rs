//! Interrupted runs: listing, resuming and deleting them.

use std::path::{Path, PathBuf};

use super::{LastCheckpoint, Phase, RunView};
use crate::records::JobId;
use crate::run_config::{DeviceChoice, RunConfig};
use crate::runs::{Checkpoints, InterruptedRun};
use crate::window::{App, Ctx, SharedFolder, Train};

impl App {
    /// Resumes an interrupted run from its checkpoint; on the CPU if its device cannot be used.
    pub fn resume_interrupted(&mut self, folder: &Path) {
        if self.ctx.is_too_busy() {
            return;
        }
        let Some(run) = self.take_interrupted(folder) else {
            return;
        };
        self.queue_repetitions_after(&run.config);
        self.start_run(run, Some(folder.to_owned()));
    }

    /// Makes a model of an interrupted run without training on: it is resumed, and stopped before
    /// its next step.
    pub fn save_interrupted(&mut self, folder: &Path) {
        if self.ctx.is_too_busy() {
            return;
        }
        let Some(run) = self.take_interrupted(folder) else {
            return;
        };
        let is_complete = run.history.epochs.len() >= run.config.epochs as usize;
        self.start_run(run, Some(folder.to_owned()));
        if !is_complete {
            self.train.stop(&mut self.ctx);
        }
    }

    /// The interrupted run in this folder, to be resumed; `None` if there is none.
    fn take_interrupted(&mut self, folder: &Path) -> Option<RunView> {
        let id = JobId(self.ctx.next_id());
        let here = self.train.run.take_if(|run| {
            run.resumable_checkpoint()
                .is_some_and(|last| last.folder == folder)
        });
        // A device that may have taken the engine with it is not tried again by itself.
        let failed_here = here.as_ref().is_some_and(|run| run.phase == Phase::Failed);
        let listed = || {
            Some(RunView::interrupted(
                id,
                self.train
                    .interrupted
                    .iter()
                    .find(|run| run.folder == folder)?,
            ))
        };
        let mut run = here.or_else(listed).map(|run| run.resumed_as(id))?;
        self.train.interrupted.retain(|run| run.folder != folder);
        if self.why_not_device(run.config.device).is_some() || failed_here {
            run.config = RunConfig {
                device: DeviceChoice::Cpu,
                ..run.config
            };
        }
        run.config = self.ctx.with_device(&run.config);
        Some(run)
    }
}

impl Train {
    /// The checkpoint of the run that was interrupted in this window, if it can be resumed.
    pub fn interrupted_checkpoint(&self) -> Option<&LastCheckpoint> {
        self.run.as_ref().and_then(RunView::resumable_checkpoint)
    }

    /// The same, unless settings for another run have been chosen since: what Ctrl+Enter and the
    /// largest button resume.
    pub fn run_to_resume(&self) -> Option<&LastCheckpoint> {
        self.interrupted_checkpoint()
            .filter(|_| !self.run.as_ref().is_some_and(|run| run.passed_over))
    }

    /// Notes that the person has chosen a setting of the next run.
    pub fn setting_chosen(&mut self) {
        self.chosen = true;
        if let Some(run) = self.run.as_mut().filter(|run| !run.is_active()) {
            run.passed_over = true;
        }
    }

    /// The checkpoints on disk count, not those that were reported: an engine may die between
    /// writing one and saying so.
    pub fn set_interrupted(&mut self, runs: Vec<InterruptedRun>) {
        if let Some(run) = self.run.as_mut().filter(|run| run.phase == Phase::Failed)
            && let Some(left) = runs
                .iter()
                .find(|left| Some(&left.folder) == run.checkpoints.as_ref())
        {
            run.checkpoint = Some(LastCheckpoint {
                folder: left.folder.clone(),
                position: left.card.position(),
            });
        }
        self.interrupted = runs;
    }

    pub fn forget_interrupted(&mut self, ctx: &mut Ctx, folder: PathBuf) {
        let checkpoints = Checkpoints::new(&ctx.deps.paths.checkpoints);
        if let Some(run) = self.run.as_mut().filter(|run| {
            run.resumable_checkpoint()
                .is_some_and(|last| last.folder == folder)
        }) {
            (run.checkpoint, run.checkpoints) = (None, None);
        }
        // One of an earlier session goes with its checkpoint.
        self.run
            .take_if(|run| run.phase == Phase::Interrupted && run.checkpoint.is_none());
        ctx.background.run_on(
            SharedFolder::Checkpoints,
            move || checkpoints.delete(&folder).map(|()| checkpoints.list()),
            |app, left| {
                if let Some(left) = app.ctx.tell_failure(left) {
                    app.train.set_interrupted(left);
                }
            },
        );
    }
}

impl Ctx {
    pub fn list_interrupted(&self) {
        let checkpoints = Checkpoints::new(&self.deps.paths.checkpoints);
        self.background.run_on(
            SharedFolder::Checkpoints,
            move || checkpoints.list(),
            |app, runs| app.train.set_interrupted(runs),
        );
    }
}
