//! What can be wrong with data. Sentences for people are formed in `app::messages`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::progress::Cancelled;
use crate::run_config::Classes;
use crate::system::{TargetError, WriteError};

/// Why a data set could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum DataError {
    /// A set known by name is in none of the data folders.
    #[error("{set} was not found in {}", searched.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    NotFound {
        /// The set's name.
        set: String,
        /// The folders that were searched.
        searched: Vec<PathBuf>,
    },
    /// Nothing is at a path.
    #[error("{path} does not exist")]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// A file could not be read.
    #[error("cannot read {path}: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// A file is not what it should be.
    #[error("{path} is damaged or has an unexpected format: {reason}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A file claims or decompresses to more than Inkling accepts.
    #[error("{path} is too large: {reason}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// What it claims.
        reason: String,
    },
    /// A folder or file has no labelled images that Inkling understands.
    #[error("{path} does not contain a data set: {reason}")]
    NoData {
        /// The path.
        path: PathBuf,
        /// What was looked for.
        reason: String,
    },
    /// No drawing was kept yet, or none that can be read.
    #[error("there are no drawings in {path}")]
    NoDrawings {
        /// The file they are kept in.
        path: PathBuf,
    },
    /// A source of a mix has other classes than the rest.
    #[error("{other} has {}, the other data {}", found.plural(), wanted.plural())]
    DifferentClasses {
        /// The source.
        other: String,
        /// What its classes stand for.
        found: Classes,
        /// What those of the others stand for.
        wanted: Classes,
    },
    /// Digits of which there is no image to learn from.
    #[error("there is no drawing of {}", digits.iter().map(u8::to_string).collect::<Vec<_>>().join(", "))]
    MissingDigits {
        /// Those digits.
        digits: Vec<u8>,
    },
    /// The training data of an imported model is not known.
    #[error("the training data of this model is unknown")]
    Unknown,
    /// The training data that a model names is a path, and the model is not of a run that was
    /// trained here.
    #[error("the model names {data}, a path that is not opened")]
    NotTrusted {
        /// The path's last part.
        data: String,
    },
    /// There are images of a single class.
    #[error("all training images are of the class {class}")]
    SingleClass {
        /// The class.
        class: String,
    },
    /// Loading was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// A part of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DataPart {
    /// The pixels of the training images, how many there are, or their order.
    TrainImages,
    /// The labels of the training images.
    TrainLabels,
    /// Images or labels of the test set.
    Test,
}

/// Why drawings could not be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeepError {
    /// The file could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// It could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Why a data set could not be exported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetExportError {
    /// It could not be written, or something is there already.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Whoever waited for it cancelled it.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}
