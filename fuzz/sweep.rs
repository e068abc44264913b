//! The sweep whose journal is fuzzed.

use inkling::run_config::{Preset, RunConfig};
use inkling::sweep::{Definition, SettingRange};

/// A sweep of two settings: a range and a list.
pub fn definition() -> Definition {
    let mut definition = Definition {
        trials: Some(20),
        ..Definition::of(RunConfig::preset(Preset::QuickLook))
    };
    for text in ["learning-rate=1e-4..1e-1:log", "batch-size=32,64"] {
        definition
            .set(SettingRange::parse(text).expect("a range"))
            .expect("a setting");
    }
    definition
}
