//! Settings by name.

use inkling::run_config::{Preset, RunConfig};
use inkling::sweep::{Setting, Value};

#[test]
fn every_setting_takes_back_what_it_gives() {
    for preset in Preset::ALL {
        let mut config = RunConfig::default();
        for setting in Setting::ALL {
            assert_eq!(Setting::parse(setting.name()), Ok(setting));
            setting
                .apply(&setting.value(&RunConfig::preset(*preset)), &mut config)
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
