//! The command that is printed for a configuration trains that one: the real command line reads it.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;
use inkling::cli::{Settings, train_command};
use inkling::math::random::Random;
use inkling::run_config::{
    Activation, Augmentation, DataSource, DataSpec, DeviceChoice, Initialization, ModelKind,
    NamedSet, OptimizerKind, Precision, Preset, RunConfig, ScheduleKind, VERSION,
};
use inkling::sweep::{Definition, SettingRange, Sweep};
use serde_json::Value;

use super::{objects, run, stderr, succeed};
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

/// Any number that a setting can be, with all its digits.
fn number(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * f64::from(random.uniform())
}

/// A configuration of which every setting is that of a preset or another one. All are named here,
/// so that a new one has to be.
fn any_config(random: &mut Random, model_file: &Path) -> RunConfig {
    let base = RunConfig::preset(pick(random, Preset::ALL));
    let sources = [
        DataSource::Mine,
        DataSource::Named(NamedSet::Mnist),
        DataSource::Path(PathBuf::from("/digits/it's mine")),
        DataSource::Path(PathBuf::from("/digits/a $(b) \"c\"")),
    ];
    let mut data = vec![pick(random, &sources)];
    data.extend(random.chance(0.5).then_some(DataSource::Builtin));
    // A model file has its network and its activation.
    let initial_weights = random.chance(0.5).then(|| model_file.to_owned());
    let model = if initial_weights.is_some() {
        ModelKind::LeNet
    } else {
        pick(random, ModelKind::ALL)
    };
    let widths = (model == ModelKind::Mlp && random.chance(0.5)).then(|| "20-30".parse().unwrap());
    let layers =
        (model == ModelKind::Cnn && random.chance(0.5)).then(|| "4C3P1-MP2-20".parse().unwrap());
    let optional = |random: &mut Random, low: f64, high: f64| {
        random.chance(0.5).then(|| number(random, low, high))
    };
    let some = |random: &mut Random, usual: f64, low: f64, high: f64| {
        optional(random, low, high).unwrap_or(usual)
    };
    let count = |random: &mut Random, usual: u32, high: usize| {
        if random.chance(0.5) {
            random.below(high) as u32 + 1
        } else {
            usual
        }
    };
    let config = RunConfig {
        version: VERSION,
        data: if random.chance(0.5) {
            DataSpec::builtin()
        } else {
            DataSpec::of(data)
        },
        preset: None,
        model,
        widths,
        layers,
        activation: if initial_weights.is_some() {
            Activation::Relu
        } else {
            pick(random, Activation::ALL)
        },
        initialization: if initial_weights.is_some() {
            Initialization::Random
        } else {
            pick(random, Initialization::ALL)
        },
        initial_weights,
        epochs: count(random, base.epochs, 30),
        batch_size: count(random, base.batch_size, 500),
        growing_batches: random.chance(0.5),
        precision: pick(random, Precision::ALL),
        device: pick(random, DeviceChoice::ALL),
        optimizer: pick(random, OptimizerKind::ALL),
        learning_rate: some(random, base.learning_rate, 1e-7, 1e-2),
        weight_decay: some(random, base.weight_decay, 0.0, 0.1),
        momentum: some(random, base.momentum, 0.0, 1.0),
        nesterov: random.chance(0.5),
        activation_checkpointing: random.chance(0.5),
        autotune: random.chance(0.5),
        schedule: pick(random, ScheduleKind::ALL),
        label_smoothing: some(random, base.label_smoothing, 0.0, 0.5),
        clip_norm: optional(random, 0.1, 5.0),
        accumulation: count(random, base.accumulation, 8),
        weight_averaging: optional(random, 0.9, 0.999),
        early_stopping: random.chance(0.5).then(|| count(random, 3, 10)),
        augmentation: pick(random, Augmentation::ALL),
        seed: count(random, 1, 1000).into(),
        threads: random.chance(0.5).then(|| count(random, 2, 8)),
        memory_limit: random.chance(0.5).then(|| count(random, 500, 5000)),
        // The command trains a single run.
        repeats: 1,
        repetition: None,
    };
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
        let printed = train_command(config, Some(Path::new("/some folder")));
        let words = words(&printed);
        assert_eq!(words[..2], ["inkling", "train"]);
        let line =
            Line::try_parse_from(&words[1..]).unwrap_or_else(|error| panic!("{printed}: {error}"));
        assert_eq!(
            line.settings.data_dir.as_deref(),
            Some(Path::new("/some folder"))
        );
        assert_eq!(line.settings.config().unwrap(), *config, "{printed}");
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
        train_command(&best, None),
        "inkling train --preset best --epochs 32 --batch-size 128"
    );
    let without = RunConfig {
        weight_averaging: None,
        nesterov: false,
        ..best
    };
    assert_eq!(
        train_command(&without, None),
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
        let mut definition = Definition {
            trials: Some(2),
            ..Definition::of(base)
        };
        definition
            .set(SettingRange::parse("momentum=0.5..0.9").unwrap())
            .unwrap();
        drop(Sweep::create(&home.path().join(folder), definition).unwrap());
        let output = succeed(&home, &["sweep", "--resume", folder, "--json"]);
        let best = objects(&output).pop().unwrap()["best"].take();
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
