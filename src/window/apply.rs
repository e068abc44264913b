//! What each action does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ResultsView;
use super::action::{Action, Screen, WizardStep};
use super::background::{BackgroundResult, SharedFolder};
use super::desktop::Purpose;
use super::state::App;
use super::train::run::Phase;
use crate::ink::IMAGE_ENDINGS;
use crate::protocol::Job;
use crate::records::{EvaluationSpec, ModelInfo, ModelRef, RunSummary, SplitEvaluation};
use crate::run_config::{DataSource, DataSpec, DeviceChoice};
use crate::runs::Store;

/// How ink files end that can be opened in Draw, besides images.
const INK_ENDINGS: [&str; 5] = ["json", "jsonl", "ndjson", "gz", "ink"];

impl App {
    pub fn apply(&mut self, action: Action) {
        if !self.apply_to_image(&action) && !self.ask_before_sending(&action) {
            self.update(action);
        }
        self.settle();
    }

    fn update(&mut self, action: Action) {
        match action {
            Action::Show(screen) => self.ctx.show(screen),
            Action::Wizard(step) => {
                self.ctx.wizard = Some(step);
                self.start_discovery();
                if step == WizardStep::Hardware
                    && !self.machine.checks.contains_key(&DeviceChoice::Cpu)
                {
                    self.check_device(DeviceChoice::Cpu);
                }
                self.machine.benchmark.presets_wanted |=
                    !matches!(step, WizardStep::Welcome | WizardStep::Hardware);
                self.time_presets();
            }
            Action::CloseWizard => {
                self.ctx.wizard = None;
                self.ctx.settings.wizard_done = true;
                self.machine.benchmark.presets_wanted = true;
                self.time_presets();
            }
            Action::Configure(config) => self.configure(*config),
            Action::Download(set) => self.start_download(set),
            Action::CancelDownload => self.cancel_download(),
            Action::Type(field, text) => {
                self.setting_chosen();
                self.type_text(field, text);
            }
            Action::ApplyPreset(preset) => {
                self.setting_chosen();
                self.train.form.clear();
                self.ctx.settings.former_learning_rate = None;
                self.ctx.config.apply_preset(preset);
            }
            Action::ApplyRecommended => {
                if let Some((config, _)) = self.recommended() {
                    self.train.form.clear();
                    self.ctx.settings.former_learning_rate = None;
                    self.ctx.config = config;
                }
            }
            Action::Sweep(action) => self.apply_to_sweep(action),
            Action::Start => self.start(),
            Action::QueueRun => self.queue_run(),
            Action::ShowNextRun(shown) => self.train.next_run_shown = shown,
            Action::StartQueued => self.start_queued(),
            Action::RemoveQueued(index) => self.remove_queued(index),
            Action::Pause => self.pause(),
            Action::Resume => self.resume(),
            Action::Stop => self.stop(),
            Action::SaveRun => self.save_run(None),
            Action::ChooseRunFolder => {
                self.ask_for_folder("Choose a folder for the run", Purpose::RunFolder)
            }
            Action::TypePath(text) => self.type_path(text),
            Action::ConfirmPath => self.confirm_path(),
            Action::ClosePathQuestion => self.shell.path_question = None,
            Action::PenDown(point) => {
                if !self.draws_several() {
                    self.my_digits.drawing_begins();
                }
                self.drawing_shown_mut().begin(point);
                self.drawing_changed();
            }
            Action::PenScale(scale) => self.drawing_shown_mut().scale = scale,
            Action::ChooseTool(tool) => {
                self.drawing_shown_mut().end();
                self.draw.tool = tool;
                self.put_eraser_away_if_empty();
            }
            Action::EraserDown(point) => {
                if self.drawing_shown_mut().begin_erasing(point) {
                    self.drawing_changed();
                }
            }
            Action::PenPressure(pressure) => self.drawing_shown_mut().press(pressure),
            Action::PenMove(point) => {
                if self.drawing_shown_mut().extend(point) {
                    self.drawing_changed();
                }
            }
            Action::PenUp => {
                self.drawing_shown_mut().end();
                self.put_eraser_away_if_empty();
            }
            Action::Undo => {
                if !self.draws_several() {
                    self.undo_just_kept();
                }
                self.drawing_shown_mut().undo();
                self.drawing_changed();
            }
            Action::Redo => {
                self.drawing_shown_mut().redo();
                self.drawing_changed();
            }
            Action::ClearDrawing if self.draws_several() => {
                self.draw.number.drawing.clear();
                self.drawing_changed();
            }
            Action::ClearDrawing => self.clear_drawing(),
            Action::Keep(digit) => self.keep(digit),
            Action::KeepRecent(index, digit) => self.keep_recent(index, digit),
            Action::Relabel(drawing, digit) => self.relabel(*drawing, digit),
            Action::DeleteKept(drawing) => self.delete_kept(*drawing),
            Action::DrawKept(drawing) => {
                self.ctx.settings.several_digits = false;
                self.keep_drawing();
                self.draw.drawing.put(&drawing.ink);
                self.drawing_changed();
                self.ctx.show(Screen::Draw);
            }
            Action::UndoKept => {
                if !self.undo_just_kept() {
                    self.undo_kept();
                } else if self.ctx.screen == Screen::Draw {
                    self.draw.drawing.undo();
                    self.drawing_changed();
                }
            }
            Action::RedoKept => self.redo_kept(),
            Action::ImportInk => self.choose_ink_to_import(),
            Action::ExportMyDigits(format) => self.choose_set_file(format),
            Action::Collect(rounds) => self.start_collection(rounds),
            Action::SkipDigit => self.skip_digit(),
            Action::PreviousDigit => self.previous_digit(),
            Action::StopCollecting => self.stop_collection(),
            Action::FineTune => self.fine_tune(),
            Action::UndoFineTune => self.undo_fine_tune(),
            Action::RestoreDrawing(index) => self.restore_drawing(index),
            Action::SetPen(pen) => {
                (self.draw.drawing.pen, self.draw.number.drawing.pen) = (pen, pen);
                self.drawing_changed();
            }
            Action::ChooseCanvas { several } => self.choose_canvas(several),
            Action::ChooseDigit(index) => self.choose_digit(index),
            Action::ShowSteps(shown) => self.ctx.settings.steps_shown = shown,
            Action::SwitchStep { step, on } => self.switch_step(step, on),
            Action::RestoreSteps => self.restore_steps(),
            Action::CopyImage => self.copy_image(),
            Action::SaveImage => self.save_image(),
            Action::OpenInDraw => {
                let endings = [&IMAGE_ENDINGS[..], &INK_ENDINGS].concat();
                self.ask_for_file(
                    "Open an image or a drawing",
                    "Images and drawings",
                    &endings,
                    Purpose::OpenInDraw,
                );
            }
            Action::PasteImage { size, pixels } => self.paste_image(size, pixels),
            Action::UseModel(model) => self.ctx.use_model(model),
            Action::DrawWith(model) => {
                self.ctx.use_model(model);
                self.ctx.show(Screen::Draw);
            }
            Action::ChooseInferenceDevice(choice) => self.choose_inference_device(choice),
            Action::RefreshRuns => self.list_runs(),
            Action::ResumeInterrupted(folder) => self.resume_interrupted(&folder),
            Action::SaveInterrupted(folder) => self.save_interrupted(&folder),
            Action::ForgetInterrupted(folder) => self.forget_interrupted(folder),
            Action::DeleteRun(folder) => self.delete_run(folder),
            Action::RestoreRun(folder) => self.restore_run(folder),
            Action::Annotate(folder, annotation) => self.annotate(folder, &annotation),
            Action::ShowCurves(folder) => self.show_curves(folder),
            Action::ShowResults(folder) => self.show_results(&folder),
            Action::Evaluate { model, data } => self.evaluate(model, data),
            Action::OpenComparison(folder) => self.open_comparison(folder),
            Action::ChooseCompared { folder, chosen } => self.choose_compared(&folder, chosen),
            Action::ChooseBaseline(folder) => self.choose_baseline(folder),
            Action::ChooseComparisonData(data) => self.choose_comparison_data(data),
            Action::CompareModels => self.compare_models(),
            Action::CloseComparison => self.close_comparison(),
            Action::CancelJob(id) => self.ctx.cancel_job(id),
            Action::ShowModel(folder) => {
                self.close_comparison();
                self.models.run_to_select = Some(folder);
                self.ctx.show(Screen::Models);
            }
            Action::OpenExport(model) => self.open_export(model),
            Action::ChangeExport(spec) => self.change_export(spec),
            Action::SaveExport => self.choose_export_file(),
            Action::ReplaceExported(replace) => self.replace_exported(replace),
            Action::CloseExport => self.close_export(),
            Action::ChooseImport => self.choose_import_file(),
            Action::ImportAs(spec) => self.import_as(spec),
            Action::CloseImportQuestion => self.models.import_question = None,
            Action::Drop(files) => self.drop_files(files),
            Action::TrainFurther(folder) => self.train_further(&folder),
            Action::Reproduce(folder) => self.reproduce(&folder),
            Action::CopyDiagnostics => self.copy_diagnostics(),
            Action::RunSelected => self.models.run_to_select = None,
            Action::CheckDevice(device) => self.check_device(device),
            Action::Benchmark(extent) => self.benchmark(extent),
            Action::Compare(what) => self.compare(what),
            Action::Search(action) => self.apply_to_search(action),
            Action::Machine(action) => self.apply_to_machine(action),
            Action::Open(files) => self.open(files),
            Action::ChooseDataFolder => {
                self.ask_for_folder("Choose a folder with training data", Purpose::DataFolder)
            }
            Action::UseDataFolder(folder) => self.use_data_folder(folder),
            Action::ChooseCudaFolder => self.ask_for_folder(
                "Choose the folder with NVIDIA's libraries",
                Purpose::CudaFolder,
            ),
            Action::UseCudaFolder(folder) => self.use_cuda_folder(folder),
            Action::SaveCurves => {
                if let Some(run) = &self.train.run {
                    let name = format!("inkling-{}-curves.csv", run.config.model);
                    let text = run.history.csv();
                    self.ask_for_new_file(
                        "Save the training curves",
                        &name,
                        Purpose::Save(text.into_bytes()),
                    );
                }
            }
            Action::SaveDrawing => {
                if let Some(text) = self.drawing_shown().json() {
                    self.ask_for_new_file(
                        "Save the drawing",
                        "drawing.ink.json",
                        Purpose::Save(text.into_bytes()),
                    );
                }
            }
            Action::SaveFile { title, name, bytes } => {
                self.ask_for_new_file(title, &name, Purpose::Save(bytes))
            }
            Action::OpenFolder(folder) => {
                let desktop = Arc::clone(&self.ctx.deps.desktop);
                self.ctx.background.run(move || {
                    desktop
                        .show_folder(&folder)
                        .err()
                        .map(BackgroundResult::Failed)
                });
            }
            Action::SetTheme(theme) => self.ctx.settings.theme = theme,
            Action::ShowSidePanel(shown) => self.ctx.settings.side_panel = shown,
            Action::ShowMonitor(shown) => self.ctx.settings.monitor = shown,
            Action::ChangeSettings(settings) => self.ctx.settings = *settings,
            Action::Dismiss(id) => self.ctx.notices.retain(|notice| notice.id != id),
        }
    }

