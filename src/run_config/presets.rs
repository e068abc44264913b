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
            Preset::OneEpoch => Self {
                batch_size: 64,
                learning_rate: 5e-3,
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
    /// limit, activation checkpointing and autotuning may differ), if any.
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
    /// limit, activation checkpointing, autotuning, and the weights it starts from with their
    /// network.
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
