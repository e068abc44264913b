//! Changes to saved models: naming, describing and starring them, keeping their evaluations,
//! deleting them, and restoring them until the window closes.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use crate::problem::{Message, Problem};
use crate::protocol::JobResult;
use crate::records::{Annotation, ModelRef, SplitEvaluation, snapshot_step};
use crate::runs::{RunError, Store, is_reserved, same_title, set_titles};
use crate::sweep::SweepStore;
use crate::window::{
    Action, Ctx, JobOutcome, Models, ModelsAction, Offer, Results, ResultsView, Severity,
    SharedFolder,
};

/// A change to the run in a folder.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Give it this name, note and star.
    Annotate(PathBuf, Annotation),
    Evaluate(PathBuf, Box<SplitEvaluation>),
    Delete {
        folder: PathBuf,
        title: String,
    },
    Restore(PathBuf),
}

/// The changes that are not on the disk yet, the oldest first. They are made one after the other,
/// so that the last one is what remains.
#[derive(Debug, Default)]
pub struct Changes {
    waiting: VecDeque<Change>,
    in_progress: bool,
    /// Where deleted models were used, by the folders they had.
    used: BTreeMap<PathBuf, Used>,
}

/// Where a model was used when it was deleted, for when it is restored.
#[derive(Debug)]
struct Used {
    /// It, if it recognized drawings.
    in_use: Option<ModelRef>,
    /// Its results, if they were shown.
    results: Option<ResultsView>,
}

impl Change {
    fn make(&self, store: &Store) -> Result<(), RunError> {
        match self {
            Self::Annotate(folder, annotation) => store.annotate(folder, annotation),
            Self::Evaluate(folder, evaluation) => store.keep_evaluation(folder, evaluation),
            Self::Delete { folder, .. } => store.delete(folder),
            Self::Restore(folder) => store.restore(folder),
        }
    }
}

impl Changes {
    /// True until every change is on the disk.
    pub fn are_pending(&self) -> bool {
        self.in_progress || !self.waiting.is_empty()
    }
}

impl Models {
    /// Shows an evaluation that was asked for, and keeps it with the run of its model.
    pub fn evaluation_ended(
        &mut self,
        ctx: &mut Ctx,
        results: &mut Results,
        outcome: JobOutcome,
    ) -> Option<Problem> {
        let (model, measured) = match outcome {
            Ok(JobResult::Evaluate(report)) => (report.model, report.measured),
            outcome => return outcome.err()?.problem(),
        };
        if let ModelRef::File(file) = &model.reference
            && let Some(folder) = file.parent()
            && folder.parent() == Some(&ctx.deps.paths.runs)
            && snapshot_step(file).is_none()
        {
            let measured = Box::new(measured.clone());
            self.change(ctx, Change::Evaluate(folder.to_owned(), measured));
        }
        results.shown = Some(ResultsView { model, measured });
        None
    }

    fn on_change(
        &mut self,
        ctx: &mut Ctx,
        results: &mut Results,
        change: Change,
        outcome: Result<(), RunError>,
    ) {
        self.changes.in_progress = false;
        match (change, outcome) {
            (_, Err(error)) => ctx.show_problem(&error.into()),
            (Change::Delete { folder, title }, Ok(())) => {
                if let Some(runs) = &mut self.runs {
                    runs.retain(|run| run.folder != folder);
                }
                self.withdraw(ctx, results, &folder);
                let (label, action) = ("Undo", ModelsAction::RestoreRun(folder).into());
                let offer = Some(Offer { label, action });
                ctx.show_notice_with(Severity::Info, Message::run_deleted(&title), offer);
            }
            (Change::Restore(folder), Ok(())) => self.use_restored(ctx, results, &folder),
            (Change::Annotate(..) | Change::Evaluate(..), Ok(())) => {}
        }
        self.make_next_change(ctx);
        if !self.changes.are_pending() {
            // As it is on the disk: a change may have failed, and a list that was read meanwhile
            // may lack it.
            ctx.list_finished();
        }
    }

