//! Models as the window shows them: naming, deleting, comparing, exporting and importing them, and
//! training them again, to see whether their weights come out the same.

mod changes;
mod comparison;
mod import_export;
mod names;
pub mod view;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use changes::{Change, Changes};
pub use comparison::ComparisonView;
pub(super) use import_export::is_named_like_weights;
pub use import_export::{Dropped, ExportView, ImportQuestion, InTheWay};

use crate::problem::Message;
use crate::records::{
    Annotation, EpochRecord, ExportSpec, ImportSpec, JobId, ModelRef, RunSummary, StepPoint,
};
use crate::run_config::DataSpec;
use crate::runs::{Reproduction, RunEntry, load_steps, reproduced_config};
use crate::window::{Ctx, Request, RunView, Screen, Severity};

#[derive(Default)]
pub struct Models {
    /// Finished runs, newest first, once listed.
    pub runs: Option<Vec<RunEntry>>,
    pub thumbnails: BTreeMap<PathBuf, Thumbnail>,
    /// Changes to saved runs that are being made.
    pub changes: Changes,
    pub comparison: Option<ComparisonView>,
    /// The export dialog, while it is open.
    pub export: Option<ExportView>,
    /// The run to select under Models, until that has been done: the one that was imported last or
    /// is to be exported.
    pub run_to_select: Option<PathBuf>,
    /// The question how the weights of a file are meant, while it is asked.
    pub import_question: Option<ImportQuestion>,
    /// The run that trains an earlier one again, and that one.
    pub reproducing: Option<(JobId, Box<RunSummary>)>,
}

impl Models {
    /// The runs, none before they were listed.
    pub fn entries(&self) -> &[RunEntry] {
        self.runs.as_deref().unwrap_or_default()
    }

    pub fn entry(&self, folder: &Path) -> Option<&RunEntry> {
        self.entries().iter().find(|run| run.folder == folder)
    }

    /// The summary of each run that can be read.
    pub fn readable(&self) -> impl Iterator<Item = &RunSummary> {
        let runs = self.entries().iter();
        runs.filter_map(|run| run.summary.as_deref().ok())
    }

    /// The summary of the run in this folder, if it is listed.
    pub fn listed(&self, folder: &Path) -> Option<&RunSummary> {
        self.entry(folder)?.summary.as_deref().ok()
    }
}

/// Actions on this screen and on its parts elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelsAction {
    RefreshRuns,
    /// Delete a run's folder; it can be restored until the window closes.
    DeleteRun(PathBuf),
    RestoreRun(PathBuf),
    /// Give the run in this folder its name, note and star.
    Annotate(PathBuf, Annotation),
    ShowResults(PathBuf),
    /// Evaluate a model on the test set of a data set.
    Evaluate {
        model: ModelRef,
        data: DataSpec,
    },
    /// Open the comparison of models, with the run in this folder first.
    OpenComparison(PathBuf),
    /// Choose a run to compare, or leave it out.
    ChooseCompared {
        folder: PathBuf,
        chosen: bool,
    },
    /// Choose the run that the other compared ones are compared with, by its folder.
    ChooseBaseline(PathBuf),
    /// Choose the data set whose test images the compared models classify.
    ChooseComparisonData(DataSpec),
    /// Measure the chosen models on the same test images.
    CompareModels,
    /// Go back to the list of models.
    CloseComparison,
    /// Go to Models, with the run in this folder selected.
    ShowModel(PathBuf),
    OpenExport(ModelRef),
    ChangeExport(ExportSpec),
    /// Write the export to a file chosen in a dialog.
    SaveExport,
    /// Whether an export may replace the files that are in its way.
    ReplaceExported(bool),
    CloseExport,
    /// Import a file as this says, after a choice of what its weights do not say.
    ImportAs(ImportSpec),
    /// Leave a file unimported that could not be decided on.
    CloseImportQuestion,
    ChooseImport,
    /// Train the run in this folder again, to see whether its weights come out the same.
    Reproduce(PathBuf),
    /// The run that was to be selected under Models has been.
    RunSelected,
}

