//! The effect of each action.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::protocol::Job;
use crate::records::{EvaluationSpec, ModelInfo, ModelRef, RunSummary, SplitEvaluation};
use crate::run_config::{DataSource, DataSpec, DeviceChoice};
use crate::runs::Store;
use crate::window::{
    Action, Activity, App, Ctx, MachineAction, Phase, Purpose, Results, ResultsView, Screen,
    SharedFolder, Train, WizardStep,
};

impl App {
    pub fn apply(&mut self, action: impl Into<Action>) {
        let action = action.into();
        if !self.ask_before_sending(&action) {
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
            Action::Sweep(action) => {
                let others = (&mut self.train, &self.my_digits);
                self.sweeps.update(&mut self.ctx, others, action);
            }
            Action::TypePath(text) => self.shell.type_path(text),
            Action::ConfirmPath => self.shell.confirm_path(&self.ctx),
            Action::ClosePathQuestion => self.shell.path_question = None,
            Action::CancelJob(id) => self.ctx.cancel_job(id),
            Action::Drop(files) => self.train.drop_files(&mut self.ctx, files),
            Action::Search(action) => {
                let Self {
                    ctx,
                    train,
                    my_digits,
                    ..
                } = self;
                train.update_search(ctx, my_digits, action);
            }
            Action::Machine(MachineAction::CopyDiagnostics) => {
                self.draw.copy_diagnostics(&self.ctx);
            }
            Action::Machine(action) => self.machine.update(&mut self.ctx, action),
            Action::Open(files) => self.open(files),
            Action::SaveFile { title, name, bytes } => {
                self.ctx
                    .ask_for_new_file(title, &name, Purpose::Save(bytes));
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
            Action::Train(action) => {
                let others = (&self.my_digits, &self.models);
                self.train.update(&mut self.ctx, others, action);
            }
            Action::Draw(action) => {
                self.draw.update(&mut self.ctx, &mut self.my_digits, action);
            }
            Action::Inside(action) => self.draw.update_inside(&mut self.ctx, action),
            Action::Map(action) => self.update_layout(action),
            Action::MyDigits(action) => {
                self.my_digits.update(&mut self.ctx, &mut self.draw, action);
            }
            Action::Models(action) => self.models.update(&mut self.ctx, action),
            Action::Lessons(action) => self.update_lessons(action),
        }
    }

    /// Prepares the screen that is shown in the place of this one.
    pub(super) fn screen_changed(&mut self, before: Screen) {
        let screen = std::mem::replace(&mut self.ctx.screen, before);
        let read = |app: &Self| {
            let (draw, ctx) = (&app.draw, &app.ctx);
            (draw.canvas(ctx), draw.steps_in_use(ctx), draw.details(ctx))
        };
        let read_before = read(self);
        self.ctx.screen = screen;
        // The other canvas may have been read by another model, with other steps or fewer details.
        if read_before != read(self) {
            self.draw.recognize_again(&mut self.ctx);
        }
        match screen {
            Screen::Sweep => self.sweeps.prepare_sweep_screen(&mut self.ctx),
            Screen::Models => self.ctx.list_runs(),
            Screen::MyDigits => {
                // Another window may have changed them.
                self.my_digits.load_my_digits(&self.ctx);
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

    pub(in crate::window) fn show_results(&mut self, folder: &Path) {
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

    pub(in crate::window) fn evaluate(&mut self, model: ModelRef, data: DataSpec) {
        if !self.is_too_busy() {
            self.jobs.forget(Activity::Evaluation);
            self.submit(Job::Evaluate(EvaluationSpec::new(model, data)));
        }
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
