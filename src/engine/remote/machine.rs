//! What is known of another machine before anything is trained there: asked of Inkling's own command line.

use std::time::Duration;

use super::host::SshHost;
use crate::hardware::Hardware;
use crate::problem::EngineExit;
use crate::run_config::DeviceChoice;
use crate::self_test::{Report, SelfTestError, run_in_subprocess};
use crate::system::process::run_within;

/// Drivers that do not respond are given up there before.
const TIME_LIMIT: Duration = Duration::from_mins(1);
/// A GPU's driver may compile its kernels first.
const SELF_TEST_LIMIT: Duration = Duration::from_mins(4);

/// The hardware of a host; an error where it cannot be reached, or has no Inkling of this version.
pub fn hardware_on(host: &SshHost) -> Result<Hardware, EngineExit> {
    let disconnected = |reason: String| EngineExit::Disconnected { machine: host.name().to_owned(), reason };
    let (output, exit) = run_within(host.command(&["hardware", "--json"]), TIME_LIMIT).map_err(disconnected)?;
    let found = output.lines().find_map(|line| serde_json::from_str(line).ok());
    found.ok_or_else(|| disconnected(if exit.stderr_tail.is_empty() { exit.status } else { exit.stderr_tail }))
}

/// The self-test of a host's device.
pub fn self_test_on(host: &SshHost, device: DeviceChoice) -> Result<Report, SelfTestError> {
    run_in_subprocess(host.command(&["hardware", "--self-test", "--json", "--device", device.name()]), SELF_TEST_LIMIT)
}
