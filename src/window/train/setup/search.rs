//! The dialog in which a short training finds something out about the next run: a good learning
//! rate, the fastest batch size, or where the time of a step goes.

use crate::problem::{Message, Problem};
use crate::protocol::{Job, JobResult};
use crate::records::{
    BatchSizeSpec, JobId, LearningRateSearch, StepPoint, TARGET_ACCURACIES, TARGET_ACCURACY,
    TimeToAccuracy, batch_size_configs, fastest_batch_size,
};
use crate::run_config::{RunConfig, Setting};
use crate::text::format::plain;
use crate::window::{Activity, App, Ctx, JobOutcome, MyDigitsView, Train, WithoutResult};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchKind {
    LearningRate,
    BatchSize,
    /// Where the time of a training step goes.
    Profile,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SearchAction {
    /// Open the dialog with the current settings. Only the search for a batch size waits to be
    /// started.
    Open(SearchKind),
    /// The validation accuracy to be reached, in percent, was typed.
    TypeAccuracy(String),
    Start,
    /// Cancel, and leave the dialog open.
    Cancel,
    /// Use this learning rate for the next run, and close the dialog.
    UseRate(f64),
    /// Use this batch size and its learning rate for the next run, and close the dialog.
    UseBatchSize(TimeToAccuracy),
    /// Close the dialog; what is in progress is cancelled.
    Close,
}

/// A search, while its dialog is open.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    pub kind: SearchKind,
    pub config: RunConfig,
    pub state: SearchState,
    /// The steps of a search for a learning rate so far.
    pub steps: LearningRateSearch,
    /// The validation accuracy that is to be reached, in percent, as it is typed.
    pub percent: String,
    /// The batch sizes that were timed so far.
    pub rows: Vec<TimeToAccuracy>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SearchState {
    Ready,
    Running(JobId),
    Done(Box<JobResult>),
    Cancelled,
    Failed(Message),
}

impl Search {
    /// The learning rate that was found.
    pub fn suggested(&self) -> Option<f64> {
        match self.result()? {
            JobResult::FindLearningRate(found) => Some(found.suggestion?.rate),
            _ => None,
        }
    }

    /// The result, once it is done.
    pub fn result(&self) -> Option<&JobResult> {
        match &self.state {
            SearchState::Done(result) => Some(result),
            _ => None,
        }
    }

    /// The accuracy that was typed, 0 to 1; `None` if it is none that can be asked for.
    pub fn accuracy(&self) -> Option<f64> {
        let text = self.percent.trim().trim_end_matches('%').trim_end();
        let percent: f64 = text.replace(',', ".").parse().ok()?;
        Some(percent / 100.0).filter(|accuracy| TARGET_ACCURACIES.contains(accuracy))
    }

    /// The batch size to recommend, once all were timed.
    pub fn recommended(&self) -> Option<u32> {
        let is_done = matches!(self.state, SearchState::Done(_));
        fastest_batch_size(&self.rows).filter(|_| is_done)
    }

    /// The batch sizes that are timed, the smallest first.
    pub fn batch_sizes(&self) -> Vec<u32> {
        let configs = batch_size_configs(&self.config, usize::MAX).into_iter();
        let mut sizes: Vec<u32> = configs.map(|config| config.batch_size).collect();
        sizes.sort_unstable();
        sizes
    }

    /// The batch size that is timed next, or now.
    pub fn next(&self) -> Option<u32> {
        let configs = batch_size_configs(&self.config, usize::MAX);
        configs.get(self.rows.len()).map(|config| config.batch_size)
    }

    pub fn is_running(&self) -> bool {
        matches!(self.state, SearchState::Running(_))
    }
}

impl App {
    /// Why there can be no such search now.
    pub fn why_not_search(&self, kind: SearchKind) -> Option<&'static str> {
        self.train.why_not_search(&self.ctx, &self.my_digits, kind)
    }
}