    /// Prepares the screen that is shown in the place of this one.
    pub(super) fn screen_changed(&mut self, before: Screen) {
        let screen = std::mem::replace(&mut self.ctx.screen, before);
        let before = (self.draws_several(), self.steps_in_use());
        self.ctx.screen = screen;
        // The other canvas may have been read by another model, or with other steps.
        if before != (self.draws_several(), self.steps_in_use()) && !self.is_canvas_empty() {
            self.steps_changed();
        }
        match screen {
            Screen::Sweep => self.prepare_sweep_screen(),
            Screen::Models => self.list_runs(),
            Screen::MyDigits => {
                // Another window may have changed them.
                self.load_my_digits();
                self.read_recipients();
                self.withdraw_fine_tuned();
            }
            Screen::Hardware => {
                self.read_recipients();
                self.list_sent();
            }
            _ => {}
        }
    }

    /// Clears the canvas; the drawing is among the recent ones then.
    pub(super) fn clear_drawing(&mut self) {
        self.keep_drawing();
        self.draw.drawing.clear();
        self.drawing_changed();
    }

    /// Puts the drawing among the recent ones, if the model has seen it.
    fn keep_drawing(&mut self) {
        if let Some(prediction) = self.draw.predictions.prediction() {
            self.draw
                .recent_drawings
                .add(self.draw.drawing.ink(), prediction);
        }
    }

