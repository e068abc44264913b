//! Times a few training steps of a configuration on several devices, precisions or batch sizes.

use super::{JobContext, JobError, Workspace};
use crate::bench;
use crate::protocol::JobResult;
use crate::records::benchmark::StepConfig;
use crate::run_config::RunConfig;
use crate::train;

pub(super) fn run(
    workspace: &Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
    step_configs: &[StepConfig],
) -> Result<JobResult, JobError> {
    train::check(config)?;
    let open = |device| workspace.settings.devices.open(device);
    let compared = bench::compare(config, step_configs, &open, context)?;
    let failed = compared.failed.into_iter().collect();
    Ok(JobResult::Compare {
        failed,
        background_load: compared.background_load,
    })
}
