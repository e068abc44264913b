//! Which devices and precisions are available on this machine, why the others are not, and notes on
//! those that are. All such reasons are worded here.

use super::Hardware;
use crate::device::HAS_CUDA;
use crate::run_config::{DeviceChoice, Precision};

/// Whether this build of Inkling can train on such a device at all; otherwise why not, as a
/// sentence.
pub fn device_support(device: DeviceChoice) -> Result<(), String> {
    match device {
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(()),
        DeviceChoice::Cuda if HAS_CUDA => Ok(()),
        DeviceChoice::Cuda => Err("This build of Inkling does not include CUDA.".to_owned()),
        DeviceChoice::Metal if cfg!(target_os = "macos") => {
            Err("Training on Metal is disabled until its gradients have been verified.".to_owned())
        }
        DeviceChoice::Metal => Err("Metal is only available on macOS.".to_owned()),
    }
}

/// Whether runs can use this device on this machine; otherwise why not, as a sentence.
pub fn device_availability(device: DeviceChoice, hardware: &Hardware) -> Result<(), String> {
    match device {
        DeviceChoice::Cuda if hardware.gpus.is_empty() => {
            Err("No working NVIDIA GPU was found.".to_owned())
        }
        DeviceChoice::Metal if hardware.metal.is_none() => {
            Err("Metal needs an Apple GPU, and this machine has none.".to_owned())
        }
        DeviceChoice::Cuda => hardware.cuda_finding.clone().map_or(Ok(()), Err),
        _ => device_support(device),
    }
}

/// Whether drawings can be recognised on this device; otherwise why not, as a sentence. Recognition
/// needs no gradients.
pub fn inference_availability(device: DeviceChoice, hardware: &Hardware) -> Result<(), String> {
    match device {
        DeviceChoice::Metal if hardware.metal.is_some() => Ok(()),
        _ => device_availability(device, hardware),
    }
}

/// A note on this precision on this device, if there is anything to note. `step_cost` is the time
/// of a training step relative to f32 on this machine's CPU, if it was measured.
pub fn precision_note(
    precision: Precision,
    device: DeviceChoice,
    hardware: &Hardware,
    step_cost: Option<f64>,
) -> Option<String> {
    match (device.resolved(), precision) {
        (_, Precision::F32) => None,
        (DeviceChoice::Cuda, Precision::Tf32) => Some(
            "f32, but the inputs of matrix products are rounded to TF32 (10 mantissa bits) on GPUs that support it (compute capability 8.0 or \
             newer)."
                .to_owned(),
        ),
        (_, Precision::Tf32) => Some("Same as f32 here: only NVIDIA GPUs support TF32.".to_owned()),
        (DeviceChoice::Cpu, _) => cpu_note(precision, hardware, step_cost),
        (_, shorter) => Some(format!("The inputs of matrix products are rounded to {shorter}, which GPUs multiply faster in large batches.")),
    }
}

/// A note on a precision on the CPU.
fn cpu_note(precision: Precision, hardware: &Hardware, step_cost: Option<f64>) -> Option<String> {
    let fast_bf16 = hardware
        .cpu
        .simd
        .iter()
        .any(|known| known == "AVX-512 BF16");
    let why = match precision {
        Precision::F32 | Precision::Tf32 => return None,
        Precision::Bf16 if fast_bf16 => None,
        Precision::Bf16 => Some("this CPU has no bf16 instructions"),
        Precision::F16 => Some("this CPU has no instructions for f16 products"),
    };
    // Within the noise of a benchmark the two are equally fast.
    Some(match (step_cost, why) {
        (Some(cost), _) if (0.97..=1.03).contains(&cost) => "As fast as f32, measured on this machine.".to_owned(),
        (Some(cost), _) if cost < 1.0 => format!("{:.1} times as fast as f32, measured on this machine.", 1.0 / cost),
        (Some(cost), why) => {
            let why = why.map_or_else(String::new, |why| format!("; {why}"));
            format!("A step takes {cost:.1} times as long as in f32, measured on this machine{why}.")
        }
        // Measured on one such machine: the f32 kernels skip zeros in the gradients and are faster
        // for that reason.
        (None, None) => "Probably slightly slower than f32: this CPU has bf16 instructions, but they only speed up the forward pass. \
                         Run the benchmark to find out."
            .to_owned(),
        (None, Some(why)) => format!("Probably slower than f32: {why}. Run the benchmark to find out."),
    })
}
