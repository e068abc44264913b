//! Settings by name, and the command that trains them.

use inkling::run_config::{Preset, RunConfig};
use inkling::sweep::{Setting, SettingRange, Value};

use super::definition;

#[test]
fn every_setting_takes_back_what_it_gives() {
    for preset in Preset::ALL {
        let mut config = RunConfig::default();
        for setting in Setting::ALL {
            assert_eq!(Setting::parse(setting.name()), Ok(setting));
            setting.apply(&setting.value(&RunConfig::preset(*preset)), &mut config).unwrap();
        }
        assert_eq!(RunConfig { preset: Some(*preset), ..config }, RunConfig::preset(*preset));
    }
}

#[test]
fn settings_become_options_that_give_them_back() {
    let changes = [
        "model=tiny",
        "clip-norm=2",
        "early-stopping=3",
        "weight-averaging=off",
        "lr=0.0123",
        "schedule=step",
        "seed=7",
        "augmentation=strong",
    ];
    let config = definition(&changes).base;
    let options = Setting::options(&config);
    let mut again = definition(&[]);
    again.base = RunConfig::preset(options[0].1.parse().unwrap());
    for (name, value) in &options[1..] {
        again.set(SettingRange::parse(&format!("{name}={value}")).unwrap()).unwrap();
    }
    assert_eq!(again.base, config, "{options:?}");
}

#[test]
fn what_an_option_cannot_take_away_is_not_in_the_preset() {
    for preset in Preset::ALL {
        let mut definition = definition(&[]);
        definition.base = RunConfig::preset(*preset);
        definition.set(SettingRange::parse("weight-averaging=off").unwrap()).unwrap();
        definition.set(SettingRange::parse("nesterov=off").unwrap()).unwrap();
        let options = Setting::options(&definition.base);
        assert!(options.iter().all(|(_, value)| value != "off"), "{options:?}");
        assert!(options.contains(&("no-nesterov", String::new())), "{options:?}");
    }
    assert_eq!(Setting::options(&RunConfig::preset(Preset::Best)), [("preset", "best".to_owned())]);
}

#[test]
fn values_are_read_as_numbers_or_names() {
    assert_eq!(Value::parse(" 1e-3 "), Value::Number(0.001));
    assert_eq!(Value::parse("Gentle"), Value::Name("gentle".to_owned()));
    assert_eq!(Value::parse("inf"), Value::Name("inf".to_owned()), "no number that JSON could not hold");
}
