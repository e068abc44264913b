//! The jobs that the engine does for the window: submitting and cancelling them, their progress,
//! and what is done with their results.

use std::collections::BTreeMap;

use crate::problem::Problem;
use crate::protocol::{Job, JobEvent, JobProgress, JobResult};
use crate::records::JobId;
use crate::records::benchmark::Measurement;
use crate::text::format::{percent, remaining};
use crate::window::{App, Ctx, Screen};

/// A job that was submitted and has not ended.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningJob {
    pub id: JobId,
    pub job: Job,
    pub progress: JobProgress,
    /// The figures that a benchmark or comparison has measured so far.
    pub rows: Vec<Measurement>,
    /// True once it was asked to end.
    pub cancelling: bool,
}

/// The purpose of a job; for each, one is in progress at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Run,
    /// Of a sweep, which has separate engines.
    Trial,
    Evaluation,
    FineTuning,
    /// The benchmark, or a comparison of settings.
    Benchmark,
    PresetTiming,
    /// The search for a learning rate or a batch size, or the profile.
    Search,
    ModelComparison,
    Export,
    ExportPreview,
    Import,
    /// A look at one of the networks along a run.
    Look,
}

/// What every job is for, what it is called, and the screen that shows it; no name for what is
/// shown as a run, and for what is over within a moment.
const fn about(job: &Job) -> (Activity, Option<(&'static str, Screen)>) {
    let (activity, name, screen) = match job {
        Job::Train { .. } => return (Activity::Run, None),
        Job::Trial(_) => return (Activity::Trial, None),
        Job::LookAt { .. } => return (Activity::Look, None),
        Job::Export { to: None, .. } => return (Activity::ExportPreview, None),
        Job::Evaluate(_) => (Activity::Evaluation, "Evaluation", Screen::Results),
        Job::FineTune(_) => (Activity::FineTuning, "Fine-tuning", Screen::MyDigits),
        Job::Benchmark(_) => (Activity::Benchmark, "Benchmark", Screen::Hardware),
        Job::Compare { .. } => (Activity::Benchmark, "Comparison of settings", Screen::Train),
        Job::CompareModels(_) => (
            Activity::ModelComparison,
            "Comparison of models",
            Screen::Models,
        ),
        Job::TimeSteps(_) => (Activity::PresetTiming, "Timing the presets", Screen::Train),
        Job::Profile(_) => (Activity::Search, "Profile", Screen::Train),
        Job::FindLearningRate(_) => (
            Activity::Search,
            "Search for a learning rate",
            Screen::Train,
        ),
        Job::FindBatchSize(_) => (Activity::Search, "Search for a batch size", Screen::Train),
        Job::Export { .. } => (Activity::Export, "Export", Screen::Models),
        Job::Import(_) => (Activity::Import, "Import", Screen::Models),
    };
    (activity, Some((name, screen)))
}

#[derive(Clone, Debug)]
pub enum WithoutResult {
    Cancelled,
    Failed(Problem),
    /// The engine that did it is gone.
    EngineGone,
}

pub type JobOutcome = Result<JobResult, WithoutResult>;

impl WithoutResult {
    /// Why the job failed, unless that is reported elsewhere. That an engine is
    /// gone is reported once for all jobs.
    pub fn problem(self) -> Option<Problem> {
        match self {
            Self::Failed(problem) => Some(problem),
            Self::Cancelled | Self::EngineGone => None,
        }
    }
}

/// A job in progress, for any screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShownJob<'a> {
    pub running: &'a RunningJob,
    pub name: &'static str,
    pub screen: Screen,
}

impl ShownJob<'_> {
    /// Whether a person can cancel it: not what Inkling began by itself, and would begin again.
    pub const fn can_cancel(&self) -> bool {
        !matches!(self.running.job, Job::TimeSteps(_))
    }

    /// Its name and how far it is: "Benchmark, 43%, 12 s left".
    pub fn state(&self) -> String {
        let RunningJob {
            progress,
            cancelling,
            ..
        } = self.running;
        if *cancelling {
            return format!("{}, canceling…", self.name);
        }
        let left = progress
            .remaining_seconds
            .map_or_else(String::new, |seconds| {
                format!(", {} left", remaining(seconds))
            });
        format!(
            "{}, {}{left}",
            self.name,
            percent(progress.fraction.into(), 0)
        )
    }
}