impl Models {
    pub fn update(&mut self, ctx: &mut Ctx, action: ModelsAction) {
        match action {
            ModelsAction::RefreshRuns => ctx.list_runs(),
            ModelsAction::DeleteRun(folder) => self.delete_run(ctx, folder),
            ModelsAction::RestoreRun(folder) => self.restore_run(ctx, folder),
            ModelsAction::Annotate(folder, annotation) => {
                self.annotate(ctx, folder, &annotation);
            }
            ModelsAction::ShowResults(folder) => ctx.request(Request::ShowResults(folder)),
            ModelsAction::Evaluate { model, data } => ctx.evaluate(model, data),
            ModelsAction::OpenComparison(folder) => {
                self.open_comparison(ctx, folder);
            }
            ModelsAction::ChooseCompared { folder, chosen } => {
                self.choose_compared(ctx, &folder, chosen);
            }
            ModelsAction::ChooseBaseline(folder) => self.choose_baseline(folder),
            ModelsAction::ChooseComparisonData(data) => self.choose_comparison_data(data),
            ModelsAction::CompareModels => self.compare_models(ctx),
            ModelsAction::CloseComparison => self.close_comparison(ctx),
            ModelsAction::ShowModel(folder) => {
                self.close_comparison(ctx);
                self.run_to_select = Some(folder);
                ctx.show(Screen::Models);
            }
            ModelsAction::OpenExport(model) => self.open_export(ctx, model),
            ModelsAction::ChangeExport(spec) => self.change_export(ctx, spec),
            ModelsAction::SaveExport => self.choose_export_file(ctx),
            ModelsAction::ReplaceExported(replace) => {
                self.replace_exported(ctx, replace);
            }
            ModelsAction::CloseExport => self.close_export(ctx),
            ModelsAction::ChooseImport => ctx.choose_import_file(),
            ModelsAction::ImportAs(spec) => self.import_as(ctx, spec),
            ModelsAction::CloseImportQuestion => self.import_question = None,
            ModelsAction::Reproduce(folder) => self.reproduce(ctx, &folder),
            ModelsAction::RunSelected => self.run_to_select = None,
        }
    }
}

impl Models {
    /// Starts the run in this folder again.
    pub fn reproduce(&mut self, ctx: &mut Ctx, folder: &Path) {
        let Some(first) = self.listed(folder).cloned() else {
            return;
        };
        if !ctx.is_too_busy() {
            let (id, config) = (JobId(ctx.next_id()), reproduced_config(&first));
            self.reproducing = Some((id, Box::new(first)));
            ctx.request(Request::Start(Box::new(RunView::new(id, config))));
        }
    }
}

impl Models {
    /// Compares the weights of a run that has ended, if it is one that was started again.
    pub fn check_reproduction(&mut self, ctx: &mut Ctx, run: JobId, again: &RunSummary) {
        let Some((_, first)) = self.reproducing.take_if(|(id, _)| *id == run) else {
            return;
        };
        // Stopped, it has other weights by wish.
        if !again.stopped {
            let again = again.clone();
            ctx.background.run(
                move || Reproduction::compare(&first, &again),
                |app, found| {
                    if let Some(found) = app.ctx.tell_failure(found) {
                        let message = Message::reproduced(&found);
                        app.ctx.show_notice(Severity::Info, message);
                    }
                },
            );
        }
    }
}

/// Runs of fewer epochs show their steps.
const MIN_EPOCHS: usize = 3;
/// Points of a curve at most.
const POINTS: usize = 48;

/// A run's accuracy, from its beginning to its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thumbnail {
    /// Accuracies from 0 to 1 at equal distances; none if nothing is known.
    pub values: Vec<f32>,
    /// True for validation accuracies by epoch, false for training accuracies by step.
    pub validation: bool,
}

impl Thumbnail {
    fn of_epochs(epochs: &[EpochRecord]) -> Self {
        Self {
            values: thinned(
                epochs
                    .iter()
                    .map(|record| record.validation_accuracy)
                    .collect(),
            ),
            validation: true,
        }
    }

    fn of_steps(steps: &[StepPoint]) -> Self {
        Self {
            values: thinned(steps.iter().map(|point| point.accuracy).collect()),
            validation: false,
        }
    }
}

/// The means of equal parts, if there are many values.
fn thinned(values: Vec<f32>) -> Vec<f32> {
    if values.len() <= POINTS {
        return values;
    }
    let part =
        |index: usize| &values[index * values.len() / POINTS..(index + 1) * values.len() / POINTS];
    (0..POINTS)
        .map(|index| part(index).iter().sum::<f32>() / part(index).len() as f32)
        .collect()
}

impl Models {
    /// The curve of the run in this folder, once it is known.
    pub fn thumbnail(&self, folder: &Path) -> Option<&Thumbnail> {
        self.thumbnails
            .get(folder)
            .filter(|thumbnail| thumbnail.values.len() > 1)
    }

    /// Takes in the list of runs, and has the curves read that are not known yet.
    pub fn set_runs(&mut self, ctx: &mut Ctx, runs: Vec<RunEntry>) {
        self.thumbnails
            .retain(|folder, _| runs.iter().any(|run| run.folder == *folder));
        let mut unread = Vec::new();
        for run in &runs {
            let Ok(summary) = &run.summary else { continue };
            if summary.epochs.is_empty() || self.thumbnails.contains_key(&run.folder) {
                continue;
            }
            let thumbnail = if summary.epochs.len() < MIN_EPOCHS {
                unread.push(run.folder.clone());
                Thumbnail::default()
            } else {
                Thumbnail::of_epochs(&summary.epochs)
            };
            self.thumbnails.insert(run.folder.clone(), thumbnail);
        }
        self.runs = Some(runs);
        if !unread.is_empty() {
            ctx.background.run_with_updates(move |report| {
                for folder in unread {
                    let thumbnail = Thumbnail::of_steps(&load_steps(&folder));
                    report(Box::new(move |app| {
                        if let Some(known) = app.models.thumbnails.get_mut(&folder) {
                            *known = thumbnail;
                        }
                    }));
                }
            });
        }
    }
}
