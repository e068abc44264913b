//! The settings of a run: plain, versioned, validated data that a person, a script or a saved file
//! can state. Depends on no other module.

mod choices;
mod classes;
mod command;
mod data_spec;
mod error;
mod layers;
mod network;
mod presets;
mod setting;
mod settings;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use choices::{
    Activation, Augmentation, DatasetFormat, DeviceChoice, EvaluationSplit, ExportFormat,
    InferenceChoice, Initialization, ModelKind, OptimizerKind, Precision, Preset, ScheduleKind,
    UnknownChoiceError, WeightFormat,
};
pub use classes::{CLASS_COUNTS, ClassNames, Classes, ClassesError, MAX_LABEL};
pub use command::ParseCommandError;
pub use data_spec::{DataSource, DataSpec, PublicDataset, data_set_names, similar_names};
pub use error::{ConfigError, MAX_PARAMETERS, layers_hint, widths_hint};
pub use layers::{
    HiddenLayer, HiddenLayers, LayerOutput, MAX_HIDDEN_LAYERS, MAX_KERNEL, MAX_STRIDE,
    ParseLayersError,
};
pub use network::{MAX_WIDTH, Network, ParseWidthsError, Widths};
pub use presets::{Chosen, Repetition};
pub use setting::{Kind, Range, Row, Section, Trials, differing_settings};
pub use settings::{Setting, settings_page};

/// The version written into saved configurations; newer ones are refused.
pub const VERSION: u32 = 1;

/// The divisor of the learning rate for a run that starts from trained weights.
const FURTHER_DIVISOR: f64 = 10.0;

/// Everything that decides what a run computes. The same configuration, machine and thread count
/// give the same weights.
///
/// A setting that a file leaves out is plain, not the default preset's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default = "RunConfig::plain")]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate setting")]
pub struct RunConfig {
    /// Format version of this structure.
    pub version: u32,
    /// The data set or the mix of sets to learn from.
    pub data: DataSpec,
    /// The preset this started from, if it still matches one.
    pub preset: Option<Preset>,
    /// The network.
    pub model: ModelKind,
    /// How wide its hidden layers are; `None` for the widths of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub widths: Option<Widths>,
    /// Hidden layers of the person's choice, if the model is `cnn`; `None` for the usual ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<HiddenLayers>,
    /// The nonlinearity between its layers.
    pub activation: Activation,
    /// The model file whose weights it starts from; without one it starts from chance. Network and
    /// activation are then the file's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_weights: Option<PathBuf>,
    /// How the weights are initialized if none are given.
    #[serde(skip_serializing_if = "is_default")]
    pub initialization: Initialization,
    /// Passes over the training images.
    pub epochs: u32,
    /// Images per optimizer step.
    pub batch_size: u32,
    /// Whether batches grow from epoch to epoch as far as the gradient noise scale allows;
    /// `batch_size` is the first epoch's.
    #[serde(skip_serializing_if = "is_default")]
    pub growing_batches: bool,
    /// Number format of the products.
    pub precision: Precision,
    /// Where to train.
    pub device: DeviceChoice,
    /// How weights follow gradients.
    pub optimizer: OptimizerKind,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Weight decay per step, scaled by the learning rate; never on biases and norms. Part of the
    /// gradient for `adam`, a Gaussian prior for `sgld` and `psgld`, decoupled for the others.
    pub weight_decay: f64,
    /// The fraction of SGD's velocity that is kept from step to step.
    pub momentum: f64,
    /// Whether SGD's momentum is Nesterov's.
    pub nesterov: bool,
    /// Whether only some activations are kept for the backward pass, which computes the others
    /// again: less memory for more time.
    #[serde(skip_serializing_if = "is_default")]
    pub activation_checkpointing: bool,
    /// Whether an NVIDIA GPU tries several algorithms for each matrix multiplication and uses the
    /// fastest. They round differently. It has no effect on other devices.
    #[serde(skip_serializing_if = "is_default")]
    pub autotune: bool,
    /// How the learning rate moves.
    pub schedule: ScheduleKind,
    /// The probability that the loss spreads evenly over all classes instead of giving it to the
    /// label.
    pub label_smoothing: f64,
    /// The global norm gradients are scaled down to when it is exceeded.
    pub clip_norm: Option<f64>,
    /// Batches whose gradients are gathered before one optimizer step.
    pub accumulation: u32,
    /// Decay per step of the running average of the weights; the average is what is validated and
    /// kept.
    pub weight_averaging: Option<f64>,
    /// Ends the run after this many epochs in a row without a better validation (a higher accuracy,
    /// or the same with a lower loss), and keeps the best epoch's weights.
    pub early_stopping: Option<u32>,
    /// How training images are varied each time they are seen.
    pub augmentation: Augmentation,
    /// How many of the training images are used; `None` means all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_images: Option<u32>,
    /// Whether the test images are not read, so that they cannot influence any choice.
    #[serde(skip_serializing_if = "is_default")]
    pub sealed_test: bool,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Worker threads; `None` means one per core.
    pub threads: Option<u32>,
    /// The most memory the program is to hold on the processor, in MiB; parts of a batch are made
    /// smaller to keep to it.
    pub memory_limit: Option<u32>,
    /// How many runs are trained with these settings, each with the next seed.
    #[serde(skip_serializing_if = "is_one")]
    pub repeats: u32,
    /// Which of them this is; `None` until they are started, and for a single run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetition: Option<Repetition>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_one(number: &u32) -> bool {
    *number == 1
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for RunConfig {
    fn default() -> Self {
        Self::preset(Preset::Balanced)
    }
}

impl RunConfig {
    /// Whether the weights after each of the last epochs are samples from their posterior: with
    /// Langevin dynamics, if no average of the weights takes their place.
    pub const fn samples_posterior(&self) -> bool {
        matches!(self.optimizer, OptimizerKind::Sgld | OptimizerKind::Psgld)
            && self.weight_averaging.is_none()
    }

