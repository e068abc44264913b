//! Jobs: a file for each, or for those that are one thing, what all of them work with, and how each
//! one's end is reported.

mod compare_models;
mod evaluate;
mod export;
mod find_batch_size;
mod find_learning_rate;
mod fine_tune;
mod import;
mod look_at;
mod measure;
pub(super) mod saved_model;
mod train;
mod trial;

use super::autotuning;
use super::command_queue::CommandQueue;
use super::dataset_cache::DatasetCache;
use super::handle::EngineSettings;
use crate::data::{Dataset, check_labels};
use crate::nn::{ComputeError, DeviceContext};
use crate::problem::Problem;
use crate::progress::{Cancelled, Progress};
use crate::protocol::{Event, Job, JobEvent, JobProgress, JobResult};
use crate::records::JobId;
use crate::run_config::RunConfig;
use crate::runs::CheckpointThread;
use crate::system::threads;
use crate::train::EndRequest;

/// The state that every job works with and that outlives it.
pub(super) struct Workspace<'s> {
    pub settings: &'s EngineSettings,
    pub checkpoint_thread: &'s CheckpointThread,
    pub datasets: DatasetCache,
}

/// A running job's way to its caller: out goes its progress, in come the commands that concern it.
pub(super) struct JobContext<'q, 'c> {
    pub id: JobId,
    pub queue: &'q mut CommandQueue<'c>,
}

/// Carries a job out and reports how it ended.
pub(super) fn run(
    workspace: &mut Workspace<'_>,
    queue: &mut CommandQueue<'_>,
    id: JobId,
    job: &Job,
) {
    queue.start(id);
    autotuning::load(&workspace.settings.benchmarks);
    let context = &mut JobContext { id, queue };
    let result = match job {
        Job::Train { config, from } => train::run(workspace, context, config, from.as_deref()),
        Job::Trial(config) => trial::run(workspace, context, config),
        Job::Evaluate(spec) => evaluate::run(workspace, context, spec),
        Job::Benchmark(effort) => measure::benchmark(workspace, context, *effort),
        Job::Compare {
            config,
            step_configs,
        } => measure::compare(workspace, context, config, step_configs),
        Job::CompareModels(spec) => compare_models::run(workspace, context, spec),
        Job::TimeSteps(configs) => measure::time_steps(workspace, context, configs),
        Job::Profile(config) => measure::profile(workspace, context, config),
        Job::FindBatchSize(spec) => find_batch_size::run(workspace, context, spec),
        Job::FindLearningRate(config) => find_learning_rate::run(workspace, context, config),
        Job::FineTune(model) => fine_tune::run(workspace, context, model),
        Job::Export {
            model,
            spec,
            to,
            replace,
        } => export::run(workspace, context, model, spec, to.as_deref(), *replace),
        Job::Import(spec) => import::run(workspace, context, spec),
        Job::LookAt { model, images } => look_at::run_at_once(model, images),
    };
    autotuning::save(&workspace.settings.benchmarks);
    queue.end(id, result);
}

/// Does this work at the priority of training; an error if there can be no thread for it.
fn at_priority_of<R: Send>(
    settings: &EngineSettings,
    work: impl FnOnce() -> R + Send,
) -> Result<R, ComputeError> {
    if settings.background_priority {
        threads::while_idle(work).map_err(|error| ComputeError::no_thread(&error))
    } else {
        Ok(work())
    }
}

/// Carries a job out that is done between two training steps; `None` for one that takes longer.
pub(super) fn run_at_once(job: &Job) -> Option<Result<JobResult, Problem>> {
    match job {
        Job::Export {
            model,
            spec,
            to,
            replace,
        } if job.is_immediate() => Some(export::run_at_once(model, spec, to.as_deref(), *replace)),
        Job::LookAt { model, images } => Some(look_at::run_at_once(model, images)),
        _ => None,
    }
}

impl Workspace<'_> {
    /// The images that a run with these settings learns from, and its device.
    fn prepare(
        &mut self,
        config: &RunConfig,
        progress: &mut dyn Progress,
    ) -> Result<(&Dataset, DeviceContext), Problem> {
        // Better refused now than after an hour of training.
        crate::train::check(config)?;
        let settings = self.settings;
        let set = self.datasets.get(
            &settings.data_folders,
            &config.data,
            config.sealed_test,
            progress,
        )?;
        check_labels(&config.data, set)?;
        Ok((set, settings.devices.open(config.device)?))
    }
}

impl JobContext<'_, '_> {
    /// Shows how far it is, without looking whether it is to go on.
    pub fn show_progress(&mut self, progress: JobProgress) {
        let id = self.id;
        self.queue.events.telemetry(|| Event::Job {
            id,
            event: JobEvent::Progress(progress),
        });
    }

    /// Reports more than a fraction; see [`Progress::report`].
    pub fn report_progress(&mut self, progress: JobProgress) -> Result<(), Cancelled> {
        self.show_progress(progress);
        self.queue.check(self.id)
    }

    /// Whether a run of which nothing is kept is to go on: one that is interrupted ends soonest.
    pub fn go_on(&mut self) -> Result<(), EndRequest> {
        self.queue
            .check(self.id)
            .map_err(|Cancelled| EndRequest::Interrupt)
    }
}

impl Progress for JobContext<'_, '_> {
    fn report(&mut self, fraction: f32) -> Result<(), Cancelled> {
        self.report_progress(JobProgress::at(fraction, None))
    }
}
