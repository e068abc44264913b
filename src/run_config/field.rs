use std::fmt;

use serde::{Deserialize, Serialize};

use super::RunConfig;

/// The settings that a person types or chooses one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    Widths,
    Layers,
    Epochs,
    BatchSize,
    LearningRate,
    WeightDecay,
    Momentum,
    LabelSmoothing,
    ClipNorm,
    Accumulation,
    WeightAveraging,
    EarlyStopping,
    Seed,
    Repeats,
    Threads,
    MemoryLimit,
    Precision,
    Device,
    Data,
    Other,
}

/// The numbers that a setting can be: the one place where ranges stand.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// What the setting is called in a sentence.
    pub name: &'static str,
    low: Bound,
    high: Bound,
    whole: bool,
    /// What is counted; may be empty.
    unit: &'static str,
    /// A usual value; may be empty.
    example: &'static str,
    /// What becomes of a setting that is left empty; `None` where it must not be.
    if_empty: Option<&'static str>,
}

/// One end of a range.
#[derive(Clone, Copy, Debug)]
enum Bound {
    /// This number and what lies inside of it.
    At(f64),
    /// What lies inside of this number, but not the number.
    Beyond(f64),
    None,
}
use Bound::{At, Beyond};

impl Field {
    /// Which numbers this setting can be; `None` where it is not a number.
    pub const fn range(self) -> Option<&'static Range> {
        const WHOLE: Range = Range {
            name: "",
            low: At(1.0),
            high: Bound::None,
            whole: true,
            unit: "",
            example: "",
            if_empty: None,
        };
        const REAL: Range = Range {
            low: At(0.0),
            whole: false,
            ..WHOLE
        };
        const EPOCHS: Range = Range {
            name: "the number of epochs",
            high: At(1000.0),
            ..WHOLE
        };
        const BATCH_SIZE: Range = Range {
            name: "the batch size",
            high: At(8192.0),
            ..WHOLE
        };
        const LEARNING_RATE: Range = Range {
            name: "the learning rate",
            low: Beyond(0.0),
            high: At(10.0),
            example: "0.001",
            ..REAL
        };
        const WEIGHT_DECAY: Range = Range {
            name: "the weight decay",
            high: At(1.0),
            example: "0.01",
            ..REAL
        };
        const MOMENTUM: Range = Range {
            name: "the momentum",
            high: Beyond(1.0),
            example: "0.9",
            ..REAL
        };
        const LABEL_SMOOTHING: Range = Range {
            name: "label smoothing",
            high: At(0.5),
            example: "0.1",
            ..REAL
        };
        const CLIP_NORM: Range = Range {
            name: "the norm for gradient clipping",
            low: Beyond(0.0),
            example: "1",
            if_empty: Some("to turn clipping off"),
            ..REAL
        };
        const ACCUMULATION: Range = Range {
            name: "gradient accumulation",
            high: At(1024.0),
            unit: "batches",
            ..WHOLE
        };
        const WEIGHT_AVERAGING: Range = Range {
            name: "the decay for weight averaging",
            low: Beyond(0.0),
            high: Beyond(1.0),
            example: "0.999",
            if_empty: Some("to turn averaging off"),
            ..REAL
        };
        const EARLY_STOPPING: Range = Range {
            name: "the patience of early stopping",
            high: At(1000.0),
            unit: "epochs",
            if_empty: Some("to train all epochs"),
            ..WHOLE
        };
        const SEED: Range = Range {
            name: "the seed",
            low: At(0.0),
            ..WHOLE
        };
        const REPEATS: Range = Range {
            name: "the number of runs",
            high: At(100.0),
            ..WHOLE
        };
        const THREADS: Range = Range {
            name: "the number of threads",
            high: At(1024.0),
            if_empty: Some("for one per core"),
            ..WHOLE
        };
        const MEMORY_LIMIT: Range = Range {
            name: "the memory limit",
            low: Beyond(0.0),
            unit: "MiB",
            example: "500",
            if_empty: Some("for no limit"),
            ..WHOLE
        };
        Some(match self {
            Self::Epochs => &EPOCHS,
            Self::BatchSize => &BATCH_SIZE,
            Self::LearningRate => &LEARNING_RATE,
            Self::WeightDecay => &WEIGHT_DECAY,
            Self::Momentum => &MOMENTUM,
            Self::LabelSmoothing => &LABEL_SMOOTHING,
            Self::ClipNorm => &CLIP_NORM,
            Self::Accumulation => &ACCUMULATION,
            Self::WeightAveraging => &WEIGHT_AVERAGING,
            Self::EarlyStopping => &EARLY_STOPPING,
            Self::Seed => &SEED,
            Self::Repeats => &REPEATS,
            Self::Threads => &THREADS,
            Self::MemoryLimit => &MEMORY_LIMIT,
            Self::Widths
            | Self::Layers
            | Self::Precision
            | Self::Device
            | Self::Data
            | Self::Other => return None,
        })
    }

    /// The setting's number; `None` where it is none or left open. Every seed is valid, so none is
    /// given here.
    pub fn number(self, config: &RunConfig) -> Option<f64> {
        match self {
            Self::Epochs => Some(config.epochs.into()),
            Self::BatchSize => Some(config.batch_size.into()),
            Self::LearningRate => Some(config.learning_rate),
            Self::WeightDecay => Some(config.weight_decay),
            Self::Momentum => Some(config.momentum),
            Self::LabelSmoothing => Some(config.label_smoothing),
            Self::ClipNorm => config.clip_norm,
            Self::Accumulation => Some(config.accumulation.into()),
            Self::WeightAveraging => config.weight_averaging,
            Self::EarlyStopping => config.early_stopping.map(f64::from),
            Self::Repeats => Some(config.repeats.into()),
            Self::Threads => config.threads.map(f64::from),
            Self::MemoryLimit => config.memory_limit.map(f64::from),
            Self::Widths
            | Self::Layers
            | Self::Seed
            | Self::Precision
            | Self::Device
            | Self::Data
            | Self::Other => None,
        }
    }

    /// Every setting that is a number with a range, in the order in which problems are reported.
    pub(super) const NUMBERS: [Self; 13] = [
        Self::Epochs,
        Self::BatchSize,
        Self::LearningRate,
        Self::WeightDecay,
        Self::Momentum,
        Self::LabelSmoothing,
        Self::ClipNorm,
        Self::Accumulation,
        Self::WeightAveraging,
        Self::EarlyStopping,
        Self::Repeats,
        Self::Threads,
        Self::MemoryLimit,
    ];
}

