//! What follows from a sweep: its settings in the run panel, and the test accuracy of the best
//! ones, read once.

use std::path::{Path, PathBuf};

use crate::problem::Explain;
use crate::records::{JobId, RunSummary};
use crate::run_config::RunConfig;
use crate::sweep::{Sweep, SweepError, Tested};
use crate::window::{App, Ctx, RunView, Screen, Severity, SharedFolder, Sweeps};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRun {
    run: JobId,
    sweep: PathBuf,
    trial: u32,
}

impl App {
    /// Puts a trial's settings into the run panel.
    pub(super) fn use_trial(&mut self, trial: u32) {
        let Some(config) = self
            .sweeps
            .shown
            .as_ref()
            .and_then(|view| view.config(trial))
            .cloned()
        else {
            return;
        };
        self.train.setting_chosen();
        self.train.form.clear();
        self.ctx.settings.former_learning_rate = None;
        self.ctx.config = config;
        self.ctx.check_data();
        self.ctx.show(Screen::Train);
    }

    /// Trains the best settings as a run that is saved; its test accuracy is noted in the sweep.
    pub(super) fn test_best_trial(&mut self) {
        let Some(view) = self
            .sweeps
            .shown
            .as_ref()
            .filter(|view| view.tested.is_none())
        else {
            return;
        };
        let (Some(best), Some(sweep)) = (view.best(), view.folder.clone()) else {
            return;
        };
        if self.sweeps.why_not_test_best(&self.ctx).is_some() {
            return;
        }
        let (trial, config) = (
            best.number,
            RunConfig {
                threads: view.definition.base.threads,
                ..best.config.clone()
            },
        );
        let run = JobId(self.ctx.next_id());
        self.sweeps.testing = Some(TestRun { run, sweep, trial });
        self.start_run(RunView::new(run, config), None);
    }
}

impl Sweeps {
    /// Why the best settings cannot be tested now.
    pub fn why_not_test_best(&self, ctx: &Ctx) -> Option<&'static str> {
        let view = self.shown.as_ref()?;
        if view.best().is_none() {
            Some("No trial has trained to its end")
        } else if ctx.is_sweeping() {
            Some("Available once the sweep has ended or is paused")
        } else if ctx.is_training() {
            Some("Unavailable during training")
        } else {
            None
        }
    }

    /// Notes the test accuracy of a run that has ended, if it is that of a sweep's settings.
    pub fn note_sweep_test(&mut self, ctx: &mut Ctx, run: JobId, summary: &RunSummary) {
        let Some(TestRun {
            sweep: folder,
            trial,
            ..
        }) = self.testing.take_if(|test| test.run == run)
        else {
            return;
        };
        // The weights of a run that was stopped are not those of its settings.
        if summary.stopped {
            return;
        }
        let tested = Tested {
            run: summary.folder.clone(),
            test_accuracy: summary.test.as_ref().map(|test| test.evaluation.accuracy),
        };
        ctx.background.run_on(
            SharedFolder::Sweeps,
            move || {
                let noted = Sweep::open(&folder)
                    .and_then(|mut sweep| sweep.note_tested(trial, tested.clone()));
                (noted.map(|()| (trial, tested)), folder)
            },
            |app, (noted, folder)| app.sweeps.sweep_tested(&mut app.ctx, &folder, noted),
        );
    }

    pub fn sweep_tested(
        &mut self,
        ctx: &mut Ctx,
        folder: &Path,
        outcome: Result<(u32, Tested), SweepError>,
    ) {
        match outcome {
            Ok(tested) => {
                if let Some(view) = self
                    .shown
                    .as_mut()
                    .filter(|view| view.folder.as_deref() == Some(folder))
                {
                    view.tested = Some(tested);
                }
            }
            Err(error) => ctx.show_notice(Severity::Error, error.message()),
        }
    }
}