    /// The model in this folder is gone: the starter model takes its place, and its results are not
    /// shown any more.
    fn withdraw(&mut self, ctx: &mut Ctx, results: &mut Results, folder: &Path) {
        let is_gone = |model: &ModelRef| match model {
            ModelRef::File(file) => file.parent() == Some(folder),
            ModelRef::Ensemble(ensemble) => {
                let mut files = ensemble.models.iter();
                files.any(|file| file.parent() == Some(folder))
            }
            ModelRef::Starter | ModelRef::Training(_) => false,
        };
        let in_use = ctx.model_in_use.as_ref();
        let in_use = in_use.map(|model| model.reference.clone()).filter(is_gone);
        let shown = &mut results.shown;
        let results = shown.take_if(|results| is_gone(&results.model.reference));
        if in_use.is_some() {
            ctx.use_model(ModelRef::Starter);
        }
        let used = Used { in_use, results };
        self.changes.used.insert(folder.to_owned(), used);
    }

    /// The model in this folder is back: it is used as it was before, unless another one was chosen
    /// or evaluated meanwhile.
    fn use_restored(&mut self, ctx: &mut Ctx, results: &mut Results, folder: &Path) {
        let Some(used) = self.changes.used.remove(folder) else {
            return;
        };
        let now = ctx.model_in_use.as_ref();
        let untouched = now.is_none_or(|model| model.reference == ModelRef::Starter);
        if let Some(model) = used.in_use.filter(|_| untouched) {
            ctx.use_model(model);
        }
        if results.shown.is_none() {
            results.shown = used.results;
        }
    }
}

impl Models {
    /// Why the run in this folder cannot be called this, if it cannot: another model is.
    pub fn name_problem(&self, folder: &Path, name: &str) -> Option<Message> {
        let mut annotation = Annotation::default();
        name.clone_into(&mut annotation.name);
        let name = annotation.cleaned().name;
        let mut others = self.entries().iter().filter(|run| run.folder != folder);
        (is_reserved(&name) || others.any(|run| same_title(&run.title, &name)))
            .then(|| Message::name_taken(&name))
    }

    /// Shows the annotation immediately, and has it written.
    pub fn annotate(&mut self, ctx: &mut Ctx, folder: PathBuf, annotation: &Annotation) {
        let annotation = annotation.cleaned();
        if self.name_problem(&folder, &annotation.name).is_some() {
            return;
        }
        let Some(runs) = &mut self.runs else {
            return;
        };
        let mut meant = runs.iter_mut().filter(|run| run.folder == folder);
        if let Some(run) = meant.find(|run| run.annotation != annotation) {
            run.annotation = annotation.clone();
            set_titles(runs);
            self.change(ctx, Change::Annotate(folder, annotation));
        }
    }

    pub fn delete_run(&mut self, ctx: &mut Ctx, folder: PathBuf) {
        let run = self.entry(&folder);
        let title = run.map(|run| run.title.clone()).unwrap_or_default();
        self.change(ctx, Change::Delete { folder, title });
    }

    pub fn restore_run(&mut self, ctx: &mut Ctx, folder: PathBuf) {
        ctx.withdraw_offer(ModelsAction::RestoreRun(folder.clone()));
        self.change(ctx, Change::Restore(folder));
    }

    fn change(&mut self, ctx: &mut Ctx, change: Change) {
        self.changes.waiting.push_back(change);
        self.make_next_change(ctx);
    }

    fn make_next_change(&mut self, ctx: &mut Ctx) {
        if self.changes.in_progress {
            return;
        }
        let Some(change) = self.changes.waiting.pop_front() else {
            return;
        };
        self.changes.in_progress = true;
        let store = Store::new(&ctx.deps.paths.runs);
        ctx.background.run_on(
            SharedFolder::Runs,
            move || (change.make(&store), change),
            |app, (outcome, change)| {
                app.models
                    .on_change(&mut app.ctx, &mut app.results, change, outcome);
            },
        );
    }
}

impl Ctx {
    /// Removes what was deleted in a session that did not come to its end.
    pub fn empty_deleted(&self) {
        let store = Store::new(&self.deps.paths.runs);
        let sweeps = SweepStore::new(&self.deps.paths.sweeps);
        let empty = move || {
            store.empty_deleted();
            sweeps.empty_deleted();
        };
        self.background.run(empty, |_, ()| {});
    }

    /// Takes back what was offered, since it is being done.
    pub fn withdraw_offer(&mut self, action: impl Into<Action>) {
        let action = action.into();
        self.notices.retain(|notice| {
            let offer = notice.offer.as_ref();
            offer.is_none_or(|offer| offer.action != action)
        });
    }
}
