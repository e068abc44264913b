//! Owns which settings suit this machine, and why. Must not set anything.

use super::Hardware;
use crate::run_config::{DataSource, DataSpec, NamedSet, Preset, RunConfig};

/// Recommended settings, and the reason in a sentence.
pub fn recommend(hardware: &Hardware, have_mnist: bool) -> (RunConfig, String) {
    let cores = hardware.cpu.usable_cores;
    let vectors = hardware.cpu.simd.iter().any(|simd| simd == "AVX2" || simd == "NEON");
    let cores_text = if cores == 1 { "one core".to_owned() } else { format!("{cores} cores") };
    let (preset, reason) = match (cores, vectors) {
        (4.., true) => (Preset::Balanced, format!("With {cores_text} an accurate network trains within a minute.")),
        (2.., true) => {
            (Preset::Speedrun, format!("With {cores_text} one pass over the images gives nearly the same accuracy in a few seconds."))
        }
        _ => (
            Preset::QuickLook,
            format!("With {cores_text} and no wide vector instructions the smallest network is the pleasant one to watch."),
        ),
    };
    let mut config = RunConfig::preset(preset);
    if have_mnist {
        config.data = DataSpec::single(DataSource::Named(NamedSet::Mnist));
    }
    (config, reason)
}