    fn restore_drawing(&mut self, index: usize) {
        if let Some(recent) = self.draw.recent_drawings.take(index) {
            self.ctx.settings.several_digits = false;
            self.keep_drawing();
            self.draw.drawing.put(&recent.ink);
            self.drawing_changed();
        }
    }

    pub(super) fn list_runs(&self) {
        self.list_finished();
        self.list_interrupted();
    }

    pub(super) fn list_finished(&self) {
        let store = Store::new(&self.ctx.deps.paths.runs);
        self.ctx.background.run_on(SharedFolder::Runs, move || {
            BackgroundResult::Runs(store.list())
        });
    }

    /// What came of the run in this folder, where it is among those that are listed.
    pub(super) fn listed(&self, folder: &Path) -> Option<&RunSummary> {
        let entries = self.models.runs.iter().flatten();
        entries
            .filter(|entry| entry.folder == folder)
            .find_map(|entry| entry.summary.as_deref().ok())
    }

    fn show_results(&mut self, folder: &Path) {
        let last = match self.train.run.as_ref().map(|run| &run.phase) {
            Some(Phase::Finished(summary)) if summary.folder == folder => Some(&**summary),
            _ => None,
        };
        let Some(summary) = self.listed(folder).or(last).cloned() else {
            return;
        };
        self.ctx.go_to(Screen::Results);
        if !self.show_test(&summary) {
            self.evaluate(
                ModelRef::File(summary.model_path),
                summary.config.data.or_builtin(),
            );
        }
    }

