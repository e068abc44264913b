//! Settings by name.

use inkling::run_config::{Preset, RunConfig, Setting};
use inkling::sweep::Value;

#[test]
fn every_setting_that_can_vary_takes_back_what_it_gives() {
    for preset in Preset::ALL {
        let mut config = RunConfig::default();
        for setting in Setting::sweepable() {
            Value::of(setting, &RunConfig::preset(*preset))
                .apply(setting, &mut config)
                .unwrap();
        }
        assert_eq!(
            RunConfig {
                preset: Some(*preset),
                ..config
            },
            RunConfig::preset(*preset)
        );
    }
}

#[test]
fn values_are_read_as_numbers_or_names() {
    assert_eq!(Value::parse(" 1e-3 "), Value::Number(0.001));
    assert_eq!(Value::parse("Gentle"), Value::Name("gentle".to_owned()));
    assert_eq!(
        Value::parse("inf"),
        Value::Name("inf".to_owned()),
        "no number that JSON could not hold"
    );
}
