use std::path::PathBuf;

use crate::problem::{Code, Explain, sentence};
use crate::progress::Cancelled;
use crate::run_config::PublicDataset;
use crate::system::WriteError;
use crate::text::format::file_size;

/// Why a data set could not be downloaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    /// No connection: the machine is offline, the name is not known, or nobody answers there.
    #[error("Could not connect to {address}: {}", sentence(reason))]
    NoConnection { address: String, reason: String },
    /// The server does not have the file, or does not give it.
    #[error("{}", refused(address, *status))]
    Status { address: String, status: u16 },
    #[error("Too many redirects from {address}.")]
    Redirects { address: String },
    #[error("The server returned a web page instead of {address}.")]
    WebPage { address: String },
    #[error("The connection to {address} was lost: {}", sentence(reason))]
    Broken { address: String, reason: String },
    #[error(
        "{address} is larger than the published file, of which at most {} are accepted.",
        file_size(*largest)
    )]
    TooLarge {
        address: String,
        /// The most that is accepted, in bytes.
        largest: u64,
    },
    #[error(
        "The file from {address} failed verification: its checksum differs from the published one, so it was deleted."
    )]
    NotPublishedFile { address: String },
    #[error("{path} already exists and differs from the published data set.")]
    Occupied { path: PathBuf },
    #[error("{} is already being downloaded.", set.label())]
    InProgress { set: PublicDataset },
    #[error(
        "The server of {address} does not support range requests, and only a part of the file is needed."
    )]
    NoRanges { address: String },
    #[error(
        "{address} is damaged, does not contain {name}, or is a ZIP archive of a kind that Inkling does not read."
    )]
    NotInArchive { address: String, name: String },
    #[error("No mirror is known for this data set.")]
    NoMirror,
    #[error("“{address}” is not the URL of a mirror.")]
    Address { address: String },
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Whoever waited for it cancelled it; it can be resumed.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl Explain for DownloadError {
    fn remedy(&self) -> String {
        match self {
            Self::NoConnection { .. } => "Check your network, and the proxy if there is one (HTTPS_PROXY). The built-in digits need no download.",
            Self::Status { status: 404 | 410, .. } | Self::Redirects { .. } | Self::NotInArchive { .. } => "Use another mirror (set INKLING_DATA_MIRROR to its URL), or download the files manually.",
            Self::Status { .. } | Self::Broken { .. } => "Try again later; what was downloaded is kept. Or use another mirror (set INKLING_DATA_MIRROR to its URL).",
            Self::WebPage { .. } => "Some networks require a login first: open any page in a browser, then try again.",
            Self::TooLarge { .. } => "Use another mirror (set INKLING_DATA_MIRROR to its URL).",
            Self::NotPublishedFile { .. } => "Try again, or use another mirror (set INKLING_DATA_MIRROR to its URL).",
            Self::Occupied { .. } => "Move or rename that folder, then try again.",
            Self::InProgress { .. } => "Wait until that download has finished.",
            Self::NoRanges { .. } => "Use another mirror (set INKLING_DATA_MIRROR to its URL), or download the archive with a browser and unpack the files manually.",
            Self::NoMirror => "Set INKLING_DATA_MIRROR to the URL of a mirror.",
            Self::Address { .. } => "Write it as in https://example.org/datasets/.",
            Self::Write(error) => return error.remedy(),
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

fn refused(address: &str, status: u16) -> String {
    match status {
        404 | 410 => format!("The server returned HTTP {status} for {address}: it does not exist."),
        _ => format!("The server returned HTTP {status} for {address}."),
    }
}

impl DownloadError {
    /// Whether the network or the server is to blame, so that the files might be downloaded in
    /// another way.
    pub const fn is_of_the_network(&self) -> bool {
        !matches!(
            self,
            Self::Write(_)
                | Self::Cancelled(_)
                | Self::Occupied { .. }
                | Self::InProgress { .. }
                | Self::Address { .. }
        )
    }

    /// Whether another mirror would not help.
    pub(super) const fn is_final(&self) -> bool {
        matches!(self, Self::Write(_) | Self::Cancelled(_))
    }
}
