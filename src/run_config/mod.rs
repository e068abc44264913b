//! Owns what a run is: plain, versioned, validated data that a person, a script or a saved file can state.
//! Must not know how any part of it is carried out.

mod choices;
mod data_spec;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use choices::{
    Activation, Augmentation, DeviceChoice, ExportFormat, ModelKind, OptimizerKind, Precision, Preset, ReadingChoice, ScheduleKind,
    UnknownChoice, WeightFormat,
};
pub use data_spec::{DataSource, DataSpec, NamedSet};

/// The version written into saved configurations; older ones are read, newer ones refused.
pub const VERSION: u32 = 2;

/// What the learning rate is multiplied by for a run that starts from trained weights.
pub const FURTHER_RATE: f64 = 0.1;

/// Everything that decides what a run computes. The same configuration, machine and thread count give the same weights.
///
/// What a file leaves out is plain, not the default preset's: a file of an older version means what it meant when it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default = "RunConfig::plain")]
pub struct RunConfig {
    /// Format version of this structure.
    pub version: u32,
    /// The data set or the mix of sets to learn from.
    pub data: DataSpec,
    /// The preset this started from, if it still matches one.
    pub preset: Option<Preset>,
    /// The network.
    pub model: ModelKind,
    /// The nonlinearity between its layers. What was written before there was a choice has `ReLU`, whatever a preset says.
    #[serde(default)]
    pub activation: Activation,
    /// The model file whose weights it starts from; without one it starts from chance. Network and activation are then those of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_weights: Option<PathBuf>,
    /// Passes over the training images.
    pub epochs: u32,
    /// Images per optimiser step.
    pub batch_size: u32,
    /// Number format of the products.
    pub precision: Precision,
    /// Where to train.
    pub device: DeviceChoice,
    /// How weights follow gradients.
    pub optimizer: OptimizerKind,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Weight decay per step, scaled by the learning rate; never on biases and norms. Part of the gradient for `adam`, a Gaussian
    /// prior for `sgld` and `psgld`, decoupled for the others.
    pub weight_decay: f64,
    /// The share of SGD's velocity that is kept from step to step.
    pub momentum: f64,
    /// Whether SGD's momentum is Nesterov's.
    pub nesterov: bool,
    /// How the learning rate moves.
    pub schedule: ScheduleKind,
    /// The probability that the loss spreads evenly over all digits instead of giving it to the label.
    pub label_smoothing: f64,
    /// The global norm gradients are scaled down to when it is exceeded.
    pub clip_norm: Option<f64>,
    /// Batches whose gradients are gathered before one optimiser step.
    pub accumulation: u32,
    /// Decay per step of the running average of the weights; the average is what is validated and kept.
    pub weight_averaging: Option<f64>,
    /// Ends the run after so many epochs in a row without a better validation (a higher accuracy, or the same with a lower loss), and
    /// keeps the best epoch's weights.
    pub early_stopping: Option<u32>,
    /// How training pictures are changed each time they are seen.
    pub augmentation: Augmentation,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Worker threads; `None` means one per core.
    pub threads: Option<u32>,
    /// The most memory the program is to hold on the processor, in MB of 1024 x 1024 bytes; parts of a batch are made smaller to keep to it.
    pub memory_limit: Option<u32>,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self::preset(Preset::Balanced)
    }
}

impl RunConfig {
    /// One epoch on the built-in data with nothing special about it.
    fn plain() -> Self {
        Self {
            version: VERSION,
            data: DataSpec::builtin(),
            preset: None,
            model: ModelKind::Speedrun,
            activation: Activation::Relu,
            initial_weights: None,
            epochs: 1,
            batch_size: 128,
            precision: Precision::F32,
            device: DeviceChoice::Auto,
            optimizer: OptimizerKind::AdamW,
            learning_rate: 3e-3,
            weight_decay: 0.0,
            momentum: 0.9,
            nesterov: true,
            schedule: ScheduleKind::OneCycle,
            label_smoothing: 0.0,
            clip_norm: None,
            accumulation: 1,
            weight_averaging: None,
            early_stopping: None,
            augmentation: Augmentation::Off,
            seed: 1,
            threads: None,
            memory_limit: None,
        }
    }

