//! What the last session left: the run that was interrupted, or the model that was used last, with
//! its curves and results; the results of the newest model where the starter model was used.

use std::path::{Path, PathBuf};

use super::RunView;
use crate::records::{JobId, ModelRef};
use crate::runs::{Checkpoints, FinishedRun, InterruptedRun, Store};
use crate::window::{App, Ctx, Screen, SharedFolder, Train};

impl App {
    /// Shows it, unless something else has been begun by now: the interrupted run if it is the
    /// newer one, otherwise the finished one.
    pub fn restore_last_session(
        &mut self,
        interrupted: Vec<InterruptedRun>,
        finished: Option<FinishedRun>,
        newest: Option<&FinishedRun>,
    ) {
        self.train.set_interrupted(interrupted);
        let finished = finished
            .filter(|run| self.ctx.settings.last_model.as_ref() == Some(&run.summary.model_path));
        let untouched = self
            .ctx
            .model_in_use
            .as_ref()
            .is_none_or(|model| model.reference == ModelRef::Starter)
            && self.results.shown.is_none();
        if let Some(run) = finished.as_ref().filter(|_| untouched) {
            self.ctx
                .use_model(ModelRef::File(run.summary.model_path.clone()));
        }
        if let Some(run) = finished.as_ref().or(newest).filter(|_| untouched)
            && let Some(evaluation) = &run.evaluation
        {
            self.results
                .show_evaluation(&run.summary, evaluation.clone());
        }
        if self.train.run.is_some() {
            return;
        }
        let when = |text: &str| text.parse::<jiff::Timestamp>().ok();
        let ended = finished
            .as_ref()
            .and_then(|run| when(&run.summary.finished_at));
        let id = JobId(self.ctx.next_id());
        self.train.run = match self
            .train
            .interrupted
            .first()
            .filter(|run| when(&run.card.made_at) >= ended)
        {
            Some(run) => Some(RunView::interrupted(id, run)),
            None => finished.and_then(|run| RunView::finished(id, run)),
        };
    }
}

impl Ctx {
    pub fn look_for_last_session(&self) {
        let checkpoints = Checkpoints::new(&self.deps.paths.checkpoints);
        let store = Store::new(&self.deps.paths.runs);
        let folder = self
            .settings
            .last_model
            .as_deref()
            .and_then(Path::parent)
            .map(PathBuf::from);
        let look = move || {
            let finished = folder.and_then(|folder| {
                FinishedRun::load(&folder)
                    .inspect_err(|error| tracing::info!(%error, "the last model is not used"))
                    .ok()
            });
            let newest = if finished.is_none() {
                store.newest()
            } else {
                None
            };
            (checkpoints.list(), finished, newest)
        };
        self.background.run_on(
            SharedFolder::Checkpoints,
            look,
            |app, (interrupted, finished, newest)| {
                app.restore_last_session(interrupted, finished, newest.as_ref());
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