/// The jobs that have not ended, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Jobs(BTreeMap<JobId, RunningJob>);

impl Jobs {
    pub(super) fn has(&self, id: JobId) -> bool {
        self.0.contains_key(&id)
    }

    /// How far this job is, while it is in progress.
    pub fn progress_of(&self, id: JobId) -> Option<JobProgress> {
        self.0.get(&id).map(|running| running.progress)
    }

    /// The newest job in progress that is done for this.
    pub fn doing(&self, activity: Activity) -> Option<&RunningJob> {
        let mut running = self.0.values().rev();
        running.find(|running| about(&running.job).0 == activity)
    }

    /// The newest job in progress, unless it is a training run.
    pub fn shown(&self) -> Option<ShownJob<'_>> {
        self.0.values().rev().find_map(|running| {
            about(&running.job).1.map(|(name, screen)| ShownJob {
                running,
                name,
                screen,
            })
        })
    }

    /// True while no job runs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, id: JobId, job: Job) {
        self.0.insert(
            id,
            RunningJob {
                id,
                job,
                progress: JobProgress::default(),
                rows: Vec::new(),
                cancelling: false,
            },
        );
    }

    /// Notes that this job is to end; false if it has ended.
    pub(super) fn cancel(&mut self, id: JobId) -> bool {
        let running = self.0.get_mut(&id);
        running.map(|running| running.cancelling = true).is_some()
    }

    /// Drops jobs whose results nobody waits for any more.
    pub(super) fn forget(&mut self, activity: Activity) {
        self.0
            .retain(|_, running| about(&running.job).0 != activity);
    }
}

impl App {
    /// The engine that did them is gone.
    pub(super) fn abandon_jobs(&mut self) {
        for running in std::mem::take(&mut self.ctx.jobs.0).into_values() {
            self.job_ended(running, Err(WithoutResult::EngineGone));
        }
        self.forget_requests();
    }

    /// Takes in what a job reports; what is not known here any more is dropped.
    pub(super) fn on_job_event(&mut self, id: JobId, event: JobEvent) {
        let outcome = match event {
            JobEvent::Progress(progress) => {
                if let Some(running) = self.ctx.jobs.0.get_mut(&id) {
                    running.progress = progress;
                    self.train.run_is_preparing(id, progress.fraction);
                }
                return;
            }
            JobEvent::Done(result) => Ok(*result),
            JobEvent::Cancelled => Err(WithoutResult::Cancelled),
            JobEvent::Failed(problem) => Err(WithoutResult::Failed(problem)),
        };
        if let Some(ended) = self.ctx.jobs.0.remove(&id) {
            self.job_ended(ended, outcome);
            self.machine.time_presets(&mut self.ctx);
        }
    }

    /// Hands a job that has ended to the feature that it was done for, which gives back what is
    /// still to be said.
    fn job_ended(&mut self, ended: RunningJob, outcome: JobOutcome) {
        if let Some(summary) = outcome.as_ref().ok().and_then(JobResult::model) {
            self.results.show_test(summary);
        }
        let ctx = &mut self.ctx;
        let problem = match about(&ended.job).0 {
            Activity::Run => self.run_ended(&ended, outcome),
            Activity::Trial => None,
            Activity::Evaluation => self
                .models
                .evaluation_ended(ctx, &mut self.results, outcome),
            Activity::FineTuning => self.my_digits.job_ended(ctx, ended, outcome),
            Activity::Benchmark | Activity::PresetTiming => {
                self.machine.job_ended(ctx, ended, outcome)
            }
            Activity::Search => self.train.search_ended(ended.id, outcome),
            Activity::ModelComparison
            | Activity::Export
            | Activity::ExportPreview
            | Activity::Import => self.models.job_ended(ctx, ended, outcome),
            Activity::Look => self.draw.timeline.on_look(&ended, outcome),
        };
        if let Some(problem) = problem {
            self.ctx.show_problem(&problem);
        }
    }
}

impl Ctx {
    pub(super) fn on_benchmark_row(&mut self, id: JobId, row: Measurement) {
        if let Some(running) = self.jobs.0.get_mut(&id) {
            running.rows.push(row);
        }
    }
}