    /// The configuration a preset stands for, on the built-in data.
    pub fn preset(preset: Preset) -> Self {
        let base = Self { preset: Some(preset), schedule: ScheduleKind::Cosine, ..Self::plain() };
        // Chosen on a validation split of MNIST's training images, never on its test split.
        match preset {
            Preset::QuickLook => Self { model: ModelKind::Mlp, epochs: 5, schedule: ScheduleKind::OneCycle, ..base },
            Preset::Speedrun => Self { batch_size: 64, learning_rate: 5e-3, label_smoothing: 0.1, ..base },
            Preset::Balanced => Self {
                epochs: 12,
                learning_rate: 6e-3,
                weight_decay: 1e-2,
                label_smoothing: 0.1,
                augmentation: Augmentation::Gentle,
                ..base
            },
            Preset::Best => Self {
                model: ModelKind::ConvNetBn,
                epochs: 32,
                learning_rate: 4e-3,
                weight_decay: 2e-2,
                label_smoothing: 0.1,
                augmentation: Augmentation::Medium,
                weight_averaging: Some(0.998),
                ..base
            },
            Preset::Tiny => Self {
                model: ModelKind::Tiny,
                epochs: 40,
                batch_size: 64,
                learning_rate: 2e-2,
                weight_decay: 3e-3,
                augmentation: Augmentation::Gentle,
                weight_averaging: Some(0.999),
                ..base
            },
        }
    }

    /// The preset whose values these are (data, seed, device, precision, threads and memory limit may differ), if any.
    pub fn matching_preset(&self) -> Option<Preset> {
        let matches = |preset| {
            let mut other = self.clone();
            other.apply_preset(preset);
            Self { version: self.version, preset: self.preset, ..other } == *self
        };
        Preset::ALL.iter().copied().find(|&preset| matches(preset))
    }

    /// Takes the preset's values, keeping data, seed, device, precision, threads, memory limit, and the weights it starts from with their
    /// network.
    pub fn apply_preset(&mut self, preset: Preset) {
        let network = self.initial_weights.take().map(|weights| (weights, self.model, self.activation));
        *self = Self {
            data: self.data.clone(),
            seed: self.seed,
            device: self.device,
            precision: self.precision,
            threads: self.threads,
            memory_limit: self.memory_limit,
            ..Self::preset(preset)
        };
        if let Some((weights, model, activation)) = network {
            (self.initial_weights, self.model, self.activation) = (Some(weights), model, activation);
        }
    }

    /// The run that trains this model further: the same settings, from its weights, at a tenth of the learning rate, so that what it knows
    /// is not shaken out of it at once.
    #[must_use]
    pub fn further(self, model_file: PathBuf) -> Self {
        Self {
            data: self.data.or_builtin(),
            preset: None,
            learning_rate: self.learning_rate * FURTHER_RATE,
            initial_weights: Some(model_file),
            ..self
        }
    }

    /// The same for other people's eyes: of folders and files of this machine only the names are left.
    #[must_use]
    pub fn without_folders(&self) -> Self {
        let name = |path: &PathBuf| path.file_name().map_or_else(|| path.clone(), PathBuf::from);
        Self { data: self.data.without_folders(), initial_weights: self.initial_weights.as_ref().map(name), ..self.clone() }
    }

