//! Owns which devices and precisions this machine can be offered, and why not the others.
//! Must not know how they would be used.

use super::Hardware;
use crate::run_config::{DeviceChoice, Precision};

/// Whether runs can compute in this precision here; otherwise the reason, as a sentence.
pub fn precision_availability(precision: Precision, hardware: &Hardware) -> Result<(), String> {
    let has = |simd: &str| hardware.cpu.simd.iter().any(|known| known == simd);
    match precision {
        Precision::F32 => Ok(()),
        Precision::Bf16 if has("AVX-512 BF16") => {
            Err("This version of Inkling trains in f32 only, although this processor has instructions for bf16.".to_owned())
        }
        Precision::Bf16 => Err("This version of Inkling trains in f32 only, and this processor has no instructions for bf16.".to_owned()),
        Precision::F16 => Err("This version of Inkling trains in f32 only.".to_owned()),
    }
}

/// Whether runs can use this device here; otherwise the reason, as a sentence.
pub fn device_availability(device: DeviceChoice, hardware: &Hardware) -> Result<(), String> {
    match device {
        DeviceChoice::Auto | DeviceChoice::Cpu => Ok(()),
        DeviceChoice::Cuda if hardware.gpus.is_empty() => Err("No NVIDIA GPU that answers was found in this machine.".to_owned()),
        DeviceChoice::Cuda => Err("This version of Inkling does not train on NVIDIA GPUs yet.".to_owned()),
        DeviceChoice::Metal if hardware.metal.is_none() => Err("Metal is Apple's; this machine has no Apple GPU.".to_owned()),
        DeviceChoice::Metal => Err("Training on Metal is not offered until every gradient has been checked there.".to_owned()),
    }
}
