//! Owns a self-test in a process of its own, with a time limit: a driver that crashes or hangs costs a sentence.
//! Must not know what is tested.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use super::SelfTestError;
use super::report::Report;
use crate::device::look_for_cuda_in;
use crate::run_config::DeviceChoice;
use crate::system::process::{self, run_within};

/// What the process prints.
#[derive(Deserialize)]
struct Printed {
    self_test: Report,
}

/// How long it may take: a slow processor needs some ten seconds, a GPU's driver a minute to compile its kernels for the first time.
const LIMIT: Duration = Duration::from_mins(3);

/// Checks a device by this very program, in a process of its own, with NVIDIA's libraries looked for in this folder first.
pub fn check_apart(device: DeviceChoice, cuda_folder: Option<&Path>) -> Result<Report, SelfTestError> {
    let program = process::this(&["hardware", "--self-test", "--json", "--device", device.name()]);
    in_child(look_for_cuda_in(cuda_folder, program), LIMIT)
}

/// Runs `program` (`inkling hardware --self-test --json`) for at most `limit`.
pub fn in_child(program: Command, limit: Duration) -> Result<Report, SelfTestError> {
    let said = run_within(program, limit).map_err(|reason| SelfTestError::NoResult { reason })?;
    let printed = said.output.lines().find_map(|line| serde_json::from_str::<Printed>(line).ok());
    printed
        .map(|printed| printed.self_test)
        .ok_or_else(|| SelfTestError::NoResult { reason: format!("its process ended with {}", said.end) })
}
