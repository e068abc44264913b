//! What is known of another machine before anything is trained there: asked of Inkling's own
//! command line.

use std::time::Duration;

use serde::de::DeserializeOwned;

use super::host::SshHost;
use crate::hardware::Hardware;
use crate::problem::Problem;
use crate::protocol::EngineExit;
use crate::records::{BundleId, DeletedBundle, ReceivedBundle};
use crate::run_config::DeviceChoice;
use crate::self_test::{Report, run_in_subprocess};
use crate::system::process::{Exit, run_within};

/// Drivers that do not respond are given up there before.
const TIME_LIMIT: Duration = Duration::from_mins(1);
/// A GPU's driver may compile its kernels first.
const SELF_TEST_LIMIT: Duration = Duration::from_mins(4);

/// The hardware of a host; an error where it cannot be reached, or has no Inkling of this version.
pub fn hardware_on(host: &SshHost) -> Result<Hardware, EngineExit> {
    let (lines, exit) = lines_of(host, &["hardware", "--json"])?;
    lines
        .into_iter()
        .next()
        .ok_or_else(|| disconnected(host, exit))
}

/// What was sent to a host and is still there.
pub fn received_on(host: &SshHost) -> Result<Vec<ReceivedBundle>, EngineExit> {
    let (lines, exit) = lines_of(host, &["hosts", "received", "--json"])?;
    if exit.is_success {
        Ok(lines)
    } else {
        Err(disconnected(host, exit))
    }
}

/// Deletes some of that; what became of each.
pub fn delete_received_on(
    host: &SshHost,
    bundles: &[BundleId],
) -> Result<Vec<DeletedBundle>, EngineExit> {
    let arguments = ["hosts", "delete", "--json"]
        .into_iter()
        .chain(bundles.iter().map(|id| id.0.as_str()));
    let (lines, exit): (Vec<DeletedBundle>, _) = lines_of(host, &arguments.collect::<Vec<_>>())?;
    if lines.len() == bundles.len() {
        Ok(lines)
    } else {
        Err(disconnected(host, exit))
    }
}

fn lines_of<T: DeserializeOwned>(
    host: &SshHost,
    arguments: &[&str],
) -> Result<(Vec<T>, Exit), EngineExit> {
    let failed = |reason: String| EngineExit::Disconnected {
        machine: host.name().to_owned(),
        reason,
    };
    let (output, exit) = run_within(host.command(arguments), TIME_LIMIT).map_err(failed)?;
    Ok((
        output
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect(),
        exit,
    ))
}

fn disconnected(host: &SshHost, exit: Exit) -> EngineExit {
    let reason = if exit.stderr_tail.is_empty() {
        exit.status
    } else {
        exit.stderr_tail
    };
    EngineExit::Disconnected {
        machine: host.name().to_owned(),
        reason,
    }
}

pub fn self_test_on(host: &SshHost, device: DeviceChoice) -> Result<Report, Problem> {
    run_in_subprocess(
        host.command(&[
            "hardware",
            "--self-test",
            "--json",
            "--device",
            device.name(),
        ]),
        SELF_TEST_LIMIT,
    )
}
