//! What a person does on the screen Sweep: starting, pausing, resuming and stopping a sweep, and
//! the news of the one in progress.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::form::SweepForm;
use super::thread::{SweepNews, SweepRequests};
use super::{SweepPhase, SweepView, thread};
use crate::engine::EngineSettings;
use crate::problem::{Explain, Message};
use crate::run_config::Setting;
use crate::sweep::{Sweep, SweepDefinition, SweepError};
use crate::window::engine_link::engine_settings;
use crate::window::{
    Activity, Ctx, MyDigitsView, Purpose, Request, Screen, Severity, Sweeps, Train,
};

#[derive(Clone, Debug, PartialEq)]
pub enum SweepAction {
    /// Change what varies, or how long it searches.
    Change(Box<SweepForm>),
    /// Let this setting vary too, in the usual range.
    Add(Setting),
    /// Vary the usual settings in their usual ranges.
    Reset,
    Start,
    /// Interrupt the sweep, so that it can be resumed.
    Pause,
    /// End it with the trials that have ended.
    Stop,
    Resume(PathBuf),
    /// Resume it with this many trials more than it has.
    Extend(PathBuf, u32),
    Open(PathBuf),
    /// Go back to setting one up and the list.
    Close,
    /// Delete the one in this folder; it can be restored until the window closes.
    Delete(PathBuf),
    Restore(PathBuf),
    /// Highlight the trial with this number, or none.
    Select(Option<u32>),
    /// Put the settings of this trial into the run panel.
    Use(u32),
    /// Train the best settings as a run that is saved, and read its test accuracy.
    Test,
    /// Write the trials to a CSV file chosen in a dialog.
    SaveTable,
}

impl Sweeps {
    pub fn update(
        &mut self,
        ctx: &mut Ctx,
        (train, mine): (&mut Train, &MyDigitsView),
        action: SweepAction,
    ) {
        match action {
            SweepAction::Change(form) => self.change_sweep_form(*form),
            SweepAction::Add(setting) => {
                if let Some(form) = &mut self.form {
                    form.add(setting, &ctx.config);
                }
            }
            SweepAction::Reset => self.form = Some(SweepForm::usual(&ctx.config)),
            SweepAction::Start => {
                if let Some((definition, problems)) = self.definition(ctx, train, mine)
                    && problems.is_empty()
                {
                    self.start_sweep(ctx, definition);
                }
            }
            SweepAction::Pause => self.ask_sweep(ctx, SweepPhase::Pausing),
            SweepAction::Stop => self.ask_sweep(ctx, SweepPhase::Stopping),
            SweepAction::Resume(folder) => self.resume_sweep(ctx, folder, None),
            SweepAction::Extend(folder, more) => self.resume_sweep(ctx, folder, Some(more)),
            SweepAction::Open(folder) => ctx.open_sweep(folder),
            SweepAction::Close => {
                if !ctx.is_sweeping() {
                    self.shown = None;
                    ctx.list_sweeps();
                }
            }
            SweepAction::Delete(folder) => self.delete_sweep(ctx, folder),
            SweepAction::Restore(folder) => ctx.restore_sweep(folder),
            SweepAction::Select(trial) => {
                if let Some(view) = &mut self.shown {
                    view.selected = trial;
                }
            }
            SweepAction::Use(trial) => {
                let shown = self.shown.as_ref();
                if let Some(trial) = shown.and_then(|view| view.trial(trial)) {
                    train.setting_chosen();
                    train.take_settings(ctx, trial.config.clone());
                    ctx.check_data();
                    ctx.show(Screen::Train);
                }
            }
            SweepAction::Test => self.test_best_trial(ctx),
            SweepAction::SaveTable => {
                if let Some(view) = &self.shown {
                    let purpose = Purpose::Save(view.csv().into_bytes());
                    ctx.ask_for_new_file("Save the trials", "inkling-sweep.csv", purpose);
                }
            }
        }
    }
}

impl Ctx {
    /// Why no sweep can begin or go on now, apart from what is wrong with its settings.
    pub fn why_not_sweep(&self) -> Option<&'static str> {
        if self.is_sweeping() {
            Some("A sweep is in progress already")
        } else if self.is_training() {
            Some(
                "Unavailable during training: both would want every core. Wait for the run to end, or stop it",
            )
        } else if self.jobs.doing(Activity::Benchmark).is_some()
            || self.jobs.doing(Activity::Search).is_some()
        {
            Some("Unavailable while something is measured")
        } else if self.jobs.doing(Activity::FineTuning).is_some() {
            Some("Unavailable while a model is fine-tuned")
        } else {
            None
        }
    }
}

impl Sweeps {
    fn start_sweep(&mut self, ctx: &mut Ctx, definition: SweepDefinition) {
        let root = ctx.deps.paths.sweeps.clone();
        let view = SweepView::starting(definition.clone());
        self.begin_sweep(ctx, view, move || Sweep::create_in(&root, definition));
    }

