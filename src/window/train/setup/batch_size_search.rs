//! The search for a batch size as the window shows it: the accuracy that is asked for, the times so
//! far, and what came of it.

use crate::problem::Problem;
use crate::protocol::Job;
use crate::records::{
    BatchSizeFinding, BatchSizeSpec, JobId, TARGET_ACCURACIES, TARGET_ACCURACY, TimeToAccuracy,
    batch_size_configs, fastest_batch_size,
};
use crate::run_config::RunConfig;
use crate::window::messages::Message;
use crate::window::{App, Field};

/// A search, while its dialog is open.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchSizeSearchView {
    pub config: RunConfig,
    /// The validation accuracy that is to be reached, in percent, as it is typed.
    pub percent: String,
    pub rows: Vec<TimeToAccuracy>,
    pub state: BatchSizeSearchState,
}

#[derive(Clone, Debug, PartialEq)]
pub enum BatchSizeSearchState {
    /// It has not begun.
    Ready,
    Running(JobId),
    Done(BatchSizeFinding),
    Cancelled,
    Failed(Message),
}

impl BatchSizeSearchView {
    /// The accuracy that was typed, 0 to 1; `None` where it is none that can be asked for.
    pub fn accuracy(&self) -> Option<f64> {
        let percent: f64 = self
            .percent
            .trim()
            .trim_end_matches('%')
            .trim_end()
            .replace(',', ".")
            .parse()
            .ok()?;
        Some(percent / 100.0).filter(|accuracy| TARGET_ACCURACIES.contains(accuracy))
    }

    /// The batch size to recommend, once all were timed.
    pub fn recommended(&self) -> Option<u32> {
        if matches!(self.state, BatchSizeSearchState::Done(_)) {
            fastest_batch_size(&self.rows)
        } else {
            None
        }
    }

    /// The batch sizes that are timed, the smallest first.
    pub fn batch_sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = batch_size_configs(&self.config, usize::MAX)
            .into_iter()
            .map(|config| config.batch_size)
            .collect();
        sizes.sort_unstable();
        sizes
    }

    /// The one that is timed next, or now.
    pub fn next(&self) -> Option<u32> {
        batch_size_configs(&self.config, usize::MAX)
            .get(self.rows.len())
            .map(|config| config.batch_size)
    }

    fn is_of(&self, id: JobId) -> bool {
        self.state == BatchSizeSearchState::Running(id)
    }
}

impl App {
    /// Why no batch size can be searched for now.
    pub fn why_not_find_batch_size(&self) -> Option<&'static str> {
        self.why_not_train_briefly(Field::BatchSize)
    }

    pub(in crate::window) fn open_batch_size_search(&mut self) {
        if self.why_not_find_batch_size().is_none() {
            let percent = format!("{}", TARGET_ACCURACY * 100.0);
            let config = self.with_device(&self.ctx.config);
            self.train.batch_size_search = Some(BatchSizeSearchView {
                config,
                percent,
                rows: Vec::new(),
                state: BatchSizeSearchState::Ready,
            });
        }
    }

    pub(in crate::window) fn type_target_accuracy(&mut self, text: String) {
        if let Some(view) = &mut self.train.batch_size_search {
            view.percent = text;
        }
    }

    /// Starts the search of the open dialog, with the accuracy that was typed.
    pub(in crate::window) fn find_batch_size(&mut self) {
        let id = JobId(self.ctx.next_id());
        let Some(view) = &mut self.train.batch_size_search else {
            return;
        };
        let (Some(accuracy), false) = (
            view.accuracy(),
            matches!(view.state, BatchSizeSearchState::Running(_)),
        ) else {
            return;
        };
        view.state = BatchSizeSearchState::Running(id);
        view.rows.clear();
        let config = view.config.clone();
        self.ctx
            .submit_as(id, Job::FindBatchSize(BatchSizeSpec { config, accuracy }));
    }

    /// Cancels the search; its dialog stays open.
    pub(in crate::window) fn cancel_batch_size_search(&mut self) {
        if let Some(BatchSizeSearchState::Running(id)) = self
            .train
            .batch_size_search
            .as_ref()
            .map(|view| view.state.clone())
        {
            self.ctx.cancel_job(id);
        }
    }

    /// Closes the dialog. A search that is still in progress is cancelled.
    pub(in crate::window) fn close_batch_size_search(&mut self) {
        self.cancel_batch_size_search();
        self.train.batch_size_search = None;
    }

    /// Takes the batch size and its learning rate for the next run, and closes the dialog.
    pub(in crate::window) fn use_batch_size(&mut self, row: &TimeToAccuracy) {
        let config = RunConfig {
            batch_size: row.batch_size,
            learning_rate: row.learning_rate,
            ..self.ctx.config.clone()
        };
        self.configure(config);
        self.close_batch_size_search();
    }

    pub(in crate::window) fn on_time_to_accuracy(&mut self, id: JobId, row: TimeToAccuracy) {
        if let Some(view) = self
            .train
            .batch_size_search
            .as_mut()
            .filter(|view| view.is_of(id))
        {
            view.rows.push(row);
        }
    }

    pub(in crate::window) fn batch_size_search_ended(
        &mut self,
        id: JobId,
        state: BatchSizeSearchState,
    ) {
        if let Some(view) = self
            .train
            .batch_size_search
            .as_mut()
            .filter(|view| view.is_of(id))
        {
            view.state = state;
        }
    }

    /// Notes that the search with this job has failed; false where its dialog is not open.
    pub(in crate::window) fn batch_size_search_failed(
        &mut self,
        id: JobId,
        problem: &Problem,
    ) -> bool {
        let is_shown = self
            .train
            .batch_size_search
            .as_ref()
            .is_some_and(|view| view.is_of(id));
        self.batch_size_search_ended(id, BatchSizeSearchState::Failed(Message::from(problem)));
        is_shown
    }
}
