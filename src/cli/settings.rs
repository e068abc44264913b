//! The options for what a run computes, for every subcommand that trains.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};

use super::arguments::{model_file, path_or_run, preset};
use super::devices;
use super::engine::data_folders;
use super::failure::Failure;
use super::output::note;
use crate::data::small_training_set;
use crate::nn::ModelFile;
use crate::problem::Message;
use crate::run_config::{Chosen, Kind, ModelKind, Preset, RunConfig, Setting};
use crate::system::files::read_limited;
use crate::system::paths::Paths;
use crate::text::visible;

/// The largest file of settings that is read: a run's summary holds the images that were
/// misclassified.
const MAX_BYTES: u64 = 64 << 20;

/// The settings of a run.
#[derive(Debug, clap::Args)]
pub struct Settings {
    /// Folder to search for data sets before the usual ones [with --resume: as before]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Take the settings of a run instead of a preset: its folder, run.json or title, or latest;
    /// all other options override them
    #[arg(
        id = "config_file",
        long = "config",
        value_name = "RUN",
        conflicts_with = "preset"
    )]
    file: Option<PathBuf>,
    /// Base settings; all other options override them
    #[arg(long, value_name = "NAME", default_value = "balanced", ignore_case = true, value_parser = preset())]
    pub preset: Preset,
    #[command(flatten)]
    given: Given,
}

/// The settings that options give, each with its value, in the order of the table.
#[derive(Debug)]
struct Given(Vec<(Setting, String)>);

/// How the option that turns Nesterov momentum off was called before.
const NO_NESTEROV: &str = "no-nesterov";
/// The batch size that stands for growing batches, with `:N` behind it for N in the first epoch.
const AUTO: &str = "auto";

/// The settings that every command that trains has an option for.
fn with_options() -> impl Iterator<Item = Setting> {
    let all = Setting::ALL.iter().copied();
    all.filter(|setting| *setting != Setting::Repeats)
}

/// The options that choose the settings of a new run: one that is resumed or reproduced has its
/// own.
pub fn of_a_new_run() -> Vec<&'static str> {
    with_options()
        .map(Setting::row)
        .filter(|row| !row.is_of_machine)
        .map(|row| row.name)
        .chain([NO_NESTEROV, "config_file", "preset"])
        .collect()
}

pub fn option(setting: Setting) -> Arg {
    let row = setting.row();
    let option = Arg::new(row.name)
        .long(row.name)
        .aliases(row.former)
        .value_name(row.value_name)
        .help(row.help.trim_end_matches('.'))
        .allow_negative_numbers(row.kind.is_number())
        .conflicts_with_all(row.excludes.map(|other| other.row().name));
    match row.kind {
        Kind::Choice | Kind::Switch => {
            let names = setting.choices().into_iter().map(|(name, _)| name);
            let option = option
                .ignore_case(true)
                .value_parser(PossibleValuesParser::new(names).map(|name| name.to_lowercase()));
            if row.kind == Kind::Switch {
                option.num_args(0..=1).default_missing_value("on")
            } else {
                option
            }
        }
        Kind::Real | Kind::Whole | Kind::Text => option.value_parser(move |text: &str| {
            if setting == Setting::BatchSize && text == AUTO {
                return Ok(text.to_owned());
            }
            let tried = first_of_growing(setting, text).unwrap_or(text);
            setting
                .set(&mut RunConfig::default(), tried)
                .map(|()| text.to_owned())
                .map_err(|wanted| format!("choose {wanted}"))
        }),
    }
}

/// The batch size of the first epoch, if batches grow: the preset's if
/// none is given.
fn first_of_growing(setting: Setting, text: &str) -> Option<&str> {
    let rest = (setting == Setting::BatchSize).then(|| text.strip_prefix(AUTO))??;
    rest.strip_prefix(':').or(rest.is_empty().then_some(rest))
}

