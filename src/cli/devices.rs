//! Chooses the device to compute on. A GPU is used only after it has passed the self-test in a
//! separate process.

use super::failure::Failure;
use super::output::{note, warn};
use crate::device::HAS_CUDA;
use crate::engine::{SshHost, hardware_on, self_test_on};
use crate::hardware::{Hardware, device_availability, device_support, probe_in_subprocess};
use crate::problem::Problem;
use crate::run_config::{ConfigError, DeviceChoice, Precision};
use crate::self_test::{SelfTestReport, check_in_subprocess};
use crate::system::paths::Paths;
use crate::system::process;

/// The device to compute on in this precision. An NVIDIA GPU that was asked for must pass its
/// self-test. `auto` becomes the NVIDIA GPU if there is one that passes; otherwise it stays `auto`,
/// which the engine takes as the CPU, and a note explains why.
pub fn resolve(device: DeviceChoice, precision: Precision) -> Result<DeviceChoice, Failure> {
    match device {
        DeviceChoice::Cuda => check_precision(device, precision)
            .map(|()| device)
            .map_err(Failure::from),
        // Without CUDA there is nothing to look for.
        DeviceChoice::Auto if HAS_CUDA => Ok(automatic(precision)),
        named => Ok(named),
    }
}

fn automatic(precision: Precision) -> DeviceChoice {
    let hardware = probe();
    if hardware.gpus.is_empty() {
        // A machine without a GPU needs no note, but a driver that does not respond does.
        hardware
            .gpu_finding
            .iter()
            .for_each(|finding| warn(finding));
        return DeviceChoice::Auto;
    }
    let usable = available(&hardware).and_then(|()| check_precision(DeviceChoice::Cuda, precision));
    match usable {
        Ok(()) => DeviceChoice::Cuda,
        Err(problem) => {
            warn(&format!(
                "Training on the CPU. {}",
                problem.message.what.clone()
            ));
            DeviceChoice::Auto
        }
    }
}

/// The same on another machine: its NVIDIA GPU must pass the self-test there.
pub fn resolve_on(
    host: &SshHost,
    device: DeviceChoice,
    precision: Precision,
) -> Result<DeviceChoice, Failure> {
    if !matches!(device, DeviceChoice::Auto | DeviceChoice::Cuda) {
        return Ok(device);
    }
    let gpu = DeviceChoice::Cuda;
    let hardware = hardware_on(host).map_err(Problem::from)?;
    let usable = device_availability(gpu, &hardware).and_then(|()| {
        note(&format!(
            "Running the self-test of the GPU of {}.",
            host.name()
        ));
        self_test_on(host, gpu)
            .map_err(|error| error.message.what)?
            .passed(precision)
    });
    match usable {
        Ok(()) => Ok(gpu),
        Err(_) if device == DeviceChoice::Auto && hardware.gpus.is_empty() => Ok(device),
        Err(reason) if device == DeviceChoice::Auto => {
            warn(&format!("Training on the CPU of {}. {reason}", host.name()));
            Ok(device)
        }
        Err(reason) => Err(Problem::from(ConfigError::DeviceUnavailable { device, reason }).into()),
    }
}

/// The devices that can train, the CPU first, each with the precisions that passed its self-test.
pub fn usable_for_training() -> Vec<(DeviceChoice, Vec<Precision>)> {
    let mut usable = vec![(
        DeviceChoice::Cpu,
        Precision::on(DeviceChoice::Cpu).collect(),
    )];
    let gpu = DeviceChoice::Cuda;
    if HAS_CUDA && !probe().gpus.is_empty() {
        match self_test(gpu) {
            Ok(report) => {
                let precisions =
                    Precision::on(gpu).filter(|&precision| report.passed(precision).is_ok());
                usable.push((gpu, precisions.collect()));
            }
            Err(problem) => warn(&problem.message.what.clone()),
        }
    }
    usable
}

/// Probes the hardware in a separate process, so that a driver crash cannot end this one.
fn probe() -> Hardware {
    probe_in_subprocess(
        process::this_program(&["hardware", "--json"]),
        &Paths::find().runs,
    )
}

fn available(hardware: &Hardware) -> Result<(), Problem> {
    let device = DeviceChoice::Cuda;
    Ok(device_availability(device, hardware)
        .map_err(|reason| ConfigError::DeviceUnavailable { device, reason })?)
}

/// Whether this device passes its self-test in this precision; otherwise why not.
fn check_precision(device: DeviceChoice, precision: Precision) -> Result<(), Problem> {
    Ok(self_test(device)?
        .passed(precision)
        .map_err(|reason| ConfigError::DeviceUnavailable { device, reason })?)
}

/// Runs the self-test of a device in a separate process.
fn self_test(device: DeviceChoice) -> Result<SelfTestReport, Problem> {
    device_support(device).map_err(|reason| ConfigError::DeviceUnavailable { device, reason })?;
    note("Running the self-test of this device.");
    check_in_subprocess(device, None)
}
