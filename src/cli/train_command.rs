//! The command that trains a configuration, as it can be pasted into a shell: [`super::settings`]
//! the other way round.

use std::fmt::Display;
use std::path::Path;

use super::format::quoted;
use crate::run_config::{DataSpec, Preset, RunConfig};

/// The command that trains these settings as a single run: with the preset that leaves the fewest
/// options.
pub fn train_command(config: &RunConfig, data_dir: Option<&Path>) -> String {
    let by_preset = Preset::ALL
        .iter()
        .filter_map(|&preset| options(config, preset));
    let shortest = by_preset.min_by_key(Vec::len).unwrap_or_default();
    let mut words = vec!["inkling train".to_owned()];
    if config.data != DataSpec::builtin() {
        words.push(format!(
            "--data {}",
            quoted(Path::new(&config.data.to_string()))
        ));
    }
    words.extend(data_dir.map(|folder| format!("--data-dir {}", quoted(folder))));
    words.extend(shortest);
    words.join(" ")
}

/// The options that give these settings, but for the data; `None` where none can take away what the
/// preset has.
fn options(config: &RunConfig, preset: Preset) -> Option<Vec<String>> {
    // All fields by name, so that a new one cannot be forgotten.
    let RunConfig {
        // They follow from the others.
        version: _,
        preset: _,
        // It is one run.
        repeats: _,
        repetition: _,
        // The same for all presets.
        data: _,
        model,
        widths,
        layers,
        activation,
        initial_weights,
        initialization,
        epochs,
        batch_size,
        growing_batches,
        precision,
        device,
        optimizer,
        learning_rate,
        weight_decay,
        momentum,
        nesterov,
        activation_checkpointing,
        autotune,
        schedule,
        label_smoothing,
        clip_norm,
        accumulation,
        weight_averaging,
        early_stopping,
        augmentation,
        seed,
        threads,
        memory_limit,
    } = config;
    let mut options = Options {
        words: vec![format!("--preset {preset}")],
        is_possible: true,
    };
    let mut base = RunConfig::preset(preset);
    if let Some(file) = initial_weights {
        options.words.push(format!("--from {}", quoted(file)));
        // The file has its network and activation.
        base = RunConfig {
            model: *model,
            widths: *widths,
            layers: *layers,
            activation: *activation,
            initialization: *initialization,
            ..base.further(file.clone())
        };
    }
    options.value("model", *model, base.model);
    options.optional("widths", *widths, base.widths);
    options.optional("layers", *layers, base.layers);
    options.value("activation", *activation, base.activation);
    options.value("init", *initialization, base.initialization);
    // What is not named is fitted to little data.
    options.words.push(format!("--epochs {epochs}"));
    options.words.push(format!(
        "--batch-size {}{batch_size}",
        if *growing_batches { "auto:" } else { "" }
    ));
    options.value("precision", *precision, base.precision);
    options.value("device", *device, base.device);
    options.value("optimizer", *optimizer, base.optimizer);
    options.value("lr", *learning_rate, base.learning_rate);
    options.value("schedule", *schedule, base.schedule);
    options.value("weight-decay", *weight_decay, base.weight_decay);
    options.value("momentum", *momentum, base.momentum);
    options.flag("no-nesterov", !nesterov, !base.nesterov);
    options.value("label-smoothing", *label_smoothing, base.label_smoothing);
    options.optional("clip-norm", *clip_norm, base.clip_norm);
    options.value("accumulation", *accumulation, base.accumulation);
    options.optional("weight-averaging", *weight_averaging, base.weight_averaging);
    options.optional("early-stopping", *early_stopping, base.early_stopping);
    options.value("augmentation", *augmentation, base.augmentation);
    options.value("seed", *seed, base.seed);
    options.optional("threads", *threads, base.threads);
    options.flag(
        "checkpoint-activations",
        *activation_checkpointing,
        base.activation_checkpointing,
    );
    options.flag("autotune", *autotune, base.autotune);
    options.optional("memory-limit", *memory_limit, base.memory_limit);
    options.is_possible.then_some(options.words)
}

struct Options {
    words: Vec<String>,
    /// False once one would have to take something away.
    is_possible: bool,
}

impl Options {
    fn value<T: Copy + PartialEq + Display>(&mut self, name: &str, value: T, base: T) {
        self.optional(name, Some(value), Some(base));
    }

    fn optional<T: Copy + PartialEq + Display>(
        &mut self,
        name: &str,
        value: Option<T>,
        base: Option<T>,
    ) {
        match value {
            Some(value) if base != Some(value) => self.words.push(format!("--{name} {value}")),
            None if base.is_some() => self.is_possible = false,
            _ => {}
        }
    }

    fn flag(&mut self, name: &str, value: bool, base: bool) {
        match (value, base) {
            (true, false) => self.words.push(format!("--{name}")),
            (false, true) => self.is_possible = false,
            _ => {}
        }
    }
}
