//! Measures this machine: the benchmark, whose report is saved, and training steps of given
//! settings, compared, timed for an estimate, or recorded.

use super::{JobContext, Workspace};
use crate::bench::{self, Listener};
use crate::problem::Problem;
use crate::progress::Cancelled;
use crate::protocol::{Event, JobProgress, JobResult};
use crate::records::benchmark::{Effort, Measurement, StepConfig};
use crate::run_config::RunConfig;
use crate::train;

pub(super) fn benchmark(
    workspace: &Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    effort: Effort,
) -> Result<JobResult, Problem> {
    let report = bench::measure(effort, context)?;
    let saved = bench::save(&workspace.settings.benchmarks, &report);
    Ok(JobResult::Benchmark { report, saved })
}

/// Times a few training steps on several devices, precisions or batch sizes.
pub(super) fn compare(
    workspace: &Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
    step_configs: &[StepConfig],
) -> Result<JobResult, Problem> {
    train::check(config)?;
    let open = |device| workspace.settings.devices.open(device);
    let (failed, background_load) = bench::compare(config, step_configs, &open, context)?;
    Ok(JobResult::Compare {
        failed,
        background_load,
    })
}

/// Times a few training steps of several configurations.
pub(super) fn time_steps(
    workspace: &Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    configs: &[RunConfig],
) -> Result<JobResult, Problem> {
    let open = |device| workspace.settings.devices.open(device);
    let (images_per_second, background_load) = bench::time_steps(configs, &open, context)?;
    Ok(JobResult::TimeSteps {
        images_per_second,
        background_load,
    })
}

/// Records where the time of a training step goes.
pub(super) fn profile(
    workspace: &Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
) -> Result<JobResult, Problem> {
    train::check(config)?;
    let open = |device| workspace.settings.devices.open(device);
    let (profile, background_load) = bench::profile(config, &open, context)?;
    Ok(JobResult::Profile {
        profile,
        background_load,
    })
}

impl Listener for JobContext<'_, '_> {
    fn report(&mut self, progress: JobProgress) -> Result<(), Cancelled> {
        self.report_progress(progress)
    }

    fn found(&mut self, row: &Measurement) {
        self.queue.events.send(Event::BenchmarkRow {
            id: self.id,
            row: *row,
        });
    }
}
