use std::path::PathBuf;

use super::{DeviceChoice, HiddenLayers, MAX_WIDTH, ModelKind, Precision, Setting, Widths};
use crate::problem::{Code, Explain, sentence};
use crate::text::format::{capitalized, grouped, joined};

/// The trainable numbers of the largest network that can be trained: its model file stays below
/// what is read of one.
pub const MAX_PARAMETERS: u64 = 10_000_000;

/// Settings that no run can have. Numbers travel as text: they may be NaN.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("These settings were saved by a newer version of Inkling (format version {version}).")]
    NewerVersion { version: u32 },
    #[error("{} cannot be trained.", model.label())]
    NotTrainable { model: ModelKind },
    #[error("{}", out_of_range(*setting, given))]
    OutOfRange { setting: Setting, given: String },
    #[error("The batch size ({given}) is larger than the training set ({images} images).")]
    BatchLargerThanSet { given: u32, images: u64 },
    #[error("{first} and {other} cannot be combined: they have different classes.")]
    MixedClasses { first: String, other: String },
    #[error("The weights in {path} belong to {found}, not to {asked}.")]
    InitialWeights {
        path: PathBuf,
        found: String,
        asked: String,
    },
    #[error("The model in {path} distinguishes {found} classes, and the data has {asked}.")]
    InitialClasses {
        path: PathBuf,
        found: usize,
        asked: usize,
    },
    #[error(
        "The data set {data} is given twice, so that images would be in both the training and the validation set."
    )]
    RepeatedData { data: String },
    #[error("{} cannot have the layer widths {given}.", model.label())]
    Widths { model: ModelKind, given: Widths },
    #[error("{} cannot have the layers {given}.", model.label())]
    Layers { model: ModelKind, given: String },
    #[error(
        "A network with these layers has {} parameters: more than the {} that Inkling trains.",
        grouped(*parameters),
        grouped(MAX_PARAMETERS)
    )]
    TooManyParameters { parameters: u64 },
    #[error(
        "A memory limit of {given} MiB is too low: this run needs at least about {needed} MiB."
    )]
    MemoryLimitTooLow { given: u32, needed: u64 },
    #[error("Precision {precision} is not available: {}", sentence(reason))]
    PrecisionUnavailable {
        precision: Precision,
        reason: String,
    },
    #[error("Device {device} is not available: {}", sentence(reason))]
    DeviceUnavailable {
        device: DeviceChoice,
        reason: String,
    },
}

impl Explain for ConfigError {
    fn remedy(&self) -> String {
        match self {
            Self::OutOfRange { setting, .. } => {
                let range = setting.row().range.map(|range| range.hint());
                let wanted = range.unwrap_or_else(|| "another value".to_owned());
                return format!("Choose {wanted}.");
            }
            Self::BatchLargerThanSet { images, .. } => {
                return format!("Choose a batch size of at most {images}, or a larger data set.");
            }
            Self::Widths { model, .. } => return widths_hint(*model),
            Self::Layers { .. } => {
                let cnn = ModelKind::Cnn.label();
                return format!("Choose the network {cnn}, or leave them empty.");
            }
            Self::NewerVersion { .. } => "Update Inkling, or choose a preset.",
            Self::NotTrainable { .. } => "Choose another network.",
            Self::MixedClasses { .. } => "Choose one of them, or data sets with the same classes.",
            Self::InitialWeights { .. } => "Choose that network, or start without these weights.",
            Self::InitialClasses { .. } => {
                "Choose data with as many classes, or start without these weights."
            }
            Self::RepeatedData { .. } => "Name each data set once.",
            Self::TooManyParameters { .. } => "Choose fewer or narrower ones.",
            Self::MemoryLimitTooLow { .. } => {
                "Raise the limit, leave it empty, or choose a smaller model."
            }
            Self::PrecisionUnavailable { precision, .. } if *precision == Precision::F32 => {
                "Choose another precision."
            }
            Self::PrecisionUnavailable { .. } => "Choose f32, which works everywhere.",
            Self::DeviceUnavailable { .. } => "Choose the device cpu or auto.",
        }
        .to_owned()
    }

    fn code(&self) -> Code {
        match *self {
            Self::BatchLargerThanSet { images, .. } => Code::BatchLargerThanSet { images },
            _ => Code::Config,
        }
    }
}

impl ConfigError {
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

fn out_of_range(setting: Setting, given: &str) -> String {
    setting.row().range.map_or_else(
        || format!("{given} is not a valid setting."),
        |range| format!("{} is out of range (got {given}).", capitalized(range.name)),
    )
}

pub fn widths_hint(model: ModelKind) -> String {
    let (least, most) = model.width_counts().into_inner();
    let usual = joined(model.widths(), "-");
    match (least, most) {
        (_, 0) => "Leave them empty: the widths of this model are fixed.".to_owned(),
        (least, most) => {
            let count = if least == most {
                most.to_string()
            } else {
                format!("{least} to {most}")
            };
            let noun = if most == 1 { "width" } else { "widths" };
            format!(
                "Give {count} {noun} from 1 to {MAX_WIDTH}, such as {usual}, or leave them empty."
            )
        }
    }
}

pub fn layers_hint() -> String {
    format!(
        "Give layers such as {}-128, or leave them empty.",
        HiddenLayers::DEFAULT
    )
}