    /// Shows what a run was measured at; false when it was not.
    pub(super) fn show_test(&mut self, summary: &RunSummary) -> bool {
        let tested = summary.test.clone();
        let measured = tested.is_some();
        tested
            .into_iter()
            .for_each(|test| self.show_evaluation(summary, test));
        measured
    }

    /// Shows this evaluation of a run's model.
    pub(super) fn show_evaluation(&mut self, summary: &RunSummary, measured: SplitEvaluation) {
        let model = ModelInfo {
            reference: ModelRef::File(summary.model_path.clone()),
            network: summary.config.network(),
            parameters: summary.plan.parameters,
            classes: summary.plan.classes.clone(),
            data: summary.config.data.clone(),
            epochs: summary.kept().map_or(0, |record| record.epoch),
            accuracy: summary.accuracy(),
        };
        self.results.shown = Some(ResultsView { model, measured });
    }

    fn evaluate(&mut self, model: ModelRef, data: DataSpec) {
        if !self.ctx.is_too_busy() {
            self.ctx.jobs.forget(|job| matches!(job, Job::Evaluate(_)));
            self.ctx
                .submit(Job::Evaluate(EvaluationSpec::new(model, data)));
        }
    }

    pub(super) fn use_data_folder(&mut self, folder: PathBuf) {
        self.setting_chosen();
        if !self.ctx.settings.data_folders.contains(&folder) {
            self.ctx.settings.data_folders.push(folder.clone());
        }
        self.ctx.config.data = DataSpec::single(DataSource::Path(folder));
        self.check_data();
        self.find_data();
    }
}
