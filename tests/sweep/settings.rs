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

#[test]
fn in_a_column_a_fraction_has_three_digits_and_a_whole_number_all_of_its() {
    for (value, brief) in [
        (Value::Number(0.004_538), "0.00454"),
        (Value::Number(0.000_012_34), "0.0000123"),
        (Value::Number(12_345.0), "12345"),
        (Value::Name("adamw".to_owned()), "adamw"),
    ] {
        assert_eq!(value.in_brief(), brief);
    }
}