impl Range {
    /// True for numbers the setting can be; false for NaN and infinities.
    pub fn contains(&self, value: f64) -> bool {
        let above = match self.low {
            At(low) => value >= low,
            Beyond(low) => value > low,
            Bound::None => true,
        };
        let below = match self.high {
            At(high) => value <= high,
            Beyond(high) => value < high,
            Bound::None => true,
        };
        value.is_finite() && above && below
    }

    /// What to type: "a whole number from 1 to 1000".
    pub fn hint(&self) -> String {
        let kind = if self.whole { "whole number" } else { "number" };
        let of = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" of {}", self.unit)
        };
        let span = match (self.low, self.high) {
            (At(low), At(high)) => format!(" from {low} to {high}"),
            (At(low), Beyond(high)) => format!(" from {low} to below {high}"),
            (At(low), Bound::None) => format!(", {low} or greater"),
            _ => format!(" {self}"),
        };
        let example = if self.example.is_empty() {
            String::new()
        } else {
            format!(", such as {}", self.example)
        };
        let empty = self
            .if_empty
            .map(|what| format!(", or leave it out {what}"))
            .unwrap_or_default();
        format!("a {kind}{of}{span}{example}{empty}")
    }
}

/// The range alone: "between 1 and 1000", "above 0 and at most 10".
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low, self.high) {
            (At(low), At(high)) => write!(f, "between {low} and {high}"),
            (At(low), Beyond(high)) => write!(f, "at least {low} and below {high}"),
            (At(low), Bound::None) => write!(f, "at least {low}"),
            (Beyond(low), At(high)) => write!(f, "above {low} and at most {high}"),
            (Beyond(low), Beyond(high)) => write!(f, "above {low} and below {high}"),
            (Beyond(low), Bound::None) => write!(f, "above {low}"),
            (Bound::None, _) => f.write_str("any number"),
        }
    }
}
