//! Fine-tuning a model on a few drawings: an ordinary run, short, from its weights, on the drawings
//! among images that it knows.

use std::path::PathBuf;

use super::plan::InitialState;
use crate::data::{Dataset, Rehearsal, Split, ValidationSplit, gather_batch};
use crate::math::random::Random;
use crate::nn::{ModelCard, Net};
use crate::run_config::{
    Augmentation, DataSource, DataSpec, OptimizerKind, Preset, RunConfig, ScheduleKind,
};

/// Images of the former data to learn from in each epoch, and to measure with. Chosen, with the
/// rest, so that all of it takes a few seconds on two cores.
pub const REHEARSED: [usize; 2] = [1_200, 2_000];
/// The drawings are repeated, varied each time, until an epoch has about as many images of them.
const REPEATED: usize = 600;
/// Passes over both.
const EPOCHS: u32 = 3;
/// From this number of drawings on, one in [`ONE_IN`] is kept apart to measure with.
pub const ENOUGH: usize = 30;
const ONE_IN: usize = 5;
/// The learning rate is a tenth of the learning rate of the model's run, within these limits.
const RATES: [f64; 2] = [1e-4, 1e-3];

#[derive(Clone, Debug)]
pub struct FineTuning {
    pub config: RunConfig,
    pub data: Dataset,
    /// The drawings that it does not learn from; empty if there are too few.
    pub held_out: Split,
    validation: Split,
}

impl FineTuning {
    /// The run for this model, whose weights are in `file` unless it is the starter model.
    pub fn new(card: &ModelCard, file: Option<PathBuf>, drawings: &Split, old: &Rehearsal) -> Self {
        let seed = card.config.seed;
        let mut order: Vec<u32> = (0..drawings.len() as u32).collect();
        Random::stream(seed, "drawings kept apart", drawings.len() as u64).shuffle(&mut order);
        let apart = if drawings.len() >= ENOUGH {
            drawings.len() / ONE_IN
        } else {
            0
        };
        let (held_out_indices, learned) = order.split_at(apart);
        let mut held_out = Split::default();
        gather_batch(drawings, held_out_indices, &mut held_out);
        let mut data = Dataset {
            train: old.train.clone(),
            ..Dataset::default()
        };
        let mut chosen = Split::default();
        gather_batch(drawings, learned, &mut chosen);
        for _ in 0..REPEATED.div_ceil(learned.len().max(1)) {
            data.train.append(&chosen);
        }
        // The best epoch is the one that is best at both: the drawings count as much as they do in
        // training.
        let validation = old.validation.clone();
        let sources = old
            .data
            .sources()
            .iter()
            .cloned()
            .chain([DataSource::Mine])
            .collect();
        let config = RunConfig {
            data: DataSpec::of(sources),
            preset: None,
            model: card.model,
            widths: card.config.widths,
            layers: card.config.layers,
            activation: card.config.activation,
            initial_weights: file,
            epochs: EPOCHS,
            batch_size: 64,
            optimizer: OptimizerKind::AdamW,
            learning_rate: (card.config.learning_rate / 10.0).clamp(RATES[0], RATES[1]),
            weight_decay: 0.0,
            schedule: ScheduleKind::Cosine,
            label_smoothing: card.config.label_smoothing,
            augmentation: Augmentation::Gentle,
            seed,
            ..RunConfig::preset(Preset::Balanced)
        };
        Self {
            config,
            data,
            held_out,
            validation,
        }
    }

    /// Where it starts: from this network, and with all of its images to learn from.
    pub fn start(&self, net: Net) -> InitialState {
        let train = (0..self.data.train.len() as u32).collect();
        let split = ValidationSplit {
            train,
            validation: self.validation.clone(),
        };
        InitialState {
            net,
            initialization: None,
            classes: self.data.classes.clone(),
            split,
            schedule: None,
        }
    }
}
