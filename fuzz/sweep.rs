//! The sweep whose journal is fuzzed.

use inkling::run_config::{Preset, RunConfig};
use inkling::sweep::{SweepDefinition, SettingRange};

/// A sweep of two settings: a range and a list.
pub fn definition() -> SweepDefinition {
    let mut definition = SweepDefinition {
        trials: Some(20),
        ..SweepDefinition::of(RunConfig::preset(Preset::QuickLook))
    };
    for text in ["learning-rate=1e-4..1e-1:log", "batch-size=32,64"] {
        definition
            .set(SettingRange::parse(text).expect("a range"))
            .expect("a setting");
    }
    definition
}
