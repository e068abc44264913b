use crate::data::DataPart;
use crate::problem::{Code, Explain, sentence};
use crate::records::Divergence;

/// Why a run could not be trained, besides what its parts report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrainError {
    #[error(
        "Training diverged: {}, even after three rollbacks with lower learning rates.",
        cause.at_step(*step)
    )]
    Diverged {
        /// The step, from 1.
        step: u64,
        /// How.
        cause: Divergence,
    },
    #[error(
        "This run cannot be resumed: the {} are not the ones it was started with.",
        part.label()
    )]
    DataChanged { part: DataPart },
    #[error("This run cannot be resumed: {}", sentence(reason))]
    NotResumable {
        /// The obstacle.
        reason: String,
    },
}

impl Explain for TrainError {
    fn remedy(&self) -> String {
        match self {
            Self::Diverged { .. } => "Lower the learning rate, for example to a tenth, and train again.",
            Self::DataChanged { .. } => "Restore the data set as it was, or name the folder that contains it with --data-dir. Otherwise start a new run.",
            Self::NotResumable { .. } => "Start a new run.",
        }
        .to_owned()
    }

    fn code(&self) -> Code {
        match self {
            Self::Diverged { .. } => Code::Diverged,
            _ => Code::Other,
        }
    }
}
