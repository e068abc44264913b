//! Recommended settings for this machine, and which device is usually faster.

use super::Hardware;
use crate::run_config::{Preset, RunConfig};

/// With smaller batches or less data than this, the overhead of a GPU outweighs its speed.
const SMALL_BATCH: u32 = 64;
const LITTLE_DATA: u64 = 10_000;

/// Which device is usually faster for a run that has not been measured yet.
pub fn first_guess(config: &RunConfig, images: Option<u64>) -> &'static str {
    if config.batch_size <= SMALL_BATCH || images.is_some_and(|images| images < LITTLE_DATA) {
        "Not measured yet. With little data or small batches, try the CPU first."
    } else {
        "Not measured yet. With a lot of data and large batches, try the GPU first."
    }
}

/// Recommended settings, on the built-in data, and the reason as a sentence.
pub fn recommend(hardware: &Hardware) -> (RunConfig, String) {
    let cores = hardware.cpu.usable_cores;
    let vectors = hardware
        .cpu
        .simd
        .iter()
        .any(|simd| simd == "AVX2" || simd == "NEON");
    let cores_text = if cores == 1 {
        "one core".to_owned()
    } else {
        format!("{cores} cores")
    };
    let (preset, reason) = match (cores, vectors) {
        (4.., true) => (
            Preset::Balanced,
            format!("With {cores_text}, an accurate network trains within a minute."),
        ),
        (2.., true) => (
            Preset::OneEpoch,
            format!(
                "With {cores_text}, one epoch is a quick start; Balanced takes several times as long and makes fewer errors."
            ),
        ),
        _ => (
            Preset::QuickLook,
            format!(
                "With {cores_text} and no wide vector instructions, the smallest network is the best one to start with."
            ),
        ),
    };
    (RunConfig::preset(preset), reason)
}
