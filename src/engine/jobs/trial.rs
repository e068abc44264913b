//! A trial of a sweep: a run that is trained for its validation accuracy alone. It reads no test
//! images, and nothing of it is saved.

use super::{JobContext, Workspace};
use crate::nn::Net;
use crate::problem::Problem;
use crate::progress::Cancelled;
use crate::protocol::{Event, JobProgress, JobResult};
use crate::records::{Calibration, EpochRecord, StepPoint, Telemetry};
use crate::run_config::RunConfig;
use crate::train::{self, EndRequest, RunObserver, RunStart, TrainOutcome};

pub(super) fn run(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
) -> Result<JobResult, Problem> {
    // The progress of reading the data is not part of the trial's.
    let (id, queue) = (context.id, &mut *context.queue);
    let (set, device) = workspace.prepare(config, &mut |_: f32| queue.check(id))?;
    context.queue.events.data_notes(context.id, &set.notes);
    let mut trial = Trial {
        context,
        total_steps: 1,
    };
    match train::validate(config, &set.train, &set.classes, &device, &mut trial)? {
        TrainOutcome::Validated => Ok(JobResult::Trial),
        TrainOutcome::Trained(_) | TrainOutcome::Unfinished | TrainOutcome::Interrupted => {
            Err(Cancelled.into())
        }
    }
}

struct Trial<'r, 'q, 'c> {
    context: &'r mut JobContext<'q, 'c>,
    total_steps: u64,
}

impl RunObserver for Trial<'_, '_, '_> {
    fn prepare(&mut self, run: &RunStart<'_>) {
        self.total_steps = run.plan.total_steps.max(1);
    }

    fn on_micro_batch(&mut self, _: &Net) -> Result<(), EndRequest> {
        self.context.go_on()
    }

    fn step(&mut self, _: StepPoint, now: Telemetry) {
        let fraction = now.step as f32 / self.total_steps as f32;
        self.context
            .show_progress(JobProgress::at(fraction, Some(now.remaining_seconds)));
    }

    fn epoch(&mut self, record: &EpochRecord, _: &Net, _: Calibration) {
        self.context.queue.events.send(Event::Epoch {
            run: self.context.id,
            record: *record,
        });
    }
}
