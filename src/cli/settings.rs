//! The options that say what a run computes, for every subcommand that trains.

use std::num::ParseIntError;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::arguments::{choice, model_file, preset};
use super::devices;
use super::engine::data_folders;
use super::failure::Failure;
use super::output::note;
use crate::data::small_training_set;
use crate::nn::ModelFile;
use crate::run_config::{
    Activation, Augmentation, Chosen, CnnLayers, DataSpec, DeviceChoice, Initialization, ModelKind,
    OptimizerKind, Precision, Preset, RunConfig, ScheduleKind, Widths,
};
use crate::system::files::read_limited;
use crate::system::paths::Paths;
use crate::text::visible;
use crate::window::messages::Message;

/// The largest file of settings that is read: a run's summary holds the images that were
/// misclassified.
const MAX_BYTES: u64 = 64 << 20;

/// The settings of a run.
#[derive(Debug, clap::Args)]
pub struct Settings {
    /// Training data: builtin, mine, mnist, fashion-mnist, kmnist, emnist-digits, emnist-letters, a
    /// path, or several joined with + [default: builtin]
    #[arg(long, value_name = "DATA")]
    pub data: Option<DataSpec>,
    /// Folder to search for data sets before the usual ones [with --resume: as before]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Take the settings of a run from its folder or its run.json instead of a preset; all other
    /// options override them
    #[arg(
        id = "config_file",
        long = "config",
        value_name = "PATH",
        conflicts_with = "preset"
    )]
    pub file: Option<PathBuf>,
    /// Base settings; all other options override them
    #[arg(long, value_name = "NAME", default_value = "balanced", ignore_case = true, value_parser = preset())]
    pub preset: Preset,
    /// Network to train
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<ModelKind>(ModelKind::ALL.iter().map(|c| c.name())))]
    pub model: Option<ModelKind>,
    /// Widths of the hidden layers, such as 128-64; an MLP has as many layers as there are widths
    /// [default: those of the network]
    #[arg(long, value_name = "N-N-…")]
    pub widths: Option<Widths>,
    /// Layers of a CNN, such as 32C3-MP2-64C3-MP2-128: convolutions of 32 and 64 filters of 3x3
    /// (32C3P1: with a padding of 1), each followed by 2x2 max pooling, and a dense layer of 128
    /// neurons [default: 32C3-MP2-64C3-MP2]
    #[arg(long, value_name = "L-L-…", conflicts_with = "widths")]
    pub layers: Option<CnnLayers>,
    /// Model file or folder of a run to start from: its weights, network and activation are used
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Activation function between layers
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<Activation>(Activation::ALL.iter().map(|c| c.name())))]
    pub activation: Option<Activation>,
    /// How the weights are initialised
    #[arg(long, value_name = "NAME", ignore_case = true, conflicts_with = "from", value_parser = choice::<Initialization>(Initialization::ALL.iter().map(|c| c.name())))]
    pub init: Option<Initialization>,
    /// Passes over the training set
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub epochs: Option<u32>,
    /// Images per batch; auto:N: N at first, and more from epoch to epoch as the gradient noise
    /// scale allows; auto: those of the preset at first
    #[arg(long, value_name = "N|auto[:N]", allow_negative_numbers = true)]
    pub batch_size: Option<BatchSize>,
    /// Number format of matrix products
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<Precision>(Precision::ALL.iter().map(|c| c.name())))]
    pub precision: Option<Precision>,
    /// Device to train on
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<DeviceChoice>(DeviceChoice::ALL.iter().map(|c| c.name())))]
    pub device: Option<DeviceChoice>,
    /// Optimiser
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<OptimizerKind>(OptimizerKind::ALL.iter().map(|c| c.name())))]
    pub optimizer: Option<OptimizerKind>,
    /// Peak learning rate
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub lr: Option<f64>,
    /// Learning-rate schedule
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<ScheduleKind>(ScheduleKind::ALL.iter().map(|c| c.name())))]
    pub schedule: Option<ScheduleKind>,
    /// Weight decay per step, scaled by the learning rate
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub weight_decay: Option<f64>,
    /// Momentum (SGD)
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub momentum: Option<f64>,
    /// Use plain instead of Nesterov momentum (SGD)
    #[arg(long)]
    pub no_nesterov: bool,
    /// Share of the target probability that is spread over all classes
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub label_smoothing: Option<f64>,
    /// Clip gradients to this global norm
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub clip_norm: Option<f64>,
    /// Batches whose gradients are accumulated before each optimiser step
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub accumulation: Option<u32>,
    /// Average the weights over steps with this decay per step, such as 0.999
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub weight_averaging: Option<f64>,
    /// Stop after N epochs without a better validation result, and keep the best weights
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub early_stopping: Option<u32>,
    /// How strongly training images are augmented
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<Augmentation>(Augmentation::ALL.iter().map(|c| c.name())))]
    pub augmentation: Option<Augmentation>,
    /// Random seed
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<u32>,
    /// Keep only some activations for the backward pass and compute the others again: less memory,
    /// more time
    #[arg(long)]
    pub checkpoint_activations: bool,
    /// Try several algorithms for each matrix product on an NVIDIA GPU and use the fastest; without
    /// this, runs are reproducible bit for bit
    #[arg(long)]
    pub autotune: bool,
    /// Memory limit in MiB; batches are split into micro-batches to stay below it
    #[arg(long, value_name = "MIB")]
    pub memory_limit: Option<u32>,
}

