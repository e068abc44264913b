//! Owns what a run is: plain, versioned, validated data that a person, a script or a saved file can state.
//! Must not know how any part of it is carried out.

mod choices;
mod data_spec;

use serde::{Deserialize, Serialize};

pub use choices::{DeviceChoice, ModelKind, OptimizerKind, Precision, Preset, ScheduleKind, UnknownChoice, WeightFormat};
pub use data_spec::{DataSource, DataSpec, NamedSet};

/// The version written into saved configurations; older ones are read, newer ones refused.
pub const VERSION: u32 = 1;

/// Everything that decides what a run computes. The same configuration, machine and thread count give the same weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunConfig {
    /// Format version of this structure.
    pub version: u32,
    /// The data set or the mix of sets to learn from.
    pub data: DataSpec,
    /// The preset this started from, if it still matches one.
    pub preset: Option<Preset>,
    /// The network.
    pub model: ModelKind,
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
    /// Decoupled weight decay per step, scaled by the learning rate; never on biases.
    pub weight_decay: f64,
    /// How the learning rate moves.
    pub schedule: ScheduleKind,
    /// Where all randomness comes from.
    pub seed: u64,
    /// Worker threads; `None` means one per core.
    pub threads: Option<u32>,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self::preset(Preset::Balanced)
    }
}

impl RunConfig {
    /// The configuration a preset stands for, on the built-in data.
    pub fn preset(preset: Preset) -> Self {
        let base = Self {
            version: VERSION,
            data: DataSpec::builtin(),
            preset: Some(preset),
            model: ModelKind::Speedrun,
            epochs: 1,
            batch_size: 128,
            precision: Precision::F32,
            device: DeviceChoice::Auto,
            optimizer: OptimizerKind::AdamW,
            learning_rate: 3e-3,
            weight_decay: 0.0,
            schedule: ScheduleKind::OneCycle,
            seed: 1,
            threads: None,
        };
        // Chosen on a validation split of MNIST's training images, never on its test split.
        match preset {
            Preset::QuickLook => Self { model: ModelKind::Mlp, epochs: 5, ..base },
            Preset::Speedrun => Self { batch_size: 64, learning_rate: 5e-3, ..base },
            Preset::Balanced => Self { model: ModelKind::ConvNet, epochs: 5, learning_rate: 2e-3, weight_decay: 1e-2, ..base },
            Preset::Best => Self { model: ModelKind::ConvNet, epochs: 15, learning_rate: 2e-3, weight_decay: 1e-1, ..base },
        }
    }

    /// The preset whose values these are (data, seed, device, precision and threads may differ), if any.
    pub fn matching_preset(&self) -> Option<Preset> {
        Preset::ALL.iter().copied().find(|&preset| {
            let of = Self::preset(preset);
            self.model == of.model
                && self.epochs == of.epochs
                && self.batch_size == of.batch_size
                && self.optimizer == of.optimizer
                && self.learning_rate == of.learning_rate
                && self.weight_decay == of.weight_decay
                && self.schedule == of.schedule
        })
    }

    /// Takes the preset's values, keeping data, seed, device, precision and threads.
    pub fn apply_preset(&mut self, preset: Preset) {
        *self = Self {
            data: self.data.clone(),
            seed: self.seed,
            device: self.device,
            precision: self.precision,
            threads: self.threads,
            ..Self::preset(preset)
        };
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
        if self.threads.is_some_and(|threads| !(1..=1024).contains(&threads)) {
            problems.push(P::Threads { given: self.threads.unwrap_or_default() });
        }
        problems
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
    #[error("threads: {given} is not between 1 and 1024")]
    Threads { given: u32 },
    #[error("precision {precision} cannot be used: {reason}")]
    PrecisionUnavailable { precision: Precision, reason: String },
    #[error("device {device} cannot be used: {reason}")]
    DeviceUnavailable { device: DeviceChoice, reason: String },
}
