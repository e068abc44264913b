//! Records where the time of a training step goes.

use super::{JobContext, JobError, Workspace};
use crate::bench;
use crate::protocol::JobResult;
use crate::run_config::RunConfig;
use crate::train;

pub(super) fn run(
    workspace: &Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
) -> Result<JobResult, JobError> {
    train::check(config)?;
    let open = |device| workspace.settings.devices.open(device);
    let (profile, background_load) = bench::profile(config, &open, context)?;
    Ok(JobResult::Profile {
        profile,
        background_load,
    })
}
