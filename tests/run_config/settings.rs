//! The table of settings: each is there once, by one name, and is written and read alike.

use std::collections::BTreeSet;
use std::path::PathBuf;

use inkling::run_config::{
    Kind, ModelKind, OptimizerKind, Preset, Repetition, RunConfig, Setting, differing_settings,
    settings_page,
};

use crate::support::assert_written;

/// A configuration with which this setting has a meaning.
fn base(setting: Setting) -> RunConfig {
    let base = RunConfig::preset(Preset::QuickLook);
    match setting {
        Setting::Momentum | Setting::Nesterov => RunConfig {
            optimizer: OptimizerKind::Sgd,
            ..base
        },
        Setting::Layers => RunConfig {
            model: ModelKind::Cnn,
            ..base
        },
        _ => base,
    }
}

/// The same with another value of the setting.
fn other(setting: Setting, base: &RunConfig) -> RunConfig {
    let text = match setting.row().kind {
        Kind::Real => "0.25",
        Kind::Whole => "7",
        Kind::Text if setting == Setting::Layers => "8C3-MP2",
        Kind::Text => "64",
        Kind::Choice | Kind::Switch => {
            let own = setting.text(base);
            let names = setting.choices();
            names.iter().find(|(name, _)| *name != own).unwrap().0
        }
    };
    let mut config = base.clone();
    setting.set(&mut config, text).unwrap();
    config
}

/// A configuration of which every setting has another value than the default.
pub fn whole() -> RunConfig {
    let config = RunConfig {
        repetition: Some(Repetition {
            begun: "2026-11-28T08:00:00Z".to_owned(),
            number: 2,
        }),
        ..RunConfig::default()
    };
    let settings = Setting::ALL.iter();
    settings.fold(config, |config, setting| other(*setting, &config))
}

#[test]
fn every_field_of_a_configuration_is_a_setting_with_one_name() {
    let written = serde_json::to_value(whole()).unwrap();
    let fields: BTreeSet<&str> = written
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .filter(|key| !["version", "preset", "repetition"].contains(key))
        .collect();
    let keys: BTreeSet<&str> = Setting::ALL.iter().map(|s| s.row().key).collect();
    assert_eq!(fields, keys);
    let mut names = BTreeSet::new();
    for &setting in Setting::ALL {
        let row = setting.row();
        // In the files, the network is called the model.
        if setting != Setting::Network {
            assert_eq!(row.name, row.key.replace('_', "-"));
        }
        assert_eq!(row.label.to_lowercase(), row.name.replace('-', " "));
        assert!(row.help.ends_with('.'), "{setting}: {}", row.help);
        for name in [&row.name].into_iter().chain(row.former) {
            assert!(names.insert(*name), "{name} is there twice");
            assert_eq!(Setting::parse(&name.replace('-', "_")), Ok(setting));
        }
    }
    assert!(Setting::parse("learning").is_err());
}

#[test]
fn every_setting_takes_back_what_it_gives_and_shows_if_it_differs() {
    for &setting in Setting::ALL {
        let base = base(setting);
        let config = other(setting, &base);
        assert_ne!(config, base, "{setting}");
        let mut again = base.clone();
        setting.set(&mut again, &setting.text(&config)).unwrap();
        assert_eq!(again, config, "{setting}");
        setting.set(&mut again, &setting.text(&base)).unwrap();
        assert_eq!(again, base, "{setting}");
        // How often it is repeated says nothing of a run.
        let differ = differing_settings(&[&base, &config]).len();
        assert_eq!(
            differ,
            usize::from(setting != Setting::Repeats),
            "{setting}"
        );
    }
}

#[test]
fn what_is_no_value_of_a_setting_is_refused_with_what_is_wanted() {
    let mut config = RunConfig::default();
    for (setting, text, wanted) in [
        (Setting::Epochs, "many", "a whole number"),
        (Setting::Epochs, "1.5", "a whole number"),
        (Setting::Epochs, "", "a whole number"),
        (Setting::Epochs, "5000000000", "a smaller number"),
        (Setting::LearningRate, "NaN", "a number"),
        (Setting::LearningRate, "off", "a number"),
        (Setting::Nesterov, "yes", "on or off"),
        (
            Setting::Widths,
            "0",
            "1 to 8 whole numbers from 1 to 2048, such as 128-64, or default",
        ),
    ] {
        assert_eq!(setting.set(&mut config, text), Err(wanted.to_owned()));
    }
    assert_eq!(config, RunConfig::default());
    for unset in ["", "off", "default"] {
        config.clip_norm = Some(1.0);
        assert_eq!(Setting::ClipNorm.set(&mut config, unset), Ok(()));
        assert_eq!(config.clip_norm, None);
    }
    Setting::InitialWeights.set(&mut config, "a model").unwrap();
    assert_eq!(config.initial_weights, Some(PathBuf::from("a model")));
}

#[test]
fn the_settings_page_is_made_from_the_table() {
    assert_written("docs/settings.md", &settings_page());
}