    /// Everything wrong with these values by themselves, one entry per field; empty means valid.
    pub fn problems(&self) -> Vec<ConfigProblem> {
        use ConfigProblem as P;
        let mut problems = Vec::new();
        if self.version > VERSION {
            problems.push(P::NewerVersion { version: self.version });
        }
        if !(1..=1000).contains(&self.epochs) {
            problems.push(P::Epochs { given: self.epochs });
        }
        if !(1..=8192).contains(&self.batch_size) {
            problems.push(P::BatchSize { given: self.batch_size });
        }
        if !(self.learning_rate.is_finite() && self.learning_rate > 0.0 && self.learning_rate <= 10.0) {
            problems.push(P::LearningRate { given: self.learning_rate.to_string() });
        }
        if !(self.weight_decay.is_finite() && (0.0..=1.0).contains(&self.weight_decay)) {
            problems.push(P::WeightDecay { given: self.weight_decay.to_string() });
        }
        if !(0.0..1.0).contains(&self.momentum) {
            problems.push(P::Momentum { given: self.momentum.to_string() });
        }
        if !(0.0..=0.5).contains(&self.label_smoothing) {
            problems.push(P::LabelSmoothing { given: self.label_smoothing.to_string() });
        }
        if let Some(given) = self.clip_norm.filter(|norm| !(norm.is_finite() && *norm > 0.0)) {
            problems.push(P::ClipNorm { given: given.to_string() });
        }
        if !(1..=1024).contains(&self.accumulation) {
            problems.push(P::Accumulation { given: self.accumulation });
        }
        if let Some(given) = self.weight_averaging.filter(|decay| !(*decay > 0.0 && *decay < 1.0)) {
            problems.push(P::WeightAveraging { given: given.to_string() });
        }
        if let Some(given) = self.early_stopping.filter(|epochs| !(1..=1000).contains(epochs)) {
            problems.push(P::EarlyStopping { given });
        }
        if let Some(given) = self.threads.filter(|threads| !(1..=1024).contains(threads)) {
            problems.push(P::Threads { given });
        }
        if let Some(given) = self.memory_limit.filter(|limit| *limit == 0) {
            problems.push(P::MemoryLimit { given });
        }
        problems
    }

    /// The most memory it may take, in bytes.
    pub fn memory_limit_bytes(&self) -> Option<u64> {
        self.memory_limit.map(|megabytes| u64::from(megabytes) << 20)
    }
}

/// A value no run can have. Numbers that may be NaN travel as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[expect(missing_docs, reason = "each variant names its field and carries what was given")]
pub enum ConfigProblem {
    #[error("configuration version {version} is newer than this program's {VERSION}")]
    NewerVersion { version: u32 },
    #[error("epochs: {given} is not between 1 and 1000")]
    Epochs { given: u32 },
    #[error("batch size: {given} is not between 1 and 8192")]
    BatchSize { given: u32 },
    #[error("batch size: {given} is larger than the {images} training images")]
    BatchLargerThanSet { given: u32, images: u64 },
    #[error("learning rate: {given} is not above 0 and at most 10")]
    LearningRate { given: String },
    #[error("weight decay: {given} is not between 0 and 1")]
    WeightDecay { given: String },
    #[error("momentum: {given} is not at least 0 and below 1")]
    Momentum { given: String },
    #[error("label smoothing: {given} is not between 0 and 0.5")]
    LabelSmoothing { given: String },
    #[error("clip norm: {given} is not above 0")]
    ClipNorm { given: String },
    #[error("accumulation: {given} is not between 1 and 1024")]
    Accumulation { given: u32 },
    #[error("weight averaging: {given} is not above 0 and below 1")]
    WeightAveraging { given: String },
    #[error("early stopping: {given} is not between 1 and 1000")]
    EarlyStopping { given: u32 },
    #[error("threads: {given} is not between 1 and 1024")]
    Threads { given: u32 },
    #[error("memory limit: {given} MB is not above 0")]
    MemoryLimit { given: u32 },
    #[error("the weights in {path} are of another network: {found}, and not {asked}")]
    InitialWeights { path: PathBuf, found: String, asked: String },
    #[error("precision {precision} cannot be used: {reason}")]
    PrecisionUnavailable { precision: Precision, reason: String },
    #[error("device {device} cannot be used: {reason}")]
    DeviceUnavailable { device: DeviceChoice, reason: String },
}
