//! Deleting runs, and having them back until the window closes.

use std::path::{Path, PathBuf};

use crate::app::App;
use crate::app::action::Action;
use crate::app::background::BackgroundResult;
use crate::app::messages::Message;
use crate::app::notice::{Offer, Severity};
use crate::runs::Store;

impl App {
    pub(in crate::app) fn delete_run(&mut self, folder: PathBuf) {
        let store = Store::new(&self.deps.paths.runs);
        self.background.run_with_updates(move |report| match store.delete(&folder) {
            Ok(()) => {
                report(BackgroundResult::Runs(store.list()));
                report(BackgroundResult::RunDeleted(folder));
            }
            Err(error) => report(BackgroundResult::Failed(error.into())),
        });
    }

    /// Removes what was deleted in a session that did not come to its end.
    pub(in crate::app) fn empty_deleted(&self) {
        let store = Store::new(&self.deps.paths.runs);
        self.background.run(move || {
            store.empty_deleted();
            None
        });
    }

    pub(in crate::app) fn restore_run(&mut self, folder: PathBuf) {
        let undo = Action::RestoreRun(folder.clone());
        self.notices.retain(|notice| notice.offer.as_ref().is_none_or(|offer| offer.action != undo));
        let store = Store::new(&self.deps.paths.runs);
        self.background.run(move || {
            Some(match store.restore(&folder) {
                Ok(()) => BackgroundResult::Runs(store.list()),
                Err(error) => BackgroundResult::Failed(error.into()),
            })
        });
    }

    pub(in crate::app) fn run_deleted(&mut self, folder: &Path) {
        let offer = Offer { label: "Undo", action: Action::RestoreRun(folder.to_owned()) };
        self.show_notice_with(Severity::Info, Message::run_deleted(folder), Some(offer));
    }
}