    /// One epoch on the built-in data with nothing special about it.
    fn plain() -> Self {
        Self {
            version: VERSION,
            data: DataSpec::builtin(),
            preset: None,
            model: ModelKind::Speedrun,
            widths: None,
            layers: None,
            activation: Activation::Relu,
            initial_weights: None,
            initialization: Initialization::Random,
            epochs: 1,
            batch_size: 128,
            precision: Precision::F32,
            device: DeviceChoice::Auto,
            optimizer: OptimizerKind::AdamW,
            learning_rate: 3e-3,
            weight_decay: 0.0,
            momentum: 0.9,
            nesterov: true,
            activation_checkpointing: false,
            autotune: false,
            growing_batches: false,
            schedule: ScheduleKind::OneCycle,
            label_smoothing: 0.0,
            clip_norm: None,
            accumulation: 1,
            weight_averaging: None,
            early_stopping: None,
            augmentation: Augmentation::Off,
            training_images: None,
            sealed_test: false,
            seed: 1,
            threads: None,
            memory_limit: None,
            repeats: 1,
            repetition: None,
        }
    }

    /// Network and data: "LeNet-5 on MNIST".
    pub fn title(&self) -> String {
        format!("{} on {}", self.network().label(), self.data.label())
    }

    /// How many of so many training images are used, without those for validation.
    pub fn images_used(&self, available: u64) -> u64 {
        let wanted = self.training_images.map_or(available, u64::from);
        wanted.min(available)
    }

    pub fn network(&self) -> Network {
        Network::new(self.model, self.widths).with_layers(self.layers)
    }

    pub fn set_network(&mut self, network: Network) {
        (self.model, self.widths, self.layers) = (
            network.model(),
            network.chosen_widths(),
            network.chosen_layers(),
        );
    }

    /// The run that trains this model further: the same settings, from its weights, at a tenth of
    /// the learning rate, so that what it knows is not shaken out of it.
    #[must_use]
    pub fn further(self, model_file: PathBuf) -> Self {
        Self {
            data: self.data.or_builtin(),
            preset: None,
            learning_rate: self.learning_rate / FURTHER_DIVISOR,
            initial_weights: Some(model_file),
            ..self
        }
    }

    /// The same for other people's eyes: of folders and files of this machine only the names are
    /// left.
    #[must_use]
    pub fn without_folders(&self) -> Self {
        let name = |path: &PathBuf| path.file_name().map_or_else(|| path.clone(), PathBuf::from);
        Self {
            data: self.data.without_folders(),
            initial_weights: self.initial_weights.as_ref().map(name),
            ..self.clone()
        }
    }

    /// Everything wrong with these values by themselves, one entry per field; empty means valid.
    pub fn problems(&self) -> Vec<ConfigError> {
        let newer = (self.version > VERSION).then_some(ConfigError::NewerVersion {
            version: self.version,
        });
        let out_of_range = Setting::ALL.iter().filter_map(|&setting| {
            let (given, range) = (setting.number(self)?, setting.row().range?);
            (!range.contains(given)).then(|| ConfigError::OutOfRange {
                setting,
                given: given.to_string(),
            })
        });
        let other_depth = self
            .widths
            .filter(|widths| !self.model.width_counts().contains(&widths.values().len()));
        let widths = other_depth.map(|given| ConfigError::Widths {
            model: self.model,
            given,
        });
        let layers = self
            .layers
            .filter(|_| self.model != ModelKind::Cnn)
            .map(|given| ConfigError::Layers {
                model: self.model,
                given: given.to_string(),
            });
        let fixed =
            (!self.model.is_trainable()).then_some(ConfigError::NotTrainable { model: self.model });
        newer
            .into_iter()
            .chain(fixed)
            .chain(self.data.problem())
            .chain(widths)
            .chain(layers)
            .chain(out_of_range)
            .collect()
    }

    /// The most memory it may take, in bytes.
    pub fn memory_limit_bytes(&self) -> Option<u64> {
        self.memory_limit
            .map(|mebibytes| u64::from(mebibytes) << 20)
    }
}
