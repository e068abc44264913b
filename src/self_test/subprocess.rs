//! A self-test in a process of its own, with a time limit: a driver that crashes or hangs does not
//! take Inkling with it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use super::SelfTestError;
use super::report::Report;
use crate::device::look_for_cuda_in;
use crate::run_config::DeviceChoice;
use crate::system::process::{self, run_within};

#[derive(Deserialize)]
struct Printed {
    self_test: Report,
}

/// A slow CPU needs some ten seconds, a GPU's driver a minute to compile its kernels for the first
/// time.
const TIME_LIMIT: Duration = Duration::from_mins(3);

/// Runs this program again to check a device; it looks for NVIDIA's libraries in `cuda_folder`
/// first.
pub fn check_in_subprocess(
    device: DeviceChoice,
    cuda_folder: Option<&Path>,
) -> Result<Report, SelfTestError> {
    let program = process::this_program(&[
        "hardware",
        "--self-test",
        "--json",
        "--device",
        device.name(),
    ]);
    run_in_subprocess(look_for_cuda_in(cuda_folder, program), TIME_LIMIT)
}

/// Runs `program` (`inkling hardware --self-test --json`) for at most `limit`.
pub fn run_in_subprocess(program: Command, limit: Duration) -> Result<Report, SelfTestError> {
    let (output, exit) =
        run_within(program, limit).map_err(|reason| SelfTestError::NoResult { reason })?;
    let printed = output
        .lines()
        .find_map(|line| serde_json::from_str::<Printed>(line).ok());
    printed
        .map(|printed| printed.self_test)
        .ok_or_else(|| SelfTestError::NoResult {
            reason: format!("its process ended with {exit}"),
        })
}
