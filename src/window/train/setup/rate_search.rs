//! The search for a learning rate as the window shows it: its steps so far, and what came of it.

use crate::problem::Problem;
use crate::protocol::Job;
use crate::records::{JobId, RateFinding, RateSearch, StepPoint};
use crate::text::format::plain;
use crate::window::messages::Message;
use crate::window::{App, Field};

/// A search, while its dialog is open.
#[derive(Clone, Debug, PartialEq)]
pub struct RateSearchView {
    pub id: JobId,
    /// The network and the data that it is made for.
    pub title: String,
    pub search: RateSearch,
    pub state: RateSearchState,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RateSearchState {
    Running,
    Done(RateFinding),
    Cancelled,
    Failed(Message),
}

impl RateSearchView {
    pub fn suggested(&self) -> Option<f64> {
        match &self.state {
            RateSearchState::Done(finding) => finding.suggestion.map(|suggestion| suggestion.rate),
            _ => None,
        }
    }
}

impl App {
    /// Why no learning rate can be searched for now.
    pub fn why_not_find_rate(&self) -> Option<&'static str> {
        self.why_not_train_briefly(Field::LearningRate)
    }

    /// Why there can be no short training now that searches for the value of this field.
    pub(super) fn why_not_train_briefly(&self, wanted: Field) -> Option<&'static str> {
        if self.ctx.is_training() {
            Some("Unavailable during training")
        } else if self.ctx.is_sweeping() {
            Some("Unavailable while a sweep is in progress")
        } else if self.ctx.jobs.benchmark().is_some() {
            Some("Unavailable while a benchmark is running")
        } else if self
            .validation_errors()
            .iter()
            .any(|error| error.field != wanted)
        {
            Some("Unavailable because a setting is invalid")
        } else {
            None
        }
    }

    /// Starts a search with the current settings; one in progress is cancelled by it.
    pub(in crate::window) fn find_learning_rate(&mut self) {
        if self.why_not_find_rate().is_some() {
            return;
        }
        let config = self.with_device(&self.ctx.config);
        let id = JobId(self.ctx.next_id());
        let title = config.title();
        self.train.rate_search = Some(RateSearchView {
            id,
            title,
            search: RateSearch::default(),
            state: RateSearchState::Running,
        });
        self.ctx.submit_as(id, Job::FindLearningRate(config));
    }

    /// Closes the dialog. A search that is still in progress is cancelled.
    pub(in crate::window) fn close_rate_search(&mut self) {
        if let Some(view) = self.train.rate_search.take() {
            self.ctx.cancel_job(view.id);
        }
    }

    /// Puts this rate into the field and closes the dialog.
    pub(in crate::window) fn use_learning_rate(&mut self, rate: f64) {
        self.setting_chosen();
        self.type_text(Field::LearningRate, plain(rate));
        self.close_rate_search();
    }

    pub(in crate::window) fn on_search_steps(&mut self, id: JobId, steps: &[StepPoint]) {
        if let Some(view) = self.train.rate_search.as_mut().filter(|view| view.id == id) {
            steps
                .iter()
                .for_each(|point| view.search.add(point.learning_rate, point.loss));
        }
    }

    pub(in crate::window) fn rate_search_ended(&mut self, id: JobId, state: RateSearchState) {
        if let Some(view) = self.train.rate_search.as_mut().filter(|view| view.id == id) {
            view.state = state;
        }
    }

    /// Notes that the search with this job has failed; false where its dialog is not open.
    pub(in crate::window) fn rate_search_failed(&mut self, id: JobId, problem: &Problem) -> bool {
        self.rate_search_ended(id, RateSearchState::Failed(Message::from(problem)));
        self.train
            .rate_search
            .as_ref()
            .is_some_and(|view| view.id == id)
    }
}
