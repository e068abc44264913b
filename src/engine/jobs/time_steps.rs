//! Times a few training steps of several configurations.

use super::{JobContext, JobError, Workspace};
use crate::bench;
use crate::protocol::JobResult;
use crate::run_config::RunConfig;

pub(super) fn run(
    workspace: &Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    configs: &[RunConfig],
) -> Result<JobResult, JobError> {
    let open = |device| workspace.settings.devices.open(device);
    let (images_per_second, background_load) = bench::time_steps(configs, &open, context)?;
    Ok(JobResult::TimeSteps {
        images_per_second,
        background_load,
    })
}
