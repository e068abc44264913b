//! What each action does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ResultsView;
use super::action::{Action, Screen, WizardStep};
use super::background::SharedFolder;
use super::desktop::Purpose;
use super::state::App;
use super::train::run::Phase;
use crate::ink::IMAGE_ENDINGS;
use crate::protocol::Job;
use crate::records::{EvaluationSpec, ModelInfo, ModelRef, RunSummary, SplitEvaluation};
use crate::run_config::{DataSource, DataSpec, DeviceChoice};
use crate::runs::Store;
use crate::window::Ctx;
use crate::window::draw::Draw;
use crate::window::models::Models;
use crate::window::results::Results;
use crate::window::train::Train;

/// How ink files end that can be opened in Draw, besides images.
const INK_ENDINGS: [&str; 5] = ["json", "jsonl", "ndjson", "gz", "ink"];

impl App {
    pub fn apply(&mut self, action: Action) {
        if !self.draw.apply_to_image(&mut self.ctx, &action) && !self.ask_before_sending(&action) {
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
                if step == WizardStep::Hardware && !self.ctx.checks.contains_key(&DeviceChoice::Cpu)
                {
                    self.ctx.check_device(DeviceChoice::Cpu);
                }
                self.machine.benchmark.presets_wanted |=
                    !matches!(step, WizardStep::Welcome | WizardStep::Hardware);
                self.machine.time_presets(&mut self.ctx);
            }
            Action::CloseWizard => {
                self.ctx.wizard = None;
                self.ctx.settings.wizard_done = true;
                self.machine.benchmark.presets_wanted = true;
                self.machine.time_presets(&mut self.ctx);
            }
            Action::Configure(config) => self.configure(*config),
            Action::Download(set) => self.train.start_download(&mut self.ctx, set),
            Action::CancelDownload => self.train.cancel_download(),
            Action::Type(field, text) => {
                self.train.setting_chosen();
                self.type_text(field, text);
            }
            Action::ApplyPreset(preset) => {
                self.train.setting_chosen();
                self.train.form.clear();
                self.ctx.settings.former_learning_rate = None;
                self.ctx.config.apply_preset(preset);
            }
            Action::ApplyRecommended => {
                if let Some((config, _)) = self.train.recommended(&self.ctx) {
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
            Action::RemoveQueued(index) => self.train.remove_queued(index),
            Action::Pause => self.train.pause(&mut self.ctx),
            Action::Resume => self.train.resume(&mut self.ctx),
            Action::Stop => self.train.stop(&mut self.ctx),
            Action::SaveRun => self.train.save_run(&mut self.ctx, None),
            Action::ChooseRunFolder => self
                .ctx
                .ask_for_folder("Choose a folder for the run", Purpose::RunFolder),
            Action::TypePath(text) => self.shell.type_path(text),
            Action::ConfirmPath => self.shell.confirm_path(&self.ctx),
            Action::ClosePathQuestion => self.shell.path_question = None,
            Action::PenDown(point) => {
                if !self.ctx.draws_several() {
                    self.my_digits.drawing_begins();
                }
                self.draw.drawing_shown_mut(&mut self.ctx).begin(point);
                self.draw.drawing_changed(&mut self.ctx);
            }
            Action::PenScale(scale) => self.draw.drawing_shown_mut(&mut self.ctx).scale = scale,
            Action::ChooseTool(tool) => {
                self.draw.drawing_shown_mut(&mut self.ctx).end();
                self.draw.tool = tool;
                self.draw.put_eraser_away_if_empty(&mut self.ctx);
            }
            Action::EraserDown(point) => {
                if self
                    .draw
                    .drawing_shown_mut(&mut self.ctx)
                    .begin_erasing(point)
                {
                    self.draw.drawing_changed(&mut self.ctx);
                }
            }
            Action::PenPressure(pressure) => {
                self.draw.drawing_shown_mut(&mut self.ctx).press(pressure)
            }
            Action::PenMove(point) => {
                if self.draw.drawing_shown_mut(&mut self.ctx).extend(point) {
                    self.draw.drawing_changed(&mut self.ctx);
                }
            }
            Action::PenUp => {
                self.draw.drawing_shown_mut(&mut self.ctx).end();
                self.draw.put_eraser_away_if_empty(&mut self.ctx);
            }
            Action::Undo => {
                if !self.ctx.draws_several() {
                    self.undo_just_kept();
                }
                self.draw.drawing_shown_mut(&mut self.ctx).undo();
                self.draw.drawing_changed(&mut self.ctx);
            }
            Action::Redo => {
                self.draw.drawing_shown_mut(&mut self.ctx).redo();
                self.draw.drawing_changed(&mut self.ctx);
            }
            Action::ClearDrawing if self.ctx.draws_several() => {
                self.draw.number.drawing.clear();
                self.draw.drawing_changed(&mut self.ctx);
            }
            Action::ClearDrawing => self.draw.clear_drawing(&mut self.ctx),
            Action::Keep(digit) => self.keep(digit),
            Action::KeepRecent(index, digit) => self.keep_recent(index, digit),
            Action::Relabel(drawing, digit) => {
                self.my_digits.relabel(&mut self.ctx, *drawing, digit)
            }
            Action::DeleteKept(drawing) => self.my_digits.delete_kept(&mut self.ctx, *drawing),
            Action::DrawKept(drawing) => {
                self.ctx.settings.several_digits = false;
                self.draw.keep_drawing();
                self.draw.drawing.put(&drawing.ink);
                self.draw.drawing_changed(&mut self.ctx);
                self.ctx.show(Screen::Draw);
            }
            Action::UndoKept => {
                if !self.undo_just_kept() {
                    self.my_digits.undo_kept(&mut self.ctx);
                } else if self.ctx.screen == Screen::Draw {
                    self.draw.drawing.undo();
                    self.draw.drawing_changed(&mut self.ctx);
                }
            }
            Action::RedoKept => self.my_digits.redo_kept(&mut self.ctx),
            Action::ImportInk => self.ctx.choose_ink_to_import(),
            Action::ExportMyDigits(format) => self.ctx.choose_set_file(format),
            Action::Collect(rounds) => self.draw.start_collection(&mut self.ctx, rounds),
            Action::SkipDigit => self.draw.skip_digit(&mut self.ctx),
            Action::PreviousDigit => self.previous_digit(),
            Action::StopCollecting => self.ctx.stop_collection(),
            Action::FineTune => self.my_digits.fine_tune(&mut self.ctx),
            Action::UndoFineTune => self.my_digits.undo_fine_tune(&mut self.ctx),
            Action::RestoreDrawing(index) => self.draw.restore_drawing(&mut self.ctx, index),
            Action::SetPen(pen) => {
                (self.draw.drawing.pen, self.draw.number.drawing.pen) = (pen, pen);
                self.draw.drawing_changed(&mut self.ctx);
            }
            Action::ChooseCanvas { several } => self.draw.choose_canvas(&mut self.ctx, several),
            Action::ChooseDigit(index) => self.draw.choose_digit(index),
            Action::ShowSteps(shown) => self.ctx.settings.steps_shown = shown,
            Action::SwitchStep { step, on } => self.draw.switch_step(&mut self.ctx, step, on),
            Action::RestoreSteps => self.draw.restore_steps(&mut self.ctx),
            Action::CopyImage => self.copy_image(),
            Action::SaveImage => self.draw.save_image(&mut self.ctx),
            Action::OpenInDraw => {
                let endings = [&IMAGE_ENDINGS[..], &INK_ENDINGS].concat();
                self.ctx.ask_for_file(
                    "Open an image or a drawing",
                    "Images and drawings",
                    &endings,
                    Purpose::OpenInDraw,
                );
            }
            Action::PasteImage { size, pixels } => self.ctx.paste_image(size, pixels),
            Action::UseModel(model) => self.ctx.use_model(model),
            Action::DrawWith(model) => {
                self.ctx.use_model(model);
                self.ctx.show(Screen::Draw);
            }
            Action::ChooseInferenceDevice(choice) => self.choose_inference_device(choice),
            Action::RefreshRuns => self.ctx.list_runs(),
            Action::ResumeInterrupted(folder) => self.resume_interrupted(&folder),
            Action::SaveInterrupted(folder) => self.save_interrupted(&folder),
            Action::ForgetInterrupted(folder) => {
                self.train.forget_interrupted(&mut self.ctx, folder)
            }
            Action::DeleteRun(folder) => self.models.delete_run(&mut self.ctx, folder),
            Action::RestoreRun(folder) => self.models.restore_run(&mut self.ctx, folder),
            Action::Annotate(folder, annotation) => {
                self.models.annotate(&mut self.ctx, folder, &annotation)
            }
            Action::ShowCurves(folder) => self.ctx.show_curves(folder),
            Action::ShowResults(folder) => self.show_results(&folder),
            Action::Evaluate { model, data } => self.ctx.evaluate(model, data),
            Action::OpenComparison(folder) => self.models.open_comparison(&mut self.ctx, folder),
            Action::ChooseCompared { folder, chosen } => {
                self.models.choose_compared(&mut self.ctx, &folder, chosen)
            }
            Action::ChooseBaseline(folder) => self.models.choose_baseline(folder),
            Action::ChooseComparisonData(data) => self.models.choose_comparison_data(data),
            Action::CompareModels => self.models.compare_models(&mut self.ctx),
            Action::CloseComparison => self.models.close_comparison(&mut self.ctx),
            Action::CancelJob(id) => self.ctx.cancel_job(id),
            Action::ShowModel(folder) => {
                self.models.close_comparison(&mut self.ctx);
                self.models.run_to_select = Some(folder);
                self.ctx.show(Screen::Models);
            }
            Action::OpenExport(model) => self.models.open_export(&mut self.ctx, model),
            Action::ChangeExport(spec) => self.models.change_export(&mut self.ctx, spec),
            Action::SaveExport => self.models.choose_export_file(&mut self.ctx),
            Action::ReplaceExported(replace) => {
                self.models.replace_exported(&mut self.ctx, replace)
            }
            Action::CloseExport => self.models.close_export(&mut self.ctx),
            Action::ChooseImport => self.ctx.choose_import_file(),
            Action::ImportAs(spec) => self.models.import_as(&mut self.ctx, spec),
            Action::CloseImportQuestion => self.models.import_question = None,
            Action::Drop(files) => self.train.drop_files(&mut self.ctx, files),
            Action::TrainFurther(folder) => self.train_further(&folder),
            Action::Reproduce(folder) => self.reproduce(&folder),
            Action::CopyDiagnostics => self.draw.copy_diagnostics(&self.ctx),
            Action::RunSelected => self.models.run_to_select = None,
            Action::CheckDevice(device) => self.ctx.check_device(device),
            Action::Benchmark(extent) => self.ctx.benchmark(extent),
            Action::Compare(what) => self.compare(what),
            Action::Search(action) => self.apply_to_search(action),
            Action::Machine(action) => self.apply_to_machine(action),
            Action::Open(files) => self.open(files),
            Action::ChooseDataFolder => self
                .ctx
                .ask_for_folder("Choose a folder with training data", Purpose::DataFolder),
            Action::UseDataFolder(folder) => self.train.use_data_folder(&mut self.ctx, folder),
            Action::ChooseCudaFolder => self.ctx.ask_for_folder(
                "Choose the folder with NVIDIA's libraries",
                Purpose::CudaFolder,
            ),
            Action::UseCudaFolder(folder) => self.use_cuda_folder(folder),
            Action::SaveCurves => {
                if let Some(run) = &self.train.run {
                    let name = format!("inkling-{}-curves.csv", run.config.model);
                    let text = run.history.csv();
                    self.ctx.ask_for_new_file(
                        "Save the training curves",
                        &name,
                        Purpose::Save(text.into_bytes()),
                    );
                }
            }
            Action::SaveDrawing => {
                if let Some(text) = self.draw.drawing_shown(&self.ctx).json() {
                    self.ctx.ask_for_new_file(
                        "Save the drawing",
                        "drawing.ink.json",
                        Purpose::Save(text.into_bytes()),
                    );
                }
            }
            Action::SaveFile { title, name, bytes } => {
                self.ctx
                    .ask_for_new_file(title, &name, Purpose::Save(bytes))
            }
            Action::OpenFolder(folder) => {
                let desktop = Arc::clone(&self.ctx.deps.desktop);
                self.ctx.background.run(
                    move || desktop.show_folder(&folder),
                    |app, shown| {
                        app.ctx.tell_failure(shown);
                    },
                );
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
        let before = (self.ctx.draws_several(), self.draw.steps_in_use(&self.ctx));
        self.ctx.screen = screen;
        // The other canvas may have been read by another model, or with other steps.
        if before != (self.ctx.draws_several(), self.draw.steps_in_use(&self.ctx))
            && !self.draw.is_canvas_empty(&self.ctx)
        {
            self.draw.steps_changed(&mut self.ctx);
        }
        match screen {
            Screen::Sweep => self.sweeps.prepare_sweep_screen(&mut self.ctx),
            Screen::Models => self.ctx.list_runs(),
            Screen::MyDigits => {
                // Another window may have changed them.
                self.my_digits.load_my_digits(&mut self.ctx);
                self.machine.read_recipients(&mut self.ctx);
                self.my_digits.withdraw_fine_tuned(&mut self.ctx);
            }
            Screen::Hardware => {
                self.machine.read_recipients(&mut self.ctx);
                self.machine.list_sent(&mut self.ctx);
            }
            _ => {}
        }
    }

    fn show_results(&mut self, folder: &Path) {
        let last = match self.train.run.as_ref().map(|run| &run.phase) {
            Some(Phase::Finished(summary)) if summary.folder == folder => Some(&**summary),
            _ => None,
        };
        let Some(summary) = self.models.listed(folder).or(last).cloned() else {
            return;
        };
        self.ctx.go_to(Screen::Results);
        if !self.results.show_test(&summary) {
            self.ctx.evaluate(
                ModelRef::File(summary.model_path),
                summary.config.data.or_builtin(),
            );
        }
    }
}

impl Draw {
    /// Clears the canvas; the drawing is among the recent ones then.
    pub(super) fn clear_drawing(&mut self, ctx: &mut Ctx) {
        self.keep_drawing();
        self.drawing.clear();
        self.drawing_changed(ctx);
    }

    /// Puts the drawing among the recent ones, if the model has seen it.
    fn keep_drawing(&mut self) {
        if let Some(prediction) = self.predictions.prediction() {
            self.recent_drawings.add(self.drawing.ink(), prediction);
        }
    }

    fn restore_drawing(&mut self, ctx: &mut Ctx, index: usize) {
        if let Some(recent) = self.recent_drawings.take(index) {
            ctx.settings.several_digits = false;
            self.keep_drawing();
            self.drawing.put(&recent.ink);
            self.drawing_changed(ctx);
        }
    }
}

impl Ctx {
    pub(super) fn list_runs(&self) {
        self.list_finished();
        self.list_interrupted();
    }

    pub(super) fn list_finished(&self) {
        let store = Store::new(&self.deps.paths.runs);
        self.background.run_on(
            SharedFolder::Runs,
            move || store.list(),
            |app, runs| app.models.set_runs(&mut app.ctx, runs),
        );
    }

    fn evaluate(&mut self, model: ModelRef, data: DataSpec) {
        if !self.is_too_busy() {
            self.jobs.forget(|job| matches!(job, Job::Evaluate(_)));
            self.submit(Job::Evaluate(EvaluationSpec::new(model, data)));
        }
    }
}

impl Models {
    /// What came of the run in this folder, where it is among those that are listed.
    pub(super) fn listed(&self, folder: &Path) -> Option<&RunSummary> {
        let entries = self.runs.iter().flatten();
        entries
            .filter(|entry| entry.folder == folder)
            .find_map(|entry| entry.summary.as_deref().ok())
    }
}

impl Results {
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
        self.shown = Some(ResultsView { model, measured });
    }
}

impl Train {
    pub(super) fn use_data_folder(&mut self, ctx: &mut Ctx, folder: PathBuf) {
        self.setting_chosen();
        if !ctx.settings.data_folders.contains(&folder) {
            ctx.settings.data_folders.push(folder.clone());
        }
        ctx.config.data = DataSpec::single(DataSource::Path(folder));
        ctx.check_data();
        ctx.find_data();
    }
}