impl Train {
    fn why_not_search(
        &self,
        ctx: &Ctx,
        mine: &MyDigitsView,
        kind: SearchKind,
    ) -> Option<&'static str> {
        // What is searched for may be invalid.
        let sought = match kind {
            SearchKind::LearningRate => Setting::LearningRate,
            SearchKind::BatchSize => Setting::BatchSize,
            SearchKind::Profile => Setting::Data,
        };
        let is_invalid = || {
            let errors = self.validation_errors(ctx, mine);
            errors.iter().any(|error| error.setting != Some(sought))
        };
        if ctx.is_training() {
            Some("Unavailable during training")
        } else if ctx.is_sweeping() {
            Some("Unavailable while a sweep is in progress")
        } else if ctx.jobs.doing(Activity::Benchmark).is_some() {
            Some("Unavailable while a benchmark is running")
        } else {
            is_invalid().then_some("Unavailable because a setting is invalid")
        }
    }

    pub fn update_search(&mut self, ctx: &mut Ctx, mine: &MyDigitsView, action: SearchAction) {
        match action {
            SearchAction::Open(kind) => {
                if self.why_not_search(ctx, mine, kind).is_none() {
                    self.open_search(ctx, kind);
                }
            }
            SearchAction::TypeAccuracy(text) => {
                if let Some(search) = &mut self.search {
                    search.percent = text;
                }
            }
            SearchAction::Start => self.start_search(ctx),
            SearchAction::Cancel => self.cancel_search(ctx),
            SearchAction::UseRate(rate) => {
                self.type_text(ctx, mine, Setting::LearningRate, plain(rate));
                self.close_search(ctx);
            }
            SearchAction::UseBatchSize(row) => {
                let mut config = ctx.config.clone();
                config.batch_size = row.batch_size;
                config.learning_rate = row.learning_rate;
                self.configure(ctx, mine, config);
                self.close_search(ctx);
            }
            SearchAction::Close => self.close_search(ctx),
        }
    }

    fn open_search(&mut self, ctx: &mut Ctx, kind: SearchKind) {
        self.close_search(ctx);
        self.search = Some(Search {
            kind,
            config: ctx.with_device(&ctx.config),
            state: SearchState::Ready,
            steps: LearningRateSearch::default(),
            percent: format!("{}", TARGET_ACCURACY * 100.0),
            rows: Vec::new(),
        });
        if kind != SearchKind::BatchSize {
            self.start_search(ctx);
        }
    }
}

impl Train {
    fn start_search(&mut self, ctx: &mut Ctx) {
        let id = JobId(ctx.next_id());
        let Some(search) = self.search.as_mut().filter(|open| !open.is_running()) else {
            return;
        };
        let config = search.config.clone();
        let job = match (search.kind, search.accuracy()) {
            (SearchKind::LearningRate, _) => Job::FindLearningRate(config),
            (SearchKind::Profile, _) => Job::Profile(config),
            (SearchKind::BatchSize, Some(accuracy)) => {
                Job::FindBatchSize(BatchSizeSpec { config, accuracy })
            }
            (SearchKind::BatchSize, None) => return,
        };
        search.state = SearchState::Running(id);
        search.rows.clear();
        ctx.submit_as(id, job);
    }

    fn cancel_search(&mut self, ctx: &mut Ctx) {
        if let Some(SearchState::Running(id)) = self.search.as_ref().map(|open| &open.state) {
            ctx.cancel_job(*id);
        }
    }

    fn close_search(&mut self, ctx: &mut Ctx) {
        self.cancel_search(ctx);
        self.search = None;
    }

    /// The search that this job does; `None` if its dialog is not open.
    fn search_of(&mut self, id: JobId) -> Option<&mut Search> {
        let search = self.search.as_mut();
        search.filter(|search| search.state == SearchState::Running(id))
    }

    pub fn on_search_steps(&mut self, id: JobId, steps: &[StepPoint]) {
        if let Some(search) = self.search_of(id) {
            for point in steps {
                search.steps.add(point.learning_rate, point.loss);
            }
        }
    }

    pub fn on_time_to_accuracy(&mut self, id: JobId, row: TimeToAccuracy) {
        if let Some(search) = self.search_of(id) {
            search.rows.push(row);
        }
    }

    /// Shows how a search ended in its dialog, if that is open.
    pub fn search_ended(&mut self, id: JobId, outcome: JobOutcome) -> Option<Problem> {
        let Some(search) = self.search_of(id) else {
            return outcome.err()?.problem();
        };
        search.state = match outcome {
            Ok(result) => SearchState::Done(Box::new(result)),
            Err(WithoutResult::Cancelled) => SearchState::Cancelled,
            Err(WithoutResult::Failed(problem)) => SearchState::Failed(problem.message),
            Err(WithoutResult::EngineGone) => {
                self.search = None;
                return None;
            }
        };
        None
    }
}
