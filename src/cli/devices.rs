//! Owns which device a command computes on: one that takes a driver only after its self-test, in a process of its own.
//! Must not compute on any.

use super::failure::Failure;
use super::output::note;
use crate::app::messages::Message;
use crate::device::HAS_CUDA;
use crate::hardware::{Hardware, device_availability, device_support, probe_apart};
use crate::problem::Problem;
use crate::run_config::{ConfigProblem, DeviceChoice, Precision};
use crate::self_test::{Report, check_apart};
use crate::system::paths::Paths;
use crate::system::process;

/// The device to compute on in this number format: one that was named has to pass its self-test; `auto` is the NVIDIA GPU where there is one
/// that does, and otherwise stays what it is to an engine, the processor, and says why.
pub fn settled(device: DeviceChoice, precision: Precision) -> Result<DeviceChoice, Failure> {
    match device {
        DeviceChoice::Cuda => vouched_for(device, precision).map(|()| device).map_err(Failure::from),
        // A program without CUDA has nothing to look for.
        DeviceChoice::Auto if HAS_CUDA => Ok(automatic(precision)),
        named => Ok(named),
    }
}

fn automatic(precision: Precision) -> DeviceChoice {
    let hardware = this_machine();
    if hardware.gpus.is_empty() {
        // A machine without a GPU needs no words; one whose driver does not answer does.
        hardware.gpu_finding.iter().for_each(|finding| note(finding));
        return DeviceChoice::Auto;
    }
    let usable = available(&hardware).and_then(|()| vouched_for(DeviceChoice::Cuda, precision));
    match usable {
        Ok(()) => DeviceChoice::Cuda,
        Err(problem) => {
            note(&format!("Training on the CPU. {}", Message::from(&problem).what));
            DeviceChoice::Auto
        }
    }
}

/// Devices that runs can be made on, the processor first, with the number formats that passed the self-test there.
pub fn usable_for_training() -> Vec<(DeviceChoice, Vec<Precision>)> {
    let mut usable = vec![(DeviceChoice::Cpu, Precision::on(DeviceChoice::Cpu).collect())];
    let gpu = DeviceChoice::Cuda;
    if HAS_CUDA && !this_machine().gpus.is_empty() {
        match checked(gpu) {
            Ok(report) => {
                let sound = Precision::on(gpu).filter(|&precision| report.passed(precision).is_ok());
                usable.push((gpu, sound.collect()));
            }
            Err(problem) => note(&Message::from(&problem).what),
        }
    }
    usable
}

/// What this machine has, found in a process of its own: a driver that breaks costs that process.
fn this_machine() -> Hardware {
    probe_apart(process::this(&["hardware", "--json"]), &Paths::find().runs)
}

fn available(hardware: &Hardware) -> Result<(), Problem> {
    let device = DeviceChoice::Cuda;
    Ok(device_availability(device, hardware).map_err(|reason| ConfigProblem::DeviceUnavailable { device, reason })?)
}

/// Whether this device passes its self-test in this number format.
fn vouched_for(device: DeviceChoice, precision: Precision) -> Result<(), Problem> {
    Ok(checked(device)?.passed(precision).map_err(|reason| ConfigProblem::DeviceUnavailable { device, reason })?)
}

/// What the self-test of a device finds.
fn checked(device: DeviceChoice) -> Result<Report, Problem> {
    device_support(device).map_err(|reason| ConfigProblem::DeviceUnavailable { device, reason })?;
    note("Running the self-test of this device.");
    Ok(check_apart(device, None)?)
}
