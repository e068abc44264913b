//! The command that is printed for a configuration trains that one: the real command line reads it.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;
use inkling::cli::Settings;
use inkling::math::random::Random;
use inkling::run_config::{
    Activation, DataSource, DataSpec, DeviceChoice, Initialization, Kind, ModelKind, Preset,
    PublicDataset, RunConfig, Setting,
};
use inkling::sweep::{SettingRange, Sweep, SweepDefinition};
use serde_json::Value;

use super::{last_object, objects, run, stderr, succeed};
use crate::support::write_idx_set;

/// The options of every command that trains.
#[derive(Parser)]
struct Line {
    #[command(flatten)]
    settings: Settings,
}

/// The words that a shell makes of a command.
#[cfg(unix)]
fn words(command: &str) -> Vec<String> {
    let output = Command::new("sh")
        .arg("-c")
        .arg(format!("printf '%s\\n' {command}"))
        .output()
        .unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

fn pick<T: Clone>(random: &mut Random, choices: &[T]) -> T {
    choices[random.below(choices.len())].clone()
}

/// A configuration of which every setting is that of a preset or another one.
fn any_config(random: &mut Random, model_file: &Path) -> RunConfig {
    let mut config = RunConfig::preset(pick(random, Preset::ALL));
    let sources = [
        DataSource::Mine,
        DataSource::Named(PublicDataset::Mnist),
        DataSource::Path(PathBuf::from("/digits/it's mine")),
        DataSource::Path(PathBuf::from("/digits/a $(b) \"c\"")),
    ];
    if random.chance(0.5) {
        let mut data = vec![pick(random, &sources)];
        data.extend(random.chance(0.5).then_some(DataSource::Builtin));
        config.data = DataSpec::of(data);
    }
    let others = Setting::ALL.iter().filter(|setting| {
        // The command trains a single run.
        !matches!(
            setting,
            Setting::Data
                | Setting::Widths
                | Setting::Layers
                | Setting::InitialWeights
                | Setting::Repeats
        )
    });
    for setting in others.filter(|_| random.chance(0.5)).collect::<Vec<_>>() {
        let row = setting.row();
        let text = match row.kind {
            _ if !row.unset.is_empty() && random.chance(0.3) => row.unset.to_owned(),
            // Any number that all of them can be, with all its digits.
            Kind::Real => (1e-7 + 0.5 * f64::from(random.uniform())).to_string(),
            Kind::Whole => (random.below(30) + 1).to_string(),
            Kind::Choice | Kind::Switch => pick(random, &setting.choices()).0.to_owned(),
            Kind::Text => unreachable!("{setting} is chosen above"),
        };
        setting.set(&mut config, &text).unwrap();
    }
    // The layers of a preset are of no use to another network.
    if config.model != ModelKind::Cnn {
        config.layers = None;
    }
    if config.model == ModelKind::Mlp && random.chance(0.5) {
        config.widths = Some("20-30".parse().unwrap());
    }
    if config.model == ModelKind::Cnn && random.chance(0.5) {
        config.layers = Some("4C3P1-MP2-20".parse().unwrap());
    }
    if random.chance(0.3) {
        // A model file has its network and its activation.
        config = RunConfig {
            model: ModelKind::LeNet,
            widths: None,
            layers: None,
            activation: Activation::Relu,
            initialization: Initialization::Random,
            initial_weights: Some(model_file.to_owned()),
            ..config
        };
    }
    assert_eq!(config.problems(), []);
    RunConfig {
        preset: config.matching_preset(),
        ..config
    }
}

#[cfg(unix)]
#[test]
fn the_command_line_reads_every_configuration_as_it_was_printed() {
    let starter = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/starter.safetensors");
    let read = |config: &RunConfig| {
        let printed = config.command(Some(Path::new("/some folder")));
        let words = words(&printed);
        assert_eq!(words[..2], ["inkling", "train"]);
        let line =
            Line::try_parse_from(&words[1..]).unwrap_or_else(|error| panic!("{printed}: {error}"));
        assert_eq!(
            line.settings.data_dir.as_deref(),
            Some(Path::new("/some folder"))
        );
        assert_eq!(line.settings.config().unwrap(), *config, "{printed}");
        if config.initial_weights.is_none() {
            let printed = config.command(None);
            let read = RunConfig::from_command(&printed);
            assert_eq!(read.as_ref(), Ok(config), "{printed}");
        }
    };
    for &preset in Preset::ALL {
        read(&RunConfig::preset(preset));
    }
    let mut random = Random::stream(44, "configurations", 0);
    for _ in 0..300 {
        read(&any_config(&mut random, &starter));
    }
}

#[test]
fn a_command_names_only_what_is_not_in_the_preset_and_what_would_be_fitted_to_little_data() {
    let best = RunConfig::preset(Preset::Best);
    assert_eq!(
        best.command(None),
        "inkling train --preset best --epochs 32 --batch-size 128"
    );
    let without = RunConfig {
        weight_averaging: None,
        nesterov: false,
        ..best
    };
    assert_eq!(
        without.command(None),
        "inkling train --preset best --epochs 32 --batch-size 128 --nesterov off --weight-averaging off"
    );
}

#[test]
fn options_are_understood_by_their_former_names() {
    let config = |arguments: &[&str]| {
        let line = Line::try_parse_from([&["train"], arguments].concat()).unwrap();
        line.settings.config().unwrap()
    };
    assert_eq!(
        config(&[
            "--model",
            "lenet",
            "--lr",
            "0.01",
            "--init",
            "lsuv",
            "--checkpoint-activations",
            "--batch-size",
            "auto:20",
            "--no-nesterov",
        ]),
        config(&[
            "--network",
            "lenet",
            "--learning-rate",
            "0.01",
            "--initialization",
            "lsuv",
            "--activation-checkpointing",
            "--batch-size",
            "20",
            "--growing-batches",
            "--nesterov",
            "off",
        ])
    );
    assert!(config(&["--batch-size", "auto"]).growing_batches);
    for wrong in ["autos", "auto:", "auto:x", "x"] {
        assert!(Line::try_parse_from(["train", "--batch-size", wrong]).is_err());
    }
}

#[cfg(unix)]
#[test]
fn the_command_that_a_sweep_prints_trains_what_its_best_trial_was() {
    let home = tempfile::tempdir().unwrap();
    let set = home.path().join("a set");
    write_idx_set(&set, 300, 40);
    let starter = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/starter.safetensors");
    // As they come from the window: its settings are the base.
    let base = RunConfig {
        data: DataSpec::single(DataSource::Path(set)),
        device: DeviceChoice::Cpu,
        epochs: 1,
        batch_size: 48,
        growing_batches: true,
        activation_checkpointing: true,
        autotune: true,
        memory_limit: Some(3000),
        threads: Some(1),
        ..RunConfig::preset(Preset::QuickLook)
    };
    let initialized = RunConfig {
        initialization: Initialization::Lsuv,
        ..base.clone()
    };
    let further = RunConfig {
        model: ModelKind::LeNet,
        ..base.further(starter)
    };
    for (base, folder) in [(initialized, "initialized"), (further, "further")] {
        let mut definition = SweepDefinition {
            trials: Some(2),
            ..SweepDefinition::of(base)
        };
        definition
            .set(SettingRange::parse("momentum=0.5..0.9").unwrap())
            .unwrap();
        drop(Sweep::create(&home.path().join(folder), definition).unwrap());
        let output = succeed(&home, &["sweep", "--resume", folder, "--json"]);
        let best = last_object(&output)["best"].take();
        let words = words(best["command"].as_str().unwrap());
        let words: Vec<&str> = words
            .iter()
            .skip(1)
            .map(String::as_str)
            .chain(["--json"])
            .collect();
        let trained = run(&home, &words);
        assert_eq!(
            trained.status.code(),
            Some(0),
            "{words:?}: {}",
            stderr(&trained)
        );
        let events = objects(&trained);
        let started = events
            .iter()
            .find(|event| event["event"] == "started")
            .unwrap();
        assert_eq!(started["config"], best["config"], "{words:?}");
        let accuracy = |value: &Value| value["validation_accuracy"].as_f64().unwrap();
        assert!(
            (accuracy(events.last().unwrap()) - accuracy(&best)).abs() < 1e-6,
            "{best}"
        );
    }
}