impl clap::Args for Given {
    fn augment_args(command: Command) -> Command {
        command.args(with_options().map(option)).arg(
            Arg::new(NO_NESTEROV)
                .long(NO_NESTEROV)
                .hide(true)
                .action(ArgAction::SetTrue)
                .conflicts_with(Setting::Nesterov.row().name),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |setting: Setting| {
            let text = matches.get_one::<String>(setting.row().name)?;
            Some((setting, text.clone()))
        };
        let mut all: Vec<(Setting, String)> = with_options().filter_map(given).collect();
        if matches.get_flag(NO_NESTEROV) {
            all.push((Setting::Nesterov, "off".to_owned()));
        }
        Ok(Self(all))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Given {
    fn text(&self, wanted: Setting) -> Option<&str> {
        let mut given = self.0.iter();
        given
            .find(|(setting, _)| *setting == wanted)
            .map(|(_, text)| text.as_str())
    }

    /// Puts the values of these settings into a configuration.
    fn apply(
        &self,
        config: &mut RunConfig,
        wanted: impl Fn(Setting) -> bool,
    ) -> Result<(), Failure> {
        for (setting, text) in self.0.iter().filter(|(setting, _)| wanted(*setting)) {
            let text = match first_of_growing(*setting, text) {
                Some(first) => {
                    config.growing_batches = true;
                    if first.is_empty() {
                        continue;
                    }
                    first
                }
                None => text,
            };
            setting.set(config, text).map_err(|wanted| {
                Failure::Usage(format!(
                    "{text} is not a value of --{setting}: choose {wanted}."
                ))
            })?;
        }
        Ok(())
    }
}

impl Settings {
    /// The settings of the run, fitted to its data if that is little; what was changed is printed.
    /// Not checked yet.
    pub fn fitted_config(&self) -> Result<RunConfig, Failure> {
        let config = self.config()?;
        let folders = data_folders(self.data_dir.clone(), &Paths::find())?;
        // What a file of settings says was chosen, too.
        let from_file = self.file.is_some();
        let chosen = Chosen {
            batch_size: from_file
                || self
                    .given
                    .text(Setting::BatchSize)
                    .is_some_and(|size| size != AUTO),
            epochs: from_file || self.given.text(Setting::Epochs).is_some(),
        };
        let few = small_training_set(&config.data, &folders);
        let Some(images) = few.or_else(|| config.training_images.map(u64::from)) else {
            return Ok(config);
        };
        let images = config.images_used(images);
        let Some(fitted) = config.fit_to(images, chosen) else {
            return Ok(config);
        };
        note(&Message::fitted_to_small_data(&config, &fitted, images).to_string());
        Ok(fitted)
    }

    /// The settings of the run, checked, with the device that they will be computed on.
    pub fn checked_config(&self) -> Result<RunConfig, Failure> {
        checked(self.config()?)
    }

    /// The same, fitted to its data if that is little.
    pub fn checked_fitted_config(&self) -> Result<RunConfig, Failure> {
        checked(self.fitted_config()?)
    }

    /// The settings of the run, not checked yet.
    pub fn config(&self) -> Result<RunConfig, Failure> {
        let mut config = match &self.file {
            Some(path) => config_in(path)?,
            None => RunConfig::preset(self.preset),
        };
        if let Some(path) = self.given.text(Setting::InitialWeights) {
            let path = model_file(Path::new(path))?;
            let card = ModelFile::load(&path)?.card;
            let path = std::path::absolute(&path).unwrap_or(path);
            config = RunConfig {
                model: card.model,
                widths: card.config.widths,
                layers: card.config.layers,
                activation: card.config.activation,
                ..config.further(path)
            };
        }
        let model = config.model;
        self.given
            .apply(&mut config, |setting| setting == Setting::Network)?;
        // Only a CNN has layers to choose.
        if self.given.text(Setting::Layers).is_some() && self.given.text(Setting::Network).is_none()
        {
            config.model = ModelKind::Cnn;
        }
        // The widths of another network do not fit this one.
        if config.model != model {
            (config.widths, config.layers) = (None, None);
        }
        self.given.apply(&mut config, |setting| {
            !matches!(setting, Setting::Network | Setting::InitialWeights)
        })?;
        if self.given.text(Setting::Data).is_some() {
            // A run is evaluated and reproduced from other folders, too.
            config.data = config
                .data
                .located(&std::env::current_dir().unwrap_or_default());
        }
        config.preset = config.matching_preset();
        Ok(config)
    }

    /// The settings of an earlier run, with what the options say about how this machine computes.
    pub fn of_this_machine(&self, mut config: RunConfig) -> Result<RunConfig, Failure> {
        self.given
            .apply(&mut config, |setting| setting.row().is_of_machine)?;
        Ok(config)
    }
}

/// These settings with the device that they will be computed on; an error if they cannot be.
fn checked(config: RunConfig) -> Result<RunConfig, Failure> {
    let problems = config.problems();
    if !problems.is_empty() {
        return Err(Failure::of_config(&problems));
    }
    Ok(RunConfig {
        device: devices::resolve(config.device, config.precision)?,
        ..config
    })
}

/// The settings in a run's `run.json`, or in a file of settings alone; of a repetition, the
/// settings of a single run.
fn config_in(path: &Path) -> Result<RunConfig, Failure> {
    let mut path = path_or_run(path)?;
    if path.is_dir() {
        path.push("run.json");
    }
    let failed = |reason: String| {
        Failure::Failed(format!(
            "The settings in {} cannot be read: {reason}",
            visible::path(&path)
        ))
    };
    let bytes = read_limited(&path, MAX_BYTES).map_err(|error| failed(format!("{error}.")))?;
    let mut found: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| failed(format!("{error}.")))?;
    if let Some(config) = found.get_mut("config") {
        found = config.take();
    }
    // What a file leaves out is plain, so that any object would do.
    if found.get("model").is_none() || found.get("epochs").is_none() {
        return Err(failed(
            "there are none in it. Name the run.json of a run.".to_owned(),
        ));
    }
    let config: RunConfig =
        serde_json::from_value(found).map_err(|error| failed(format!("{error}.")))?;
    Ok(RunConfig {
        repeats: 1,
        repetition: None,
        ..config
    })
}
