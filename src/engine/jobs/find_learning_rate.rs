//! Searches for a learning rate: short training with rates that grow from step to step. Nothing of
//! it is kept, and no test image is looked at.

use std::time::Instant;

use super::{JobContext, Workspace, at_priority_of};
use crate::nn::Net;
use crate::problem::Problem;
use crate::progress::{Cancelled, Progress};
use crate::protocol::{JobProgress, JobResult};
use crate::records::{Intervention, LearningRateSearch, SEARCH_STEPS, StepPoint, Telemetry};
use crate::run_config::RunConfig;
use crate::train::{self, EndRequest, RunObserver};

/// The fraction of the whole that loading the data takes.
const LOADING: f32 = 0.1;

pub(super) fn run(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
) -> Result<JobResult, Problem> {
    let settings = workspace.settings;
    let (data, device) = workspace.prepare(config, &mut context.part(0.0, LOADING))?;
    context.queue.events.data_notes(context.id, &data.notes);
    let mut run = RateSearchRun {
        context,
        search: LearningRateSearch::default(),
        now: Telemetry::default(),
        diverged: false,
        cancelled: false,
        start: Instant::now(),
    };
    at_priority_of(settings, || {
        train::search_learning_rate(config, data, &device, &mut run)
    })??;
    let (id, now) = (run.context.id, run.now);
    run.context.queue.events.flush(id, now);
    if run.cancelled {
        Err(Cancelled.into())
    } else {
        Ok(JobResult::FindLearningRate(
            run.search.finding(run.diverged),
        ))
    }
}

/// The search while it trains.
struct RateSearchRun<'r, 'q, 'c> {
    context: &'r mut JobContext<'q, 'c>,
    search: LearningRateSearch,
    now: Telemetry,
    diverged: bool,
    cancelled: bool,
    start: Instant,
}

impl RateSearchRun<'_, '_, '_> {
    /// Reports how far it is. It ends sooner if the loss rises before.
    fn report(&mut self) -> Result<(), Cancelled> {
        let steps = self.search.points().len() as f32;
        let left =
            self.start.elapsed().as_secs_f32() / steps.max(1.0) * (SEARCH_STEPS as f32 - steps);
        let fraction = LOADING + (1.0 - LOADING) * self.search.fraction();
        let remaining_seconds = (steps > 0.0).then_some(left);
        self.context
            .report_progress(JobProgress::at(fraction, remaining_seconds))
    }
}

impl RunObserver for RateSearchRun<'_, '_, '_> {
    fn on_micro_batch(&mut self, _net: &Net) -> Result<(), EndRequest> {
        self.cancelled |= self.report().is_err();
        // Unlike a run that is stopped, one that is interrupted ends without measuring anything.
        if self.cancelled || self.diverged || self.search.is_over() {
            Err(EndRequest::Interrupt)
        } else {
            Ok(())
        }
    }

    fn step(&mut self, point: StepPoint, now: Telemetry) {
        // A GPU is ahead of what is read.
        if !self.search.is_over() && !self.diverged {
            self.search.add(point.learning_rate, point.loss);
            self.now = now;
            self.context.queue.events.step(self.context.id, point, now);
        }
    }

    fn intervened(&mut self, intervention: Intervention) {
        self.diverged |= matches!(intervention, Intervention::RolledBack { .. });
    }
}
