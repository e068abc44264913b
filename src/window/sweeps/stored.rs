//! Earlier sweeps: listing, opening, deleting and restoring them.

use std::path::PathBuf;

use super::thread::{LoadedSweep, SweepNews};
use crate::problem::{Explain, Message};
use crate::sweep::{Sweep, SweepError, SweepStore};
use crate::window::{Action, App, Ctx, Offer, Severity, SharedFolder, SweepAction, Sweeps};

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
        if self.is_sweeping() {
            return;
        }
        self.background.run_on(
            SharedFolder::Sweeps,
            move || match Sweep::open(&folder) {
                Ok(sweep) => SweepNews::Opened(Box::new(LoadedSweep::from(&sweep))),
                Err(error) => SweepNews::Failed(error),
            },
            App::on_sweep_news,
        );
    }

    pub(super) fn restore_sweep(&mut self, folder: PathBuf) {
        let undo = Action::Sweep(SweepAction::Restore(folder.clone()));
        self.notices.retain(|notice| {
            notice
                .offer
                .as_ref()
                .is_none_or(|offer| offer.action != undo)
        });
        let store = self.sweep_store();
        self.background.run_on(
            SharedFolder::Sweeps,
            move || store.restore(&folder).map(|()| store.list()),
            |app, restored| match restored {
                Ok(sweeps) => app.sweeps.listed = Some(sweeps),
                // The sweeps are listed again after any failure.
                Err(error) => app.on_sweep_news(SweepNews::Failed(error)),
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
            move || (store.delete(&folder), folder),
            |app, (outcome, folder)| app.sweeps.sweep_deleted(&mut app.ctx, folder, outcome),
        );
    }

    pub fn sweep_deleted(
        &mut self,
        ctx: &mut Ctx,
        folder: PathBuf,
        outcome: Result<(), SweepError>,
    ) {
        match outcome {
            Ok(()) => {
                self.listed
                    .iter_mut()
                    .for_each(|listed| listed.retain(|entry| entry.folder != folder));
                let offer = Offer {
                    label: "Undo",
                    action: Action::Sweep(SweepAction::Restore(folder)),
                };
                ctx.show_notice_with(Severity::Info, Message::sweep_deleted(), Some(offer));
            }
            Err(error) => ctx.show_notice(Severity::Error, error.message()),
        }
        ctx.list_sweeps();
    }
}
