use std::path::PathBuf;

use crate::problem::{Code, Explain};
use crate::records::{COMPARED_MODELS, Ensemble};
use crate::run_config::{Classes, ModelKind};
use crate::text::format::{capitalized, count, grouped};

/// Why models cannot classify together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnsembleError {
    /// Fewer or more models than [`Ensemble::MODELS`].
    #[error("{} cannot form an ensemble.", capitalized(&count(*given as u64, "model")))]
    Models {
        /// How many there were.
        given: usize,
    },
    /// Fewer or more passes than [`Ensemble::DROPOUT_PASSES`].
    #[error("Monte Carlo dropout cannot use {} passes.", grouped(u64::from(*given)))]
    DropoutPasses {
        /// How many were asked for.
        given: u32,
    },
    /// The models were trained on images of different things.
    #[error(
        "These models cannot be combined: one recognizes {}, another {}.",
        first.plural(),
        other.plural()
    )]
    DifferentClasses {
        /// The classes of the first.
        first: Classes,
        /// The classes of another.
        other: Classes,
    },
    /// There is no dropout layer to keep on.
    #[error("{path} is {}, which has no dropout layer.", model.label())]
    NoDropout {
        /// The model file.
        path: PathBuf,
        /// Its network.
        model: ModelKind,
    },
}

impl Explain for EnsembleError {
    fn remedy(&self) -> String {
        match self {
            Self::Models { .. } => {
                let (least, most) = Ensemble::MODELS.into_inner();
                format!("Choose {least} to {most} models.")
            }
            Self::DropoutPasses { .. } => {
                let (least, most) = Ensemble::DROPOUT_PASSES.into_inner();
                format!("Choose {least} to {} passes.", grouped(most.into()))
            }
            Self::DifferentClasses { .. } => "Choose models with the same classes.".to_owned(),
            Self::NoDropout { .. } => "Leave dropout off, or use a ConvNet.".to_owned(),
        }
    }
}

/// Why models cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ComparisonError {
    /// Fewer or more models than [`COMPARED_MODELS`].
    #[error("{} cannot be compared.", capitalized(&count(*given as u64, "model")))]
    Count {
        /// How many there were.
        given: usize,
    },
    /// One of them is there twice.
    #[error("A model cannot be compared with itself.")]
    Repeated,
    /// They were trained on different data, and nobody said which test images count.
    #[error("The models were trained on different data: {}.", sets.join(", "))]
    DifferentData {
        /// The data sets, as people read them.
        sets: Vec<String>,
    },
}

impl Explain for ComparisonError {
    fn remedy(&self) -> String {
        match self {
            Self::Count { .. } => {
                let (least, most) = COMPARED_MODELS.into_inner();
                format!("Choose {least} to {most} models.")
            }
            Self::Repeated => "Name each model once.".to_owned(),
            Self::DifferentData { .. } => "Choose a data set to compare them on.".to_owned(),
        }
    }

    fn code(&self) -> Code {
        match self {
            Self::Count { .. } | Self::Repeated => Code::Usage,
            Self::DifferentData { .. } => Code::Other,
        }
    }
}
