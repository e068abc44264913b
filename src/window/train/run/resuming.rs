//! What was left: interrupted runs, to be listed, resumed and deleted; and the last session, whose
//! run or model is shown with its curves and results, or else the results of the newest model.

use std::path::{Path, PathBuf};

use super::{LastCheckpoint, Phase, RunView};
use crate::records::{JobId, ModelRef};
use crate::run_config::DeviceChoice;
use crate::runs::{Checkpoints, FinishedRun, InterruptedRun, RunEntry, Store};
use crate::window::{App, Ctx, Screen, SharedFolder, Train};

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
            && let Some(folder) = &run.checkpoints
            && let Some(left) = runs.iter().find(|left| left.folder == *folder)
        {
            let (folder, position) = (folder.clone(), left.card.position());
            run.checkpoint = Some(LastCheckpoint { folder, position });
        }
        self.interrupted = runs;
    }

    pub fn forget_interrupted(&mut self, ctx: &mut Ctx, folder: PathBuf) {
        let checkpoints = Checkpoints::new(&ctx.deps.paths.checkpoints);
        let here = self.run.as_mut();
        if let Some(run) = here.filter(|run| run.is_resumed_from(&folder)) {
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

impl Train {
    /// Resumes an interrupted run from its checkpoint; on the CPU if its device cannot be used. The
    /// runs that have `finished` are not repeated after it.
    pub fn resume_interrupted(&mut self, ctx: &mut Ctx, finished: &[RunEntry], folder: PathBuf) {
        if !ctx.is_too_busy()
            && let Some(run) = self.take_interrupted(ctx, &folder)
        {
            self.queue_repetitions_after(&run.config, finished);
            self.start_run(ctx, run, Some(folder));
        }
    }

    /// Makes a model of an interrupted run without training on: it is resumed, and stopped before
    /// its next step.
    pub fn save_interrupted(&mut self, ctx: &mut Ctx, folder: PathBuf) {
        if !ctx.is_too_busy()
            && let Some(run) = self.take_interrupted(ctx, &folder)
        {
            let is_complete = run.history.epochs.len() >= run.config.epochs as usize;
            self.start_run(ctx, run, Some(folder));
            if !is_complete {
                self.stop(ctx);
            }
        }
    }

    /// The interrupted run in this folder, to be resumed; `None` if there is none.
    fn take_interrupted(&mut self, ctx: &mut Ctx, folder: &Path) -> Option<RunView> {
        let id = JobId(ctx.next_id());
        let here = self.run.take_if(|run| run.is_resumed_from(folder));
        // A device that may have taken the engine with it is not tried again by itself.
        let failed_here = here.as_ref().is_some_and(|run| run.phase == Phase::Failed);
        let mut listed = self.interrupted.iter().filter(|run| run.folder == folder);
        let run = here.or_else(|| Some(RunView::interrupted(id, listed.next()?)));
        let mut run = run?.resumed_as(id);
        self.interrupted.retain(|run| run.folder != folder);
        if ctx.why_not_device(run.config.device).is_some() || failed_here {
            run.config.device = DeviceChoice::Cpu;
        }
        run.config = ctx.with_device(&run.config);
        Some(run)
    }
}

impl App {
    /// Shows it, unless something else has been begun by now: the interrupted run if it is the
    /// newer one, otherwise the finished one.
    pub fn restore_last_session(
        &mut self,
        interrupted: Vec<InterruptedRun>,
        finished: Option<FinishedRun>,
        newest: Option<&FinishedRun>,
    ) {
        let Self { ctx, train, .. } = self;
        train.set_interrupted(interrupted);
        let last = ctx.settings.last_model.as_ref();
        let finished = finished.filter(|run| last == Some(&run.summary.model_path));
        let model = ctx.model_in_use.as_ref();
        let untouched = model.is_none_or(|model| model.reference == ModelRef::Starter)
            && self.results.shown.is_none();
        if let Some(run) = finished.as_ref().filter(|_| untouched) {
            ctx.use_model(ModelRef::File(run.summary.model_path.clone()));
        }
        if let Some(run) = finished.as_ref().or(newest).filter(|_| untouched)
            && let Some(evaluation) = &run.evaluation
        {
            self.results
                .show_evaluation(&run.summary, evaluation.clone());
        }
        if train.run.is_some() {
            return;
        }
        let when = |text: &str| text.parse::<jiff::Timestamp>().ok();
        let ended = finished.as_ref();
        let ended = ended.and_then(|run| when(&run.summary.finished_at));
        let id = JobId(ctx.next_id());
        let newer = train.interrupted.first();
        train.run = match newer.filter(|run| when(&run.card.made_at) >= ended) {
            Some(run) => Some(RunView::interrupted(id, run)),
            None => finished.and_then(|run| RunView::finished(id, run)),
        };
    }
}

impl Ctx {
    pub fn look_for_last_session(&self) {
        let checkpoints = Checkpoints::new(&self.deps.paths.checkpoints);
        let store = Store::new(&self.deps.paths.runs);
        let last = self.settings.last_model.as_deref();
        let folder = last.and_then(Path::parent).map(PathBuf::from);
        let look = move || {
            let finished = folder.and_then(|folder| {
                FinishedRun::load(&folder)
                    .inspect_err(|error| tracing::info!(%error, "the last model is not used"))
                    .ok()
            });
            let newest = finished.is_none().then(|| store.newest()).flatten();
            (checkpoints.list(), finished, newest)
        };
        self.background.run_on(
            SharedFolder::Checkpoints,
            look,
            |app, (list, last, newest)| {
                app.restore_last_session(list, last, newest.as_ref());
            },
        );
    }

    /// Reads the run in this folder in the background, to show its curves.
    pub fn show_curves(&mut self, folder: PathBuf) {
        if !self.is_too_busy() {
            self.background.run(
                move || FinishedRun::load(&folder),
                |app, run| {
                    if let Some(run) = app.ctx.tell_failure(run) {
                        app.train.show_finished(&mut app.ctx, run);
                    }
                },
            );
        }
    }
}

impl Train {
    /// Shows the curves of a finished run, unless another has been started by now.
    pub fn show_finished(&mut self, ctx: &mut Ctx, run: FinishedRun) {
        let id = JobId(ctx.next_id());
        if !ctx.is_training()
            && let Some(run) = RunView::finished(id, run)
        {
            self.run = Some(run);
            self.next_run_shown = false;
            ctx.show(Screen::Train);
        }
    }
}
