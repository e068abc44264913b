//! What a recipe achieves over several seeds, measured with a sealed test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::run_config::{DeviceChoice, RunConfig};

/// The version written into cards; newer ones are refused.
pub const CARD_VERSION: u32 = 1;

/// The runs of one recipe with several seeds. Their test images were not read before the last run
/// had ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordCard {
    /// Version of this structure.
    pub version: u32,
    /// When the last run was evaluated, RFC 3339 in UTC.
    pub measured_at: String,
    /// The version of Inkling that measured.
    pub program: String,
    /// The machine, in words.
    pub machine: String,
    /// Where it trained (never `Auto`).
    pub device: DeviceChoice,
    /// Trainable numbers.
    pub parameters: u64,
    /// Images of the test split.
    pub test_images: u64,
    /// The settings of the first run; the others differ in their seeds.
    pub config: RunConfig,
    /// In the order of their seeds.
    pub runs: Vec<SeedRun>,
    /// The test images that more than half of the runs misclassify, those that most do first.
    pub hard: Vec<HardImage>,
}

/// A run of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeedRun {
    pub seed: u64,
    /// Accuracy on the validation split of the weights that were kept.
    pub validation_accuracy: f64,
    /// Accuracy on the test split, measured after the last run had ended.
    pub test_accuracy: f64,
    pub seconds: RunSeconds,
}

/// The time of a run, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunSeconds {
    /// From the start of the process, of the first run of `inkling` itself, until the model was
    /// saved.
    pub total: f64,
    /// Of these, before the first step: starting, reading data, initializing weights.
    pub preparation: f64,
    /// Of these, the training steps.
    pub training: f64,
}

impl RunSeconds {
    /// Validation, calibration, the digit detector and saving.
    pub fn finishing(self) -> f64 {
        (self.total - self.preparation - self.training).max(0.0)
    }
}

/// A test image that more than half of the runs misclassify.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HardImage {
    /// Position in the test split, from 0.
    pub index: u64,
    /// The name of its class.
    pub label: String,
    /// The class that most of these runs choose instead.
    pub answer: String,
    /// How many runs misclassify it.
    pub runs: u64,
    /// Whether confident learning suspects the label in at least half of the runs.
    pub doubtful: bool,
}
