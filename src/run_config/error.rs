use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{DeviceChoice, ModelKind, Precision, Setting, VERSION, Widths};

/// The trainable numbers of the largest network that can be trained: its model file stays below
/// what is read of one.
pub const MAX_PARAMETERS: u64 = 10_000_000;

/// Settings that no run can have. Numbers travel as text: they may be NaN.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ConfigProblem {
    #[error("configuration version {version} is newer than the supported version {VERSION}")]
    NewerVersion { version: u32 },
    #[error("{} cannot be trained", .model.label())]
    NotTrainable { model: ModelKind },
    #[error("{}: {given} is not {}", setting.row().range.map_or("setting", |range| range.name), setting.row().range.map(|range| range.to_string()).unwrap_or_default())]
    OutOfRange { setting: Setting, given: String },
    #[error("batch size: {given} is larger than the {images} training images")]
    BatchLargerThanSet { given: u32, images: u64 },
    #[error("{first} and {other} cannot be mixed: their classes stand for different things")]
    MixedClasses { first: String, other: String },
    #[error("the weights in {path} belong to {found}, not to {asked}")]
    InitialWeights {
        path: PathBuf,
        found: String,
        asked: String,
    },
    #[error("the model in {path} distinguishes {found} classes, and the data has {asked}")]
    InitialClasses {
        path: PathBuf,
        found: usize,
        asked: usize,
    },
    #[error("{data} is given twice")]
    RepeatedData { data: String },
    #[error("{} cannot have the layer widths {given}", model.label())]
    Widths { model: ModelKind, given: Widths },
    #[error("{} cannot have the layers {given}", model.label())]
    Layers { model: ModelKind, given: String },
    #[error(
        "a network of {parameters} parameters is too large: {MAX_PARAMETERS} is the most that can be trained"
    )]
    TooManyParameters { parameters: u64 },
    #[error("a memory limit of {given} MiB is too low: the run needs about {needed} MiB")]
    MemoryLimitTooLow { given: u32, needed: u64 },
    #[error("precision {precision} is not available: {reason}")]
    PrecisionUnavailable {
        precision: Precision,
        reason: String,
    },
    #[error("device {device} is not available: {reason}")]
    DeviceUnavailable {
        device: DeviceChoice,
        reason: String,
    },
}

impl ConfigProblem {
    /// The setting it is about, if it is about one.
    pub const fn setting(&self) -> Option<Setting> {
        Some(match self {
            Self::OutOfRange { setting, .. } => *setting,
            Self::BatchLargerThanSet { .. } => Setting::BatchSize,
            Self::MixedClasses { .. } | Self::RepeatedData { .. } => Setting::Data,
            Self::Widths { .. } | Self::TooManyParameters { .. } => Setting::Widths,
            Self::Layers { .. } => Setting::Layers,
            Self::MemoryLimitTooLow { .. } => Setting::MemoryLimit,
            Self::PrecisionUnavailable { .. } => Setting::Precision,
            Self::DeviceUnavailable { .. } => Setting::Device,
            Self::NewerVersion { .. }
            | Self::NotTrainable { .. }
            | Self::InitialWeights { .. }
            | Self::InitialClasses { .. } => return None,
        })
    }
}
