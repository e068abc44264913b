//! A configuration as the command that trains it: one line to paste into a shell, a message or the
//! window, and back.

use std::path::Path;

use super::setting::Kind;
use super::{ModelKind, Preset, RunConfig, Setting};
use crate::text::visible::quoted;

/// The reason why a line is not a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseCommandError(String);

impl RunConfig {
    /// The command that trains these settings as a single run: with the preset that leaves the
    /// fewest options.
    pub fn command(&self, data_dir: Option<&Path>) -> String {
        let by_preset = Preset::ALL.iter().map(|&preset| options(self, preset));
        let mut words = vec!["inkling train".to_owned()];
        words.extend(data_dir.map(|folder| format!("--data-dir {}", quoted(folder))));
        words.extend(by_preset.min_by_key(Vec::len).unwrap_or_default());
        words.join(" ")
    }

    /// The settings of such a command. What it does not name is as in its preset, or in Balanced.
    pub fn from_command(line: &str) -> Result<Self, ParseCommandError> {
        let problem = |what: String| Err(ParseCommandError(what));
        let Some(words) = shlex::split(line) else {
            return problem("A quotation mark has no end.".to_owned());
        };
        let mut words = words.into_iter().peekable();
        for name in ["inkling", "train"] {
            words.next_if(|word| word == name);
        }
        let mut given = Vec::new();
        let mut preset = Preset::Balanced;
        while let Some(word) = words.next() {
            let Some(option) = word.strip_prefix("--") else {
                return problem(format!("“{word}” is not an option. Options begin with --."));
            };
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, words.next_if(|word| !word.starts_with("--"))),
            };
            if name == "preset" {
                let value = value.unwrap_or_default();
                preset = match value.parse() {
                    Ok(preset) => preset,
                    Err(_) => return problem(format!("“{value}” is not a preset.")),
                };
                continue;
            }
            match Setting::parse(name) {
                Ok(setting) if setting != Setting::InitialWeights => given.push((setting, value)),
                _ => return problem(format!("There is no setting --{name}.")),
            }
        }
        let mut config = Self::preset(preset);
        // Widths and layers belong to the network.
        given.sort_by_key(|(setting, _)| *setting != Setting::Network);
        let names_network = given
            .iter()
            .any(|(setting, _)| *setting == Setting::Network);
        for (setting, value) in given {
            if setting == Setting::Layers && !names_network {
                config.model = ModelKind::Cnn;
            }
            if setting == Setting::Network {
                (config.widths, config.layers) = (None, None);
            }
            let is_switch = setting.row().kind == Kind::Switch;
            let value = value.unwrap_or_else(|| if is_switch { "on" } else { "" }.to_owned());
            if let Err(wanted) = setting.set(&mut config, &value) {
                return problem(format!("--{setting} is {wanted}, not “{value}”."));
            }
        }
        config.preset = config.matching_preset();
        Ok(config)
    }
}

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
