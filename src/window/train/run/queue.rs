//! The runs that wait: each starts when the one before it has finished.

use super::RunView;
use crate::records::JobId;
use crate::run_config::RunConfig;
use crate::runs::missing_repetitions;
use crate::window::{App, Train};

impl App {
    /// Adds a run with the current settings to the queue, while another is in progress.
    pub fn queue_run(&mut self) {
        if self.ctx.is_training() && self.validation_errors().is_empty() {
            self.train.queue.extend(self.ctx.repetitions());
        }
    }

    /// Adds the runs that were to be trained after this one, except those that wait already or have
    /// finished since.
    pub fn queue_repetitions_after(&mut self, config: &RunConfig) {
        let mut missing =
            missing_repetitions(config, self.models.runs.as_deref().unwrap_or_default());
        missing.retain(|run| {
            self.train
                .queue
                .iter()
                .all(|waiting| waiting.repetition != run.repetition)
        });
        self.train.queue.splice(0..0, missing);
    }

    /// Starts the first run that waits, if none is in progress. What is shown stays: nobody asked
    /// for anything else.
    pub fn start_queued(&mut self) {
        if self.ctx.is_training() || self.ctx.is_sweeping() || self.train.queue.is_empty() {
            return;
        }
        let config = self.train.queue.remove(0);
        let (id, screen, next_run_shown) = (
            JobId(self.ctx.next_id()),
            self.ctx.screen,
            self.train.next_run_shown,
        );
        self.start_run(RunView::new(id, config), None);
        self.ctx.go_to(screen);
        self.train.next_run_shown = next_run_shown;
    }
}

impl Train {
    /// Takes a run out of the queue.
    pub fn remove_queued(&mut self, index: usize) {
        if index < self.queue.len() {
            self.queue.remove(index);
        }
    }
}
