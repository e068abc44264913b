//! The command that trains a configuration, as it can be pasted into a shell: [`super::settings`]
//! the other way round.

use std::path::Path;

use super::format::quoted;
use crate::run_config::{Kind, Preset, RunConfig, Setting};

/// The command that trains these settings as a single run: with the preset that leaves the fewest
/// options.
pub fn train_command(config: &RunConfig, data_dir: Option<&Path>) -> String {
    let by_preset = Preset::ALL.iter().map(|&preset| options(config, preset));
    let mut words = vec!["inkling train".to_owned()];
    words.extend(data_dir.map(|folder| format!("--data-dir {}", quoted(folder))));
    words.extend(by_preset.min_by_key(Vec::len).unwrap_or_default());
    words.join(" ")
}

/// The options that give these settings.
fn options(config: &RunConfig, preset: Preset) -> Vec<String> {
    let mut base = RunConfig::preset(preset);
    if let Some(file) = &config.initial_weights {
        // The file has its network and activation.
        base = RunConfig {
            model: config.model,
            widths: config.widths,
            layers: config.layers,
            activation: config.activation,
            initial_weights: None,
            ..base.further(file.clone())
        };
    }
    let option = |&setting: &Setting| {
        let text = setting.text(config);
        let is_named = match setting {
            // What is not named is fitted to little data.
            Setting::Epochs | Setting::BatchSize => true,
            // It is one run.
            Setting::Repeats => false,
            _ => text != setting.text(&base),
        };
        let value = if setting.row().kind == Kind::Switch && text == "on" {
            String::new()
        } else {
            format!(" {}", quoted(Path::new(&text)))
        };
        is_named.then(|| format!("--{setting}{value}"))
    };
    [format!("--preset {preset}")]
        .into_iter()
        .chain(Setting::ALL.iter().filter_map(option))
        .collect()
}
