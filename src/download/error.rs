use std::path::PathBuf;

use crate::problem::{Code, Explain, sentence};
use crate::progress::Cancelled;
use crate::run_config::NamedSet;
use crate::system::WriteError;
use crate::text::format::file_size;

/// Why a data set could not be downloaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    /// No connection: the machine is offline, the name is not known, or nobody answers there.
    #[error("There is no connection to {address}: {}", sentence(reason))]
    NoConnection { address: String, reason: String },
    /// The server does not have the file, or does not give it.
    #[error("{}", refused(address, *status))]
    Status { address: String, status: u16 },
    /// The address leads to another one, and so on without an end.
    #[error("{address} leads from one address to the next without an end.")]
    Redirects { address: String },
    /// A page for people came instead of the file, as from networks that want a login first.
    #[error("A web page came instead of {address}.")]
    WebPage { address: String },
    /// The connection broke again and again, or nothing came any more.
    #[error("The connection to {address} broke: {}", sentence(reason))]
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
    /// What came is not the file that was published.
    #[error("What came from {address} is not the published file, so it was deleted.")]
    NotPublishedFile { address: String },
    /// There is a folder of the set's name with something else in it.
    #[error("{path} is there already, and is not this data set as it was published.")]
    Occupied { path: PathBuf },
    #[error("{} is being downloaded already.", set.label())]
    InProgress { set: NamedSet },
    /// The server does not support range requests, which are needed to download part of an archive.
    #[error("The server does not send parts of {address}, and only a part of it is needed.")]
    NoRanges { address: String },
    /// The archive is damaged, of a kind that is not read, or does not have the file.
    #[error(
        "{address} is damaged, does not contain {name}, or is a ZIP archive of a kind that Inkling does not read."
    )]
    NotInArchive { address: String, name: String },
    /// There is nowhere to download from.
    #[error("There is nowhere to download this data set from.")]
    NoMirror,
    /// This is not a valid address.
    #[error("“{address}” is not the address of a mirror.")]
    Address { address: String },
    /// A file could not be written.
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
            Self::Status { status: 404 | 410, .. } | Self::Redirects { .. } | Self::NotInArchive { .. } => "Use another mirror (set INKLING_DATA_MIRROR to its address), or download the files by hand.",
            Self::Status { .. } | Self::Broken { .. } => "Try again later; what was downloaded is kept. Or use another mirror (set INKLING_DATA_MIRROR to its address).",
            Self::WebPage { .. } => "Some networks want a login first: open any page in a browser, then try again.",
            Self::TooLarge { .. } => "Use another mirror (set INKLING_DATA_MIRROR to its address).",
            Self::NotPublishedFile { .. } => "Try again, or use another mirror (set INKLING_DATA_MIRROR to its address).",
            Self::Occupied { .. } => "Move or rename that folder, then try again.",
            Self::InProgress { .. } => "Wait until that download has finished.",
            Self::NoRanges { .. } => "Use another mirror (set INKLING_DATA_MIRROR to its address), or download the archive with a browser and unpack the files by hand.",
            Self::NoMirror => "Set INKLING_DATA_MIRROR to the address of a mirror.",
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
        404 | 410 => format!("{address} does not exist."),
        _ => format!("The server does not send {address} (status {status})."),
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
