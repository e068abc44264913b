use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::progress::Cancelled;
use crate::run_config::NamedSet;
use crate::system::WriteError;

/// Why a data set could not be downloaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum DownloadError {
    /// No connection: the machine is offline, the name is not known, or nobody answers there.
    #[error("no connection to {address}: {reason}")]
    NoConnection { address: String, reason: String },
    /// The server does not have the file, or does not give it.
    #[error("{address} answers with status {status}")]
    Status { address: String, status: u16 },
    /// The address leads to another one, and so on without an end.
    #[error("{address} redirects without an end")]
    Redirects { address: String },
    /// A page for people came instead of the file, as from networks that want a login first.
    #[error("{address} is a web page")]
    WebPage { address: String },
    /// The connection broke again and again, or nothing came any more.
    #[error("the connection to {address} broke: {reason}")]
    Broken { address: String, reason: String },
    #[error("{address} is larger than {largest} bytes")]
    TooLarge {
        address: String,
        /// The most that is accepted, in bytes.
        largest: u64,
    },
    /// What came is not the file that was published.
    #[error("{address} is not the published file")]
    NotPublishedFile { address: String },
    /// There is a folder of the set's name with something else in it.
    #[error("{path} is there already")]
    Occupied { path: PathBuf },
    #[error("{set:?} is being downloaded")]
    InProgress { set: NamedSet },
    /// The server does not support range requests, which are needed to download part of an archive.
    #[error("the server does not send parts of {address}")]
    NoRanges { address: String },
    /// The archive is damaged, of a kind that is not read, or does not have the file.
    #[error("{address} does not contain {name}")]
    NotInArchive { address: String, name: String },
    /// There is nowhere to download from.
    #[error("there is no mirror")]
    NoMirror,
    /// This is not a valid address.
    #[error("{address} is not a valid address")]
    Address { address: String },
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Whoever waited for it cancelled it; it can be resumed.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
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
