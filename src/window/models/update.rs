//! What a person can do there, and what each action does.

use std::path::PathBuf;

use crate::records::{Annotation, ExportSpec, ImportSpec, ModelRef};
use crate::run_config::DataSpec;
use crate::window::{App, Screen};

/// What a person can do on this screen and with what it shows elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelsAction {
    RefreshRuns,
    /// Delete a run's folder; it can be restored until the window closes.
    DeleteRun(PathBuf),
    RestoreRun(PathBuf),
    /// Give the run in this folder its name, note and star.
    Annotate(PathBuf, Annotation),
    /// Show the results of a finished run.
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
    /// Open the export dialog for a model.
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
    /// Choose a file to import in a dialog.
    ChooseImport,
    /// Train the run in this folder again, to see whether its weights come out the same.
    Reproduce(PathBuf),
    /// The run that was to be selected under Models has been.
    RunSelected,
}

impl App {
    pub fn update_models(&mut self, action: ModelsAction) {
        match action {
            ModelsAction::RefreshRuns => self.ctx.list_runs(),
            ModelsAction::DeleteRun(folder) => self.models.delete_run(&mut self.ctx, folder),
            ModelsAction::RestoreRun(folder) => self.models.restore_run(&mut self.ctx, folder),
            ModelsAction::Annotate(folder, annotation) => {
                self.models.annotate(&mut self.ctx, folder, &annotation);
            }
            ModelsAction::ShowResults(folder) => self.show_results(&folder),
            ModelsAction::Evaluate { model, data } => self.ctx.evaluate(model, data),
            ModelsAction::OpenComparison(folder) => {
                self.models.open_comparison(&mut self.ctx, folder);
            }
            ModelsAction::ChooseCompared { folder, chosen } => {
                self.models.choose_compared(&mut self.ctx, &folder, chosen);
            }
            ModelsAction::ChooseBaseline(folder) => self.models.choose_baseline(folder),
            ModelsAction::ChooseComparisonData(data) => self.models.choose_comparison_data(data),
            ModelsAction::CompareModels => self.models.compare_models(&mut self.ctx),
            ModelsAction::CloseComparison => self.models.close_comparison(&mut self.ctx),
            ModelsAction::ShowModel(folder) => {
                self.models.close_comparison(&mut self.ctx);
                self.models.run_to_select = Some(folder);
                self.ctx.show(Screen::Models);
            }
            ModelsAction::OpenExport(model) => self.models.open_export(&mut self.ctx, model),
            ModelsAction::ChangeExport(spec) => self.models.change_export(&mut self.ctx, spec),
            ModelsAction::SaveExport => self.models.choose_export_file(&mut self.ctx),
            ModelsAction::ReplaceExported(replace) => {
                self.models.replace_exported(&mut self.ctx, replace);
            }
            ModelsAction::CloseExport => self.models.close_export(&mut self.ctx),
            ModelsAction::ChooseImport => self.ctx.choose_import_file(),
            ModelsAction::ImportAs(spec) => self.models.import_as(&mut self.ctx, spec),
            ModelsAction::CloseImportQuestion => self.models.import_question = None,
            ModelsAction::Reproduce(folder) => self.reproduce(&folder),
            ModelsAction::RunSelected => self.models.run_to_select = None,
        }
    }
}
