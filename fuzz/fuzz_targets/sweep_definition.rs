//! What a sweep is to do, as a person writes it and as it is kept: what has no problem can be
//! searched, and is the same kind of sweep when it is read again.
#![no_main]

use inkling::run_config::{Preset, RunConfig};
use inkling::sweep::{SweepDefinition, DefinitionFile, seconds, suggest};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = seconds(text);
        if let Ok(file) = DefinitionFile::parse(text)
            && let Ok(settings) = file.settings()
        {
            let mut definition = SweepDefinition {
                trials: Some(3),
                ..SweepDefinition::of(RunConfig::preset(Preset::Balanced))
            };
            settings
                .into_iter()
                .for_each(|range| drop(definition.set(range)));
            search(&definition);
        }
    }
    if let Ok(definition) = serde_json::from_slice::<SweepDefinition>(bytes) {
        search(&definition);
        let written = serde_json::to_vec(&definition).expect("a definition as JSON");
        let again: SweepDefinition =
            serde_json::from_slice(&written).expect("a definition that was just written");
        assert_eq!(
            (again.space.len(), again.sampler, again.trials),
            (
                definition.space.len(),
                definition.sampler,
                definition.trials
            )
        );
    }
});

/// Chooses the settings of the first trials, if there is nothing wrong with the sweep: they have to
/// be in its ranges.
fn search(definition: &SweepDefinition) {
    if !definition.problems().is_empty() {
        return;
    }
    for values in (1..=3).filter_map(|number| suggest(definition, number, &[])) {
        assert!(definition.config(&values).is_ok(), "{values:?}");
        assert!(
            definition
                .space
                .iter()
                .zip(&values)
                .all(|(dimension, value)| dimension.contains(value)),
            "{values:?}"
        );
    }
}
