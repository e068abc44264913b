use std::path::PathBuf;

use crate::problem::{Code, Explain, list, sentence};
use crate::progress::Cancelled;
use crate::run_config::{Classes, similar_names};
use crate::system::NotRegular;
use crate::text::format::either;

/// Why a data set could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    #[error("The data set {set} was not found{}.", searched_in(searched))]
    NotFound { set: String, searched: Vec<PathBuf> },
    #[error("{path} does not exist.")]
    Missing { path: PathBuf },
    #[error("{path} could not be read: {}", sentence(reason))]
    Unreadable {
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    #[error("{path} is damaged or has an unexpected format: {}", sentence(reason))]
    Malformed { path: PathBuf, reason: String },
    #[error("{path} is too large: {}", sentence(reason))]
    TooLarge { path: PathBuf, reason: String },
    #[error("{path} contains no data set.")]
    NoData { path: PathBuf },
    #[error("{path} is not a data set by itself: {}", sentence(reason))]
    NotASet { path: PathBuf, reason: String },
    #[error("{path} cannot be used as a data set: {}", sentence(reason))]
    Refused {
        path: PathBuf,
        reason: String,
        remedy: String,
    },
    #[error("You have not kept any drawings yet.")]
    NoDrawings {
        /// The file they are kept in.
        path: PathBuf,
    },
    #[error(
        "{other} cannot be combined with the other data: its images show {}, theirs show {}.",
        found.plural(),
        wanted.plural()
    )]
    DifferentClasses {
        other: String,
        found: Classes,
        /// The classes of the others.
        wanted: Classes,
    },
    #[error(
        "Your drawings have no {}, so a model could not learn to recognize it.",
        either(digits)
    )]
    MissingDigits { digits: Vec<u8> },
    #[error("The training data of this model is unknown.")]
    Unknown,
    /// The training data that a model names is a path, and the model is not of a run that was
    /// trained here.
    #[error(
        "This model names {data} as its training data. Such a path is opened only for models among Inkling's own runs."
    )]
    NotTrusted {
        /// The path's last part.
        data: String,
    },
    #[error(
        "All training images have the same class, {class}, so there is nothing to distinguish."
    )]
    SingleClass { class: String },
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl Explain for DataError {
    fn remedy(&self) -> String {
        match self {
            Self::NotFound { set, searched } => {
                let download = format!("Download it with “inkling data fetch {set}”");
                return if searched.is_empty() {
                    format!("{download}, or choose the folder that contains its four IDX files.")
                } else {
                    format!("{download}, put its four IDX files (gzipped or not) into a folder named {set} there, or choose the folder that contains them.")
                };
            }
            Self::Refused { remedy, .. } => return remedy.clone(),
            Self::Missing { path } => {
                let name = path.file_name().unwrap_or_default();
                let meant = similar_names(&name.to_string_lossy());
                if !meant.is_empty() {
                    return format!(
                        "Did you mean {}? If not, check the spelling, and that the drive is connected.",
                        either(meant)
                    );
                }
                "Check the spelling, and that the drive is connected."
            }
            Self::Unreadable { reason, .. } => NotRegular::remedy(reason),
            Self::Malformed { .. } => "Download or create the file again, or choose another data set.",
            Self::TooLarge { .. } => "Choose a smaller data set. If it is supposed to be small, the file is damaged.",
            Self::NoData { .. } | Self::NotASet { .. } => "Choose a folder with IDX files or one of its files of images, an .npz archive, Parquet files, a folder of images with one subfolder per class or with the digit in each name (7_0001.png), a CSV file (label, then the pixels of a square image; or file and label), or an ink file with labels.",
            Self::NoDrawings { .. } => "In Draw, draw a digit and press Enter if it was recognized correctly, or type the digit that it is.",
            Self::DifferentClasses { .. } => "Choose one of them, or data sets with the same classes.",
            Self::MissingDigits { .. } => "Draw it too, or add other digits: mine+builtin, or mine+mnist.",
            Self::Unknown => "Choose a data set, on the command line with --data.",
            Self::NotTrusted { .. } => "Choose the data set, on the command line with --data.",
            Self::SingleClass { .. } => "Choose data with at least two classes, or add another data set.",
            Self::Cancelled(cancelled) => return cancelled.remedy(),
        }
        .to_owned()
    }

    fn code(&self) -> Code {
        match self {
            Self::Cancelled(cancelled) => cancelled.code(),
            _ => Code::Other,
        }
    }
}

fn searched_in(folders: &[PathBuf]) -> String {
    if folders.is_empty() {
        ": there is no data folder to search".to_owned()
    } else {
        format!(" in {}", list(folders))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataPart {
    /// The pixels of the training images, how many there are, or their order.
    TrainImages,
    TrainLabels,
    /// Images or labels of the test set.
    Test,
}

impl DataPart {
    /// The text that people read.
    pub const fn label(self) -> &'static str {
        match self {
            Self::TrainImages => "training images",
            Self::TrainLabels => "labels of the training images",
            Self::Test => "test images or their labels",
        }
    }
}
