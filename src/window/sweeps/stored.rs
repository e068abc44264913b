//! Earlier sweeps: listing, opening, deleting and restoring them; and the test accuracy of the best
//! settings, read once.

use std::path::PathBuf;

use super::thread::SweepNews;
use crate::problem::{Explain, Message};
use crate::records::{JobId, RunSummary};
use crate::sweep::{Sweep, SweepError, SweepStore, Tested};
use crate::window::{
    Ctx, Offer, Request, RunView, Severity, SharedFolder, SweepAction, SweepView, Sweeps,
};

impl Ctx {
    pub fn list_sweeps(&self) {
        let store = self.sweep_store();
        // The one in progress holds its lock.
        if !self.is_sweeping() {
            self.background.run_on(
                SharedFolder::Sweeps,
                move || store.list(),
                |app, sweeps| app.sweeps.listed = Some(sweeps),
            );
        }
    }

    fn sweep_store(&self) -> SweepStore {
        SweepStore::new(&self.deps.paths.sweeps)
    }

    pub(super) fn open_sweep(&self, folder: PathBuf) {
        if !self.is_sweeping() {
            self.background.run_on(
                SharedFolder::Sweeps,
                move || match Sweep::open(&folder) {
                    Ok(sweep) => SweepNews::Opened(Box::new(SweepView::of(&sweep))),
                    Err(error) => SweepNews::Failed(error),
                },
                |app, news| app.sweeps.on_news(&mut app.ctx, news),
            );
        }
    }

    pub(super) fn restore_sweep(&mut self, folder: PathBuf) {
        self.withdraw_offer(SweepAction::Restore(folder.clone()));
        let store = self.sweep_store();
        self.background.run_on(
            SharedFolder::Sweeps,
            move || store.restore(&folder).map(|()| store.list()),
            |app, restored| match restored {
                Ok(sweeps) => app.sweeps.listed = Some(sweeps),
                // The sweeps are listed again after any failure.
                Err(error) => app.sweeps.on_news(&mut app.ctx, SweepNews::Failed(error)),
            },
        );
    }
}

impl Sweeps {
    pub(super) fn delete_sweep(&mut self, ctx: &mut Ctx, folder: PathBuf) {
        if ctx.is_sweeping() {
            return;
        }
        self.shown
            .take_if(|view| view.folder.as_ref() == Some(&folder));
        let store = ctx.sweep_store();
        ctx.background.run_on(
            SharedFolder::Sweeps,
            move || store.delete(&folder).map(|()| folder),
            |app, deleted| app.sweeps.sweep_deleted(&mut app.ctx, deleted),
        );
    }

    fn sweep_deleted(&mut self, ctx: &mut Ctx, deleted: Result<PathBuf, SweepError>) {
        match deleted {
            Ok(folder) => {
                if let Some(listed) = &mut self.listed {
                    listed.retain(|entry| entry.folder != folder);
                }
                let (label, action) = ("Undo", SweepAction::Restore(folder).into());
                let offer = Some(Offer { label, action });
                ctx.show_notice_with(Severity::Info, Message::sweep_deleted(), offer);
            }
            Err(error) => ctx.show_notice(Severity::Error, error.message()),
        }
        ctx.list_sweeps();
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRun {
    run: JobId,
    sweep: PathBuf,
    trial: u32,
}

impl Sweeps {
    /// Trains the best settings as a run that is saved; its test accuracy is noted in the sweep.
    pub(super) fn test_best_trial(&mut self, ctx: &mut Ctx) {
        let view = self.shown.as_ref().filter(|view| view.tested.is_none());
        let why_not = self.why_not_test_best(ctx);
        if let (Some(view), None) = (view, why_not)
            && let (Some(best), Some(sweep)) = (view.best(), view.folder.clone())
        {
            let mut config = best.config.clone();
            config.threads = view.definition.base.threads;
            let (run, trial) = (JobId(ctx.next_id()), best.number);
            self.testing = Some(TestRun { run, sweep, trial });
            ctx.request(Request::Start(Box::new(RunView::new(run, config))));
        }
    }
    pub fn why_not_test_best(&self, ctx: &Ctx) -> Option<&'static str> {
        let view = self.shown.as_ref()?;
        if view.best().is_none() {
            Some("No trial has been completed")
        } else if ctx.is_sweeping() {
            Some("Available once the sweep has ended or is paused")
        } else if ctx.is_training() {
            Some("Unavailable during training")
        } else {
            None
        }
    }

    /// Records the test accuracy of a run that has ended, if it trained a sweep's settings.
    pub fn note_sweep_test(&mut self, ctx: &mut Ctx, run: JobId, summary: &RunSummary) {
        let testing = self.testing.take_if(|test| test.run == run);
        // A run that was stopped did not train as its settings say.
        let Some(TestRun {
            sweep: folder,
            trial,
            ..
        }) = testing.filter(|_| !summary.stopped)
        else {
            return;
        };
        let tested = Tested {
            run: summary.folder.clone(),
            test_accuracy: summary.test.as_ref().map(|test| test.evaluation.accuracy),
        };
        let note = move || {
            Sweep::open(&folder)?.record_test(trial, tested.clone())?;
            Ok((folder, (trial, tested)))
        };
        ctx.background.run_on(
            SharedFolder::Sweeps,
            note,
            |app, noted: Result<_, SweepError>| match noted {
                Ok((folder, tested)) => {
                    let shown = app.sweeps.shown.as_mut();
                    if let Some(view) = shown.filter(|view| view.folder == Some(folder)) {
                        view.tested = Some(tested);
                    }
                }
                Err(error) => app.ctx.show_notice(Severity::Error, error.message()),
            },
        );
    }
}