/// What `--batch-size` is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSize {
    /// So many images throughout.
    Images(u32),
    /// So many at first, or those of the preset, and more from epoch to epoch.
    Growing(Option<u32>),
}

impl FromStr for BatchSize {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.to_ascii_lowercase().strip_prefix("auto") {
            Some("") => Ok(Self::Growing(None)),
            Some(first) => first
                .strip_prefix(':')
                .unwrap_or(text)
                .parse()
                .map(|images| Self::Growing(Some(images))),
            None => text.parse().map(Self::Images),
        }
    }
}

impl Settings {
    /// The settings of the run, fitted to its data where that is little; what was changed is said.
    /// Not checked yet.
    pub fn fitted_config(&self) -> Result<RunConfig, Failure> {
        let config = self.config()?;
        let folders = data_folders(self.data_dir.clone(), &Paths::find())?;
        // What a file of settings says was chosen, too.
        let from_file = self.file.is_some();
        let chosen = Chosen {
            batch_size: matches!(
                self.batch_size,
                Some(BatchSize::Images(_) | BatchSize::Growing(Some(_)))
            ) || from_file,
            epochs: self.epochs.is_some() || from_file,
        };
        let Some(images) = small_training_set(&config.data, &folders) else {
            return Ok(config);
        };
        let Some(fitted) = config.fit_to(images, chosen) else {
            return Ok(config);
        };
        note(&Message::fitted_to_small_data(&config, &fitted, images).to_string());
        Ok(fitted)
    }

    /// The settings of the run, checked, with the device that they will be computed on.
    pub fn checked_config(&self) -> Result<RunConfig, Failure> {
        let config = self.config()?;
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(Failure::of_config(&problems));
        }
        Ok(RunConfig {
            device: devices::resolve(config.device, config.precision)?,
            ..config
        })
    }

    /// The settings of the run, not checked yet.
    pub fn config(&self) -> Result<RunConfig, Failure> {
        let mut preset = match &self.file {
            Some(path) => config_in(path)?,
            None => RunConfig::preset(self.preset),
        };
        if let Some(path) = &self.from {
            let path = model_file(path)?;
            let card = ModelFile::load(&path)?.card;
            let path = std::path::absolute(&path).unwrap_or(path);
            preset = RunConfig {
                model: card.model,
                widths: card.config.widths,
                layers: card.config.layers,
                activation: card.config.activation,
                ..preset.further(path)
            };
        }
        // A run is evaluated and reproduced from other folders, too.
        let working_folder = std::env::current_dir().unwrap_or_default();
        // Only a CNN has layers to choose.
        let model = self
            .model
            .or(self.layers.map(|_| ModelKind::Cnn))
            .unwrap_or(preset.model);
        let mut config = RunConfig {
            data: self
                .data
                .as_ref()
                .map_or(preset.data, |data| data.located(&working_folder)),
            model,
            // Those of another network do not fit this one.
            widths: self
                .widths
                .or(preset.widths.filter(|_| model == preset.model)),
            layers: self
                .layers
                .or(preset.layers.filter(|_| model == preset.model)),
            activation: self.activation.unwrap_or(preset.activation),
            initialization: self.init.unwrap_or(preset.initialization),
            epochs: self.epochs.unwrap_or(preset.epochs),
            batch_size: match self.batch_size {
                Some(BatchSize::Images(images) | BatchSize::Growing(Some(images))) => images,
                Some(BatchSize::Growing(None)) | None => preset.batch_size,
            },
            growing_batches: match self.batch_size {
                Some(BatchSize::Images(_)) => false,
                Some(BatchSize::Growing(_)) => true,
                None => preset.growing_batches,
            },
            precision: self.precision.unwrap_or(preset.precision),
            device: self.device.unwrap_or(preset.device),
            optimizer: self.optimizer.unwrap_or(preset.optimizer),
            learning_rate: self.lr.unwrap_or(preset.learning_rate),
            schedule: self.schedule.unwrap_or(preset.schedule),
            weight_decay: self.weight_decay.unwrap_or(preset.weight_decay),
            momentum: self.momentum.unwrap_or(preset.momentum),
            nesterov: preset.nesterov && !self.no_nesterov,
            label_smoothing: self.label_smoothing.unwrap_or(preset.label_smoothing),
            clip_norm: self.clip_norm.or(preset.clip_norm),
            accumulation: self.accumulation.unwrap_or(preset.accumulation),
            weight_averaging: self.weight_averaging.or(preset.weight_averaging),
            early_stopping: self.early_stopping.or(preset.early_stopping),
            augmentation: self.augmentation.unwrap_or(preset.augmentation),
            seed: self.seed.unwrap_or(preset.seed),
            threads: self.threads.or(preset.threads),
            memory_limit: self.memory_limit.or(preset.memory_limit),
            activation_checkpointing: self.checkpoint_activations
                || preset.activation_checkpointing,
            autotune: self.autotune || preset.autotune,
            ..preset
        };
        config.preset = config.matching_preset();
        Ok(config)
    }
}

/// The settings in a run's `run.json`, or in a file of settings alone; of a repetition, those of a
/// single run.
fn config_in(path: &Path) -> Result<RunConfig, Failure> {
    let path = &if path.is_dir() {
        path.join("run.json")
    } else {
        path.to_owned()
    };
    let failed = |reason: String| {
        Failure::Failed(format!(
            "The settings in {} cannot be read: {reason}",
            visible::path(path)
        ))
    };
    let bytes = read_limited(path, MAX_BYTES).map_err(|error| failed(format!("{error}.")))?;
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
