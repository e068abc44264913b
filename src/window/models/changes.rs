//! Changes to saved models: naming, describing and starring them, keeping their evaluations,
//! deleting them, and restoring them until the window closes.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use crate::problem::{Message, Problem};
use crate::protocol::JobResult;
use crate::records::{Annotation, EvaluationReport, ModelRef, SplitEvaluation};
use crate::runs::{RunError, Store, is_reserved, same_title, set_titles};
use crate::sweep::SweepStore;
use crate::window::{
    Action, App, Ctx, JobOutcome, Models, ModelsAction, Offer, ResultsView, Severity, SharedFolder,
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

impl App {
    /// Shows an evaluation that was asked for, and keeps it with the run of its model.
    pub fn evaluation_ended(&mut self, outcome: JobOutcome) -> Option<Problem> {
        let (model, measured) = match outcome {
            Ok(JobResult::Evaluate(EvaluationReport {
                model, measured, ..
            })) => (model, measured),
            outcome => return outcome.err()?.problem(),
        };
        if let ModelRef::File(file) = &model.reference
            && let Some(folder) = file
                .parent()
                .filter(|folder| folder.parent() == Some(&self.ctx.deps.paths.runs))
        {
            self.models.change(
                &mut self.ctx,
                Change::Evaluate(folder.to_owned(), Box::new(measured.clone())),
            );
        }
        self.results.shown = Some(ResultsView { model, measured });
        None
    }

    pub fn on_change(&mut self, change: Change, outcome: Result<(), RunError>) {
        self.models.changes.in_progress = false;
        match (change, outcome) {
            (_, Err(error)) => self.ctx.show_problem(&error.into()),
            (Change::Delete { folder, title }, Ok(())) => {
                self.models
                    .runs
                    .iter_mut()
                    .for_each(|runs| runs.retain(|run| run.folder != folder));
                self.withdraw(&folder);
                let offer = Offer {
                    label: "Undo",
                    action: Action::Models(ModelsAction::RestoreRun(folder)),
                };
                self.ctx.show_notice_with(
                    Severity::Info,
                    Message::run_deleted(&title),
                    Some(offer),
                );
            }
            (Change::Restore(folder), Ok(())) => self.use_restored(&folder),
            (Change::Annotate(..) | Change::Evaluate(..), Ok(())) => {}
        }
        self.models.make_next_change(&mut self.ctx);
        if !self.models.changes.are_pending() {
            // As it is on the disk: a change may have failed, and a list that was read meanwhile
            // may lack it.
            self.ctx.list_finished();
        }
    }

    /// The model in this folder is gone: the starter model takes its place, and its results are not
    /// shown any more.
    fn withdraw(&mut self, folder: &Path) {
        let is_gone = |model: &ModelRef| match model {
            ModelRef::File(file) => file.parent() == Some(folder),
            ModelRef::Ensemble(ensemble) => ensemble
                .models
                .iter()
                .any(|file| file.parent() == Some(folder)),
            ModelRef::Starter | ModelRef::Training(_) => false,
        };
        let in_use = self
            .ctx
            .model_in_use
            .as_ref()
            .map(|model| model.reference.clone())
            .filter(is_gone);
        let results = self
            .results
            .shown
            .take_if(|results| is_gone(&results.model.reference));
        if in_use.is_some() {
            self.ctx.use_model(ModelRef::Starter);
        }
        self.models
            .changes
            .used
            .insert(folder.to_owned(), Used { in_use, results });
    }

    /// The model in this folder is back: it is used as it was before, unless another one was chosen
    /// or evaluated meanwhile.
    fn use_restored(&mut self, folder: &Path) {
        let Some(Used { in_use, results }) = self.models.changes.used.remove(folder) else {
            return;
        };
        let untouched = self
            .ctx
            .model_in_use
            .as_ref()
            .is_none_or(|model| model.reference == ModelRef::Starter);
        if let Some(model) = in_use.filter(|_| untouched) {
            self.ctx.use_model(model);
        }
        if self.results.shown.is_none() {
            self.results.shown = results;
        }
    }
}

impl Models {
    /// Why the run in this folder cannot be called this, if it cannot: another model is.
    pub fn name_problem(&self, folder: &Path, name: &str) -> Option<Message> {
        let name = Annotation {
            name: name.to_owned(),
            ..Annotation::default()
        }
        .cleaned()
        .name;
        let mut others = self
            .runs
            .iter()
            .flatten()
            .filter(|run| run.folder != folder);
        (is_reserved(&name) || others.any(|run| same_title(&run.title, &name)))
            .then(|| Message::name_taken(&name))
    }

    /// Shows the annotation at once, and has it written.
    pub fn annotate(&mut self, ctx: &mut Ctx, folder: PathBuf, annotation: &Annotation) {
        let annotation = annotation.cleaned();
        if self.name_problem(&folder, &annotation.name).is_some() {
            return;
        }
        let Some(runs) = &mut self.runs else {
            return;
        };
        let Some(run) = runs
            .iter_mut()
            .find(|run| run.folder == folder && run.annotation != annotation)
        else {
            return;
        };
        run.annotation = annotation.clone();
        set_titles(runs);
        self.change(ctx, Change::Annotate(folder, annotation));
    }

    pub fn delete_run(&mut self, ctx: &mut Ctx, folder: PathBuf) {
        let title = self
            .runs
            .iter()
            .flatten()
            .find(|run| run.folder == folder)
            .map(|run| run.title.clone())
            .unwrap_or_default();
        self.change(ctx, Change::Delete { folder, title });
    }

    pub fn restore_run(&mut self, ctx: &mut Ctx, folder: PathBuf) {
        let undo = Action::Models(ModelsAction::RestoreRun(folder.clone()));
        ctx.notices.retain(|notice| {
            notice
                .offer
                .as_ref()
                .is_none_or(|offer| offer.action != undo)
        });
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
            |app, (outcome, change)| app.on_change(change, outcome),
        );
    }
}

impl Ctx {
    /// Removes what was deleted in a session that did not come to its end.
    pub fn empty_deleted(&self) {
        let (store, sweeps) = (
            Store::new(&self.deps.paths.runs),
            SweepStore::new(&self.deps.paths.sweeps),
        );
        self.background.run(
            move || {
                store.empty_deleted();
                sweeps.empty_deleted();
            },
            |_, ()| {},
        );
    }
}