    pub fn on_news(&mut self, ctx: &mut Ctx, news: SweepNews) {
        let selected = self.shown.as_ref().and_then(|view| view.selected);
        match news {
            SweepNews::Began(view) => {
                let phase = match self.shown.take().map(|view| view.phase) {
                    None | Some(SweepPhase::Starting) => SweepPhase::Running,
                    Some(asked) => asked,
                };
                self.shown = Some(SweepView {
                    phase,
                    selected,
                    ..*view
                });
            }
            SweepNews::Progress(trials, status) => {
                if let Some(view) = &mut self.shown {
                    view.take(trials, status);
                }
            }
            SweepNews::Sending(upload) => {
                ctx.show_notice(Severity::Info, Message::sending(&upload));
            }
            SweepNews::DataNotes(notes) => {
                if let Some(view) = &mut self.shown {
                    view.data_notes = notes;
                }
            }
            SweepNews::Ended(mut view, error) => {
                ctx.sweep = None;
                view.selected = selected;
                if let Some(error) = error {
                    view.phase = SweepPhase::Failed(error.message());
                }
                if ctx.screen != Screen::Sweep && view.phase != SweepPhase::Interrupted {
                    ctx.show_notice(Severity::Info, Message::sweep_ended(&view));
                }
                self.shown = Some(*view);
                ctx.list_sweeps();
                ctx.request(Request::TimePresets);
            }
            SweepNews::Failed(error) => {
                ctx.sweep = None;
                self.shown = None;
                ctx.show_notice(Severity::Error, error.message());
                ctx.list_sweeps();
            }
            SweepNews::Opened(view) => {
                if !ctx.is_sweeping() {
                    self.shown = Some(*view);
                }
            }
        }
    }

    /// The definition of the sweep in this folder, if it is listed.
    pub fn listed_definition(&self, folder: &Path) -> Option<&SweepDefinition> {
        let mut listed = self.listed.iter().flatten();
        let entry = listed.find(|entry| entry.folder == folder)?;
        Some(&entry.card.as_ref().ok()?.definition)
    }
    pub fn prepare_sweep_screen(&mut self, ctx: &mut Ctx) {
        match &mut self.form {
            Some(form) => form.follow(&ctx.config),
            form => *form = Some(SweepForm::usual(&ctx.config)),
        }
        ctx.list_sweeps();
    }

    /// Takes the form over; a range that was changed follows the run panel no more.
    fn change_sweep_form(&mut self, mut form: SweepForm) {
        let before = self.form.iter().flat_map(|form| &form.rows);
        for row in &mut form.rows {
            row.edited |= before
                .clone()
                .any(|old| old.setting == row.setting && old != row);
        }
        self.form = Some(form);
    }

    /// Resumes the sweep in this folder, with this many more trials, if given.
    fn resume_sweep(&mut self, ctx: &mut Ctx, folder: PathBuf, more: Option<u32>) {
        let is_meant =
            |view: &mut SweepView| !view.is_active() && view.folder.as_ref() == Some(&folder);
        let shown = self.shown.take_if(is_meant);
        let listed = || {
            Some(SweepView::starting(
                self.listed_definition(&folder)?.clone(),
            ))
        };
        let Some(mut view) = shown.or_else(listed) else {
            return;
        };
        view.phase = SweepPhase::Starting;
        self.begin_sweep(ctx, view, move || {
            let mut sweep = Sweep::open(&folder)?;
            if let Some(more) = more {
                let (ended, definition) = (sweep.ends().len() as u32, sweep.definition());
                let trials = ended + more;
                // So much longer as these took.
                let longer = |_| sweep.elapsed() * f64::from(trials) / f64::from(ended.max(1));
                let over = |seconds: &f64| sweep.elapsed() >= *seconds;
                let seconds = definition.seconds.filter(over).map(longer);
                sweep.extend(Some(trials), seconds, None)?;
            }
            Ok(sweep)
        });
    }

    fn begin_sweep(
        &mut self,
        ctx: &mut Ctx,
        view: SweepView,
        open: impl FnOnce() -> Result<Sweep, SweepError> + Send + 'static,
    ) {
        if ctx.why_not_sweep().is_some() {
            return;
        }
        ctx.go_to(Screen::Sweep);
        self.shown = Some(view);
        let requests = Arc::new(SweepRequests::default());
        ctx.sweep = Some(Arc::clone(&requests));
        let (make, host) = (Arc::clone(&ctx.deps.executor), ctx.engine.usual_host());
        // Nobody watches what a single trial makes of images.
        let settings = EngineSettings {
            reports_learning: false,
            ..engine_settings(&ctx.deps, &ctx.settings)
        };
        ctx.background.run_with_updates(move |report| {
            thread::run(
                open,
                |parallel| make(host, settings, parallel),
                &requests,
                &|news| report(Box::new(|app| app.sweeps.on_news(&mut app.ctx, news))),
            );
        });
    }

    fn ask_sweep(&mut self, ctx: &Ctx, phase: SweepPhase) {
        if let (Some(view), Some(requests)) = (&mut self.shown, &ctx.sweep)
            && matches!(view.phase, SweepPhase::Starting | SweepPhase::Running)
        {
            let for_good = phase == SweepPhase::Stopping;
            requests.for_good.store(for_good, Ordering::Relaxed);
            requests.interrupt.store(true, Ordering::Relaxed);
            view.phase = phase;
        }
    }

    /// Interrupts the sweep in progress, so that it can be resumed: for the end of this process.
    pub fn interrupt_sweep(&mut self, ctx: &Ctx) {
        self.ask_sweep(ctx, SweepPhase::Pausing);
    }
}
