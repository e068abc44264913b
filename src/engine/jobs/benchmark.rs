//! Measures this machine's speed and saves the report.

use super::{JobContext, JobError, Workspace};
use crate::bench::{self, Listener, Progress};
use crate::progress::Cancelled;
use crate::protocol::{Event, JobProgress, JobResult};
use crate::records::benchmark::{Effort, Measurement};

pub(super) fn run(
    workspace: &Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    effort: Effort,
) -> Result<JobResult, JobError> {
    let report = bench::measure(effort, context)?;
    let saved = bench::save(&workspace.settings.benchmarks, &report);
    Ok(JobResult::Benchmark { report, saved })
}

impl Listener for JobContext<'_, '_> {
    fn report(
        &mut self,
        Progress {
            workload,
            fraction,
            remaining_seconds,
            background_load,
        }: Progress,
    ) -> Result<(), Cancelled> {
        let progress = JobProgress {
            fraction,
            remaining_seconds: Some(remaining_seconds),
            workload: Some(workload),
            background_load,
        };
        self.report_progress(progress)
    }

    fn found(&mut self, row: &Measurement) {
        self.queue.events.send(Event::BenchmarkRow {
            id: self.id,
            row: *row,
        });
    }
}
