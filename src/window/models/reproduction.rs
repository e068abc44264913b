//! Training a run again, to see whether its weights come out the same.

use std::path::Path;

use crate::problem::Message;
use crate::records::{JobId, RunSummary};
use crate::runs::{Reproduction, reproduced_config};
use crate::window::{App, Ctx, Models, RunView, Severity};

impl App {
    /// Starts the run in this folder again.
    pub fn reproduce(&mut self, folder: &Path) {
        let Some(first) = self.models.listed(folder).cloned() else {
            return;
        };
        if self.ctx.is_too_busy() {
            return;
        }
        let (id, config) = (JobId(self.ctx.next_id()), reproduced_config(&first));
        self.models.reproducing = Some((id, Box::new(first)));
        self.start_run(RunView::new(id, config), None);
    }
}

impl Models {
    /// Compares the weights of a run that has ended, if it is one that was started again.
    pub fn check_reproduction(&mut self, ctx: &mut Ctx, run: JobId, again: &RunSummary) {
        let Some((_, first)) = self.reproducing.take_if(|(id, _)| *id == run) else {
            return;
        };
        // Stopped, it has other weights by wish.
        if !again.stopped {
            let again = again.clone();
            ctx.background.run(
                move || Reproduction::compare(&first, &again),
                |app, found| {
                    if let Some(found) = app.ctx.tell_failure(found) {
                        let message = Message::reproduced(&found);
                        app.ctx.show_notice(Severity::Info, message);
                    }
                },
            );
        }
    }
}
