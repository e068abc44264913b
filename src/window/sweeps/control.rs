//! Starting, pausing, resuming and stopping a sweep, and what is heard of the one in progress.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::action::SweepAction;
use super::form::SweepForm;
use super::state::{SweepPhase, SweepView};
use super::thread;
use super::thread::{LoadedSweep, SweepNews, SweepRequests};
use crate::engine::EngineSettings;
use crate::problem::{Explain, Message};
use crate::sweep::{Sweep, SweepError};
use crate::window::engine_link::engine_settings;
use crate::window::{Activity, App, Ctx, Purpose, Screen, Severity, Sweeps};

impl App {
    pub fn apply_to_sweep(&mut self, action: SweepAction) {
        match action {
            SweepAction::Change(form) => self.sweeps.change_sweep_form(*form),
            SweepAction::Add(setting) => {
                if let Some(form) = &mut self.sweeps.form {
                    form.add(setting, &self.ctx.config);
                }
            }
            SweepAction::Reset => self.sweeps.form = Some(SweepForm::usual(&self.ctx.config)),
            SweepAction::Start => self.start_sweep(),
            SweepAction::Pause => self.sweeps.ask_sweep(&self.ctx, SweepPhase::Pausing),
            SweepAction::Stop => self.sweeps.ask_sweep(&self.ctx, SweepPhase::Stopping),
            SweepAction::Resume(folder) => self.sweeps.resume_sweep(&mut self.ctx, &folder, None),
            SweepAction::Extend(folder, more) => {
                self.sweeps.resume_sweep(&mut self.ctx, &folder, Some(more));
            }
            SweepAction::Open(folder) => self.ctx.open_sweep(folder),
            SweepAction::Close => {
                if !self.ctx.is_sweeping() {
                    self.sweeps.shown = None;
                    self.ctx.list_sweeps();
                }
            }
            SweepAction::Delete(folder) => self.sweeps.delete_sweep(&mut self.ctx, folder),
            SweepAction::Restore(folder) => self.ctx.restore_sweep(folder),
            SweepAction::Select(trial) => {
                if let Some(view) = &mut self.sweeps.shown {
                    view.selected = trial;
                }
            }
            SweepAction::Use(trial) => self.use_trial(trial),
            SweepAction::Test => self.test_best_trial(),
            SweepAction::SaveTable => {
                if let Some(view) = &self.sweeps.shown {
                    self.ctx.ask_for_new_file(
                        "Save the trials",
                        "inkling-sweep.csv",
                        Purpose::Save(view.csv().into_bytes()),
                    );
                }
            }
        }
    }

    fn start_sweep(&mut self) {
        let Some((definition, problems)) = self.sweep_definition() else {
            return;
        };
        if !problems.is_empty() {
            return;
        }
        let root = self.ctx.deps.paths.sweeps.clone();
        let view = SweepView::starting(definition.clone());
        self.sweeps.begin_sweep(&mut self.ctx, view, move || {
            Sweep::create_in(&root, definition)
        });
    }

    pub fn on_sweep_news(&mut self, news: SweepNews) {
        match news {
            SweepNews::Began(loaded) => {
                let asked = self
                    .sweeps
                    .shown
                    .as_ref()
                    .map(|view| (view.phase.clone(), view.selected));
                let (phase, selected) = asked.unwrap_or((SweepPhase::Starting, None));
                let phase = if phase == SweepPhase::Starting {
                    SweepPhase::Running
                } else {
                    phase
                };
                self.sweeps.shown = Some(SweepView {
                    selected,
                    ..SweepView::of(*loaded, phase)
                });
            }
            SweepNews::Progress(trials, status) => {
                if let Some(view) = &mut self.sweeps.shown {
                    view.take(trials, status);
                }
            }
            SweepNews::Sending(upload) => self
                .ctx
                .show_notice(Severity::Info, Message::sending(&upload)),
            SweepNews::Ended(loaded, error) => self.sweep_ended(*loaded, error.as_ref()),
            SweepNews::Failed(error) => {
                self.ctx.sweep = None;
                self.sweeps.shown = None;
                self.ctx.show_notice(Severity::Error, error.message());
                self.ctx.list_sweeps();
            }
            SweepNews::Opened(loaded) => {
                if !self.ctx.is_sweeping() {
                    let phase = if loaded.complete {
                        SweepPhase::Complete
                    } else {
                        SweepPhase::Interrupted
                    };
                    self.sweeps.shown = Some(SweepView::of(*loaded, phase));
                }
            }
        }
    }

    fn sweep_ended(&mut self, loaded: LoadedSweep, error: Option<&SweepError>) {
        self.ctx.sweep = None;
        let selected = self.sweeps.shown.as_ref().and_then(|view| view.selected);
        let phase = match error {
            Some(error) => SweepPhase::Failed(error.message()),
            None if loaded.complete => SweepPhase::Complete,
            None => SweepPhase::Interrupted,
        };
        let view = SweepView {
            selected,
            ..SweepView::of(loaded, phase)
        };
        if self.ctx.screen != Screen::Sweep
            && let SweepPhase::Complete | SweepPhase::Failed(_) = view.phase
        {
            self.ctx
                .show_notice(Severity::Info, Message::sweep_ended(&view));
        }
        self.sweeps.shown = Some(view);
        self.ctx.list_sweeps();
        self.machine.time_presets(&mut self.ctx);
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

    /// Resumes the sweep in this folder, with this many trials more than it has if that is said.
    fn resume_sweep(&mut self, ctx: &mut Ctx, folder: &Path, more: Option<u32>) {
        let shown = self
            .shown
            .take_if(|view| !view.is_active() && view.folder.as_deref() == Some(folder));
        let listed = || {
            let entry = self
                .listed
                .iter()
                .flatten()
                .find(|entry| entry.folder == folder)?;
            Some(SweepView::starting(
                entry.card.as_ref().ok()?.definition.clone(),
            ))
        };
        let Some(view) = shown.or_else(listed) else {
            return;
        };
        let view = SweepView {
            phase: SweepPhase::Starting,
            ..view
        };
        let folder = folder.to_owned();
        self.begin_sweep(ctx, view, move || {
            let mut sweep = Sweep::open(&folder)?;
            if let Some(more) = more {
                let (ended, definition) = (sweep.ends().len() as u32, sweep.definition());
                let trials = ended + more;
                // So much longer as these took.
                let longer = |_| sweep.elapsed() * f64::from(trials) / f64::from(ended.max(1));
                let seconds = definition
                    .seconds
                    .filter(|&seconds| sweep.elapsed() >= seconds)
                    .map(longer);
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
                |at_once| make(host, settings, at_once),
                &requests,
                &|news| report(Box::new(|app| app.on_sweep_news(news))),
            );
        });
    }

    fn ask_sweep(&mut self, ctx: &Ctx, phase: SweepPhase) {
        let running = self
            .shown
            .as_mut()
            .filter(|view| matches!(view.phase, SweepPhase::Starting | SweepPhase::Running));
        if let (Some(view), Some(requests)) = (running, &ctx.sweep) {
            requests
                .for_good
                .store(phase == SweepPhase::Stopping, Ordering::Relaxed);
            requests.interrupt.store(true, Ordering::Relaxed);
            view.phase = phase;
        }
    }

    /// Interrupts the sweep in progress, so that it can be resumed: for the end of this process.
    pub fn interrupt_sweep(&mut self, ctx: &Ctx) {
        self.ask_sweep(ctx, SweepPhase::Pausing);
    }
}
