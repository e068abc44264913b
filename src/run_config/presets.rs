//! Configurations made from others: presets, runs fitted to little data, and runs that are repeated
//! with other seeds, so that what is due to chance shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Augmentation, ModelKind, Preset, RunConfig, ScheduleKind};

impl RunConfig {
    /// The configuration a preset stands for, on the built-in data.
    pub fn preset(preset: Preset) -> Self {
        let base = Self {
            preset: Some(preset),
            schedule: ScheduleKind::Cosine,
            ..Self::plain()
        };
        // Chosen on a validation split of MNIST's training images, never on its test split.
        match preset {
            Preset::QuickLook => Self {
                model: ModelKind::Mlp,
                epochs: 5,
                schedule: ScheduleKind::OneCycle,
                ..base
            },
            // The fastest network found for 99%: a stride of 2 takes the place of the first pooling.
            Preset::OneEpoch => Self {
                model: ModelKind::Cnn,
                layers: "16C6S2-32C3-MP2-BN-96".parse().ok(),
                batch_size: 64,
                learning_rate: 2e-2,
                label_smoothing: 0.1,
                ..base
            },
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
            Preset::Compact => Self {
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

    /// The preset whose values these are (data, seed, repeats, device, precision, threads, memory
    /// limit, activation checkpointing, autotuning and a sealed test may differ), if any.
    pub fn matching_preset(&self) -> Option<Preset> {
        let matches = |preset| {
            let mut other = self.clone();
            other.apply_preset(preset);
            Self {
                version: self.version,
                preset: self.preset,
                ..other
            } == *self
        };
        Preset::ALL.iter().copied().find(|&preset| matches(preset))
    }

    /// Takes the preset's values, keeping data, seed, repeats, device, precision, threads, memory
    /// limit, activation checkpointing, autotuning, a sealed test, and the weights it starts from
    /// with their network.
    pub fn apply_preset(&mut self, preset: Preset) {
        let network = self
            .initial_weights
            .take()
            .map(|weights| (weights, self.network(), self.activation));
        *self = Self {
            data: self.data.clone(),
            seed: self.seed,
            device: self.device,
            precision: self.precision,
            threads: self.threads,
            memory_limit: self.memory_limit,
            activation_checkpointing: self.activation_checkpointing,
            autotune: self.autotune,
            sealed_test: self.sealed_test,
            repeats: self.repeats,
            repetition: self.repetition.clone(),
            ..Self::preset(preset)
        };
        if let Some((weights, network, activation)) = network {
            (self.initial_weights, self.activation) = (Some(weights), activation);
            self.set_network(network);
        }
    }
}

/// Fewer steps than this teach a network little.
const STEPS: u64 = 400;
/// Batches of an epoch there are to be, so that a batch is a sample and not the whole set.
const BATCHES: u64 = 4;
/// A smaller batch says too little of the gradient.
const MIN_BATCH: u64 = 8;
/// No more epochs than this, however few images there are.
const MAX_EPOCHS: u64 = 200;

/// The person's choices, which may not be changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    pub batch_size: bool,
    pub epochs: bool,
}

impl RunConfig {
    /// The same for this many training images: a smaller batch if it would be more than a
    /// quarter of them, and more epochs if there would be few steps. `None` if it fits already.
    pub fn fit_to(&self, images: u64, chosen: Chosen) -> Option<Self> {
        let mut fitted = self.clone();
        if !chosen.batch_size && u64::from(self.batch_size) > images / BATCHES {
            let share = (images / BATCHES).max(MIN_BATCH).min(images).max(1);
            // The largest power of two that is no larger.
            fitted.batch_size = self.batch_size.min(1 << share.ilog2().min(31));
        }
        let steps =
            images.div_ceil((u64::from(fitted.batch_size) * u64::from(self.accumulation)).max(1));
        if !chosen.epochs && steps > 0 && steps * u64::from(self.epochs) < STEPS {
            let epochs = STEPS.div_ceil(steps).min(MAX_EPOCHS) as u32;
            fitted.epochs = self.epochs.max(epochs);
        }
        fitted.preset = fitted.matching_preset();
        ((fitted.batch_size, fitted.epochs) != (self.batch_size, self.epochs)).then_some(fitted)
    }
}

/// Which of several repeated runs this is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repetition {
    /// When the first of them was started, RFC 3339 in UTC: those with the same time belong
    /// together.
    pub begun: String,
    /// From 1.
    pub number: u32,
}

impl RunConfig {
    /// The runs that these settings ask for, each with the seed after the one before. They belong
    /// together by `begun`, the time now.
    pub fn repetitions(&self, begun: &str) -> Vec<Self> {
        let first = Self {
            repetition: None,
            ..self.clone()
        };
        if self.repeats <= 1 {
            return vec![first];
        }
        let repetition = Some(Repetition {
            begun: begun.to_owned(),
            number: 1,
        });
        let first = Self {
            repetition,
            ..first
        };
        let rest = first.next_repetitions();
        [vec![first], rest].concat()
    }

    /// Those that come after this one.
    pub fn next_repetitions(&self) -> Vec<Self> {
        let Some(Repetition { begun, number }) = &self.repetition else {
            return Vec::new();
        };
        let later = number.saturating_add(1)..=self.repeats;
        let run = |later: u32| Self {
            seed: self.seed.wrapping_add(u64::from(later - number)),
            repetition: Some(Repetition {
                begun: begun.clone(),
                number: later,
            }),
            ..self.clone()
        };
        later.map(run).collect()
    }
}
