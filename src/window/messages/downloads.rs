//! Why a data set could not be downloaded, and what to do.

use super::Message;
use super::problems::{of_write, sentence};
use crate::download::DownloadError;
use crate::text::format::file_size;

const TRY_AGAIN: &str = "Try again later; what was downloaded is kept. Or use another mirror (set INKLING_DATA_MIRROR to its address).";

pub(super) fn of_download(error: &DownloadError) -> Message {
    match error {
        DownloadError::NoConnection { address, reason } => Message::new(
            format!("There is no connection to {address}: {}", sentence(reason)),
            "Check your network, and the proxy if there is one (HTTPS_PROXY). The built-in digits need no download.",
        ),
        DownloadError::Status {
            address,
            status: 404 | 410,
        } => Message::new(
            format!("{address} does not exist."),
            "Use another mirror (set INKLING_DATA_MIRROR to its address), or download the files by hand.",
        ),
        DownloadError::Status { address, status } => Message::new(
            format!("The server does not send {address} (status {status})."),
            TRY_AGAIN,
        ),
        DownloadError::Redirects { address } => Message::new(
            format!("{address} leads from one address to the next without an end."),
            "Use another mirror (set INKLING_DATA_MIRROR to its address), or download the files by hand.",
        ),
        DownloadError::WebPage { address } => Message::new(
            format!("A web page came instead of {address}."),
            "Some networks want a login first: open any page in a browser, then try again.",
        ),
        DownloadError::Broken { address, reason } => Message::new(
            format!("The connection to {address} broke: {}", sentence(reason)),
            TRY_AGAIN,
        ),
        DownloadError::TooLarge { address, largest } => Message::new(
            format!(
                "{address} is larger than the published file, of which at most {} are accepted.",
                file_size(*largest)
            ),
            "Use another mirror (set INKLING_DATA_MIRROR to its address).",
        ),
        DownloadError::NotPublishedFile { address } => Message::new(
            format!("What came from {address} is not the published file, so it was deleted."),
            "Try again, or use another mirror (set INKLING_DATA_MIRROR to its address).",
        ),
        DownloadError::Occupied { path } => Message::new(
            format!(
                "{} is there already, and is not this data set as it was published.",
                path.display()
            ),
            "Move or rename that folder, then try again.",
        ),
        DownloadError::InProgress { set } => Message::new(
            format!("{} is being downloaded already.", set.label()),
            "Wait until that download has finished.",
        ),
        DownloadError::NoRanges { address } => Message::new(
            format!(
                "The server does not send parts of {address}, and only a part of it is needed."
            ),
            "Use another mirror (set INKLING_DATA_MIRROR to its address), or download the archive with a browser and unpack the files by hand.",
        ),
        DownloadError::NotInArchive { address, name } => Message::new(
            format!(
                "{address} is damaged, does not contain {name}, or is a ZIP archive of a kind that Inkling does not read."
            ),
            "Use another mirror (set INKLING_DATA_MIRROR to its address), or download the files by hand.",
        ),
        DownloadError::NoMirror => Message::new(
            "There is nowhere to download this data set from.",
            "Set INKLING_DATA_MIRROR to the address of a mirror.",
        ),
        DownloadError::Address { address } => Message::new(
            format!("“{address}” is not the address of a mirror."),
            "Write it as in https://example.org/datasets/.",
        ),
        DownloadError::Write(error) => of_write(error),
        DownloadError::Cancelled(_) => Message::new(
            "The download was cancelled.",
            "What was downloaded is kept: the next download resumes there.",
        ),
    }
}
