//! A trial of a sweep: a run that is trained for its validation accuracy alone. It reads no test
//! images, and nothing of it is saved.

use std::time::Duration;

use super::{JobContext, JobError, Workspace};
use crate::data::{Split, check_labels};
use crate::nn::Net;
use crate::progress::Cancelled;
use crate::protocol::{Event, JobEvent, JobProgress, JobResult};
use crate::records::{Calibration, EpochRecord, RunPlan, RunPosition, StepPoint, Telemetry};
use crate::run_config::RunConfig;
use crate::train::{self, EndRequest, RunObserver, TrainOutcome};

pub(super) fn run(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
) -> Result<JobResult, JobError> {
    train::check(config)?;
    let settings = workspace.settings;
    // The progress of reading the data is not part of the trial's.
    let (id, queue) = (context.id, &mut *context.queue);
    let set = workspace
        .datasets
        .get(&settings.data_folders, &config.data, &mut |_: f32| {
            queue.check(id)
        })?;
    check_labels(&config.data, set)?;
    let device = settings.devices.open(config.device)?;
    let mut trial = Trial {
        context,
        total_steps: 1,
    };
    match train::validate(config, &set.train, &set.classes, &device, &mut trial)? {
        TrainOutcome::Validated => Ok(JobResult::Trial),
        TrainOutcome::Trained(_) | TrainOutcome::Unfinished | TrainOutcome::Interrupted => {
            Err(JobError::Cancelled)
        }
    }
}

struct Trial<'r, 'q, 'c> {
    context: &'r mut JobContext<'q, 'c>,
    total_steps: u64,
}

impl RunObserver for Trial<'_, '_, '_> {
    fn prepare(
        &mut self,
        plan: &RunPlan,
        _: &Net,
        _: &Split,
        _: &[EpochRecord],
        _: &[StepPoint],
        _: RunPosition,
    ) {
        self.total_steps = plan.total_steps.max(1);
    }

    fn between(&mut self, _: &Net) -> Result<(), EndRequest> {
        // Nothing is kept of a trial that ends early, and an interrupted run ends soonest.
        self.context
            .queue
            .check(self.context.id)
            .map_err(|Cancelled| EndRequest::Interrupt)
    }

    fn step(&mut self, _: StepPoint, now: Telemetry) {
        let (id, fraction) = (self.context.id, now.step as f32 / self.total_steps as f32);
        let progress = JobProgress {
            fraction,
            remaining_seconds: Some(now.remaining_seconds),
            ..JobProgress::default()
        };
        self.context.queue.events.telemetry(|| Event::Job {
            id,
            event: JobEvent::Progress(progress),
        });
    }

    fn epoch(&mut self, record: &EpochRecord, _: &Net, _: Calibration) {
        self.context.queue.events.send(Event::Epoch {
            run: self.context.id,
            record: *record,
        });
    }

    fn checkpoint_interval(&self) -> Duration {
        Duration::MAX
    }
}
