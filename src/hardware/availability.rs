//! Owns which devices and precisions this machine can be offered, why not the others, and what is to be said of those it can.
//! The one place for such reasons. Must not know how a device or a precision would be used.

use super::Hardware;
use crate::device::HAS_CUDA;
use crate::run_config::{DeviceChoice, Precision};

/// Whether this version of Inkling trains on such a device at all; otherwise why not, as a sentence.
pub fn device_support(device: DeviceChoice) -> Result<(), String> {
    match device {
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(()),
        DeviceChoice::Cuda if HAS_CUDA => Ok(()),
        DeviceChoice::Cuda => Err("This Inkling was built without CUDA.".to_owned()),
        DeviceChoice::Metal => Err("Training on Metal is not offered until every gradient has been checked there.".to_owned()),
    }
}

/// Whether runs can use this device here; otherwise the reason, as a sentence.
pub fn device_availability(device: DeviceChoice, hardware: &Hardware) -> Result<(), String> {
    match device {
        DeviceChoice::Cuda if hardware.gpus.is_empty() => Err("No NVIDIA GPU that answers was found in this machine.".to_owned()),
        DeviceChoice::Metal if hardware.metal.is_none() => Err("Metal is Apple's; this machine has no Apple GPU.".to_owned()),
        DeviceChoice::Cuda => hardware.cuda_finding.clone().map_or(Ok(()), Err),
        _ => device_support(device),
    }
}

/// Whether drawings can be read on this device here; otherwise the reason, as a sentence. Reading takes no gradients.
pub fn reading_availability(device: DeviceChoice, hardware: &Hardware) -> Result<(), String> {
    match device {
        DeviceChoice::Metal if hardware.metal.is_some() => Ok(()),
        _ => device_availability(device, hardware),
    }
}

/// What computing in this precision means on this device, where there is something to say. `step_cost` is how long a training
/// step takes in it relative to f32, as it was measured on this machine's processor, if it was.
pub fn precision_note(precision: Precision, device: DeviceChoice, hardware: &Hardware, step_cost: Option<f64>) -> Option<String> {
    match (device.resolved(), precision) {
        (_, Precision::F32) => None,
        (DeviceChoice::Cuda, Precision::Tf32) => Some(
            "f32, but the numbers that products take are rounded to TF32, with 10 bits behind the point, on GPUs with units for it (compute \
             capability 8.0 or newer)."
                .to_owned(),
        ),
        (_, Precision::Tf32) => Some("The same as f32 here: TF32 is a number format of NVIDIA GPUs.".to_owned()),
        (DeviceChoice::Cpu, _) => processor_note(precision, hardware, step_cost),
        (_, shorter) => Some(format!("The numbers that products take are rounded to {shorter}, which GPUs multiply faster in large batches.")),
    }
}

/// What a shorter format means on this processor.
fn processor_note(precision: Precision, hardware: &Hardware, step_cost: Option<f64>) -> Option<String> {
    let fast_bf16 = hardware.cpu.simd.iter().any(|known| known == "AVX-512 BF16");
    let why = match precision {
        Precision::F32 | Precision::Tf32 => return None,
        Precision::Bf16 if fast_bf16 => None,
        Precision::Bf16 => Some("this processor has no bf16 instructions"),
        Precision::F16 => Some("this processor has no instructions for f16 products"),
    };
    // Within the scatter of a benchmark the two are equally fast.
    Some(match (step_cost, why) {
        (Some(cost), _) if (0.97..=1.03).contains(&cost) => "As fast as f32, as measured on this machine.".to_owned(),
        (Some(cost), _) if cost < 1.0 => format!("{:.1} times as fast as f32, as measured on this machine.", 1.0 / cost),
        (Some(cost), why) => {
            let why = why.map_or_else(String::new, |why| format!("; {why}"));
            format!("A step takes {cost:.1} times as long as in f32, as measured on this machine{why}.")
        }
        // Measured on the one such machine there was: gradients, which are mostly zeros, are summed faster in f32.
        (None, None) => "Probably a little slower than f32: this processor has bf16 instructions, but only forward products gain by them. \
                         Run the benchmark to measure."
            .to_owned(),
        (None, Some(why)) => format!("Probably slower than f32: {why}. Run the benchmark to measure."),
    })
}
