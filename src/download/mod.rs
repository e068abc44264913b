//! Data sets from their public mirrors, over HTTPS. Nothing else in Inkling uses a network by
//! itself (`engine/remote` starts `ssh`), and nothing is downloaded unless a person asks for it.
//!
//! A set is whole or not there: its files are collected in a folder beside the one that they will
//! have, which is what an interrupted download is resumed from. Nothing is assumed about the
//! contents of the files beyond their digests.

mod archive;
mod client;
mod error;
mod sources;

use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use self::client::{Bytes, Client};
pub use self::error::DownloadError;
pub use self::sources::{MNIST_SHA256, Mirror, mirrors, published_size};
use self::sources::{SourceFile, files};
use crate::progress::{Cancelled, Progress};
use crate::run_config::PublicDataset;
use crate::system::WriteError;
use crate::system::files::{create_folder, open_lock, sync_folder};
use crate::text::visible;

#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// How long a server may take to answer, and the slowest that the rest of a file may come, on
    /// top of that.
    pub wait: Duration,
    /// How often a connection may break without anything having come.
    pub attempts: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(30),
            attempts: 5,
        }
    }
}

/// Downloads a set into a folder of its name below the given one, as [`download`] does from the
/// usual mirrors.
pub type Downloader = Arc<
    dyn Fn(
            PublicDataset,
            &Path,
            &mut dyn FnMut(f32) -> Result<(), Cancelled>,
        ) -> Result<PathBuf, DownloadError>
        + Send
        + Sync,
>;

/// Whether this machine can reach others: it has a route to them. Sends nothing.
pub fn has_network() -> bool {
    // Connecting a datagram socket only looks for the route. These addresses are for documentation
    // and belong to nobody.
    let has_route =
        |from: &str, to: &str| UdpSocket::bind(from).is_ok_and(|socket| socket.connect(to).is_ok());
    has_route("0.0.0.0:0", "192.0.2.1:443") || has_route("[::]:0", "[2001:db8::1]:443")
}

/// Downloads from where the environment says, or from the public mirrors.
pub fn usual_downloader() -> Downloader {
    Arc::new(|set, folder, mut progress| {
        let mirror = Mirror::from_env()?;
        download(
            set,
            mirror.as_ref(),
            folder,
            RetryPolicy::default(),
            &mut progress,
        )
    })
}

/// Downloads the files of a set into a folder of its name below `folder`, and returns that one.
/// `progress` gets the fraction of the bytes; an error from it ends the download, which is resumed
/// by the next one. `mirror` has a folder for each set, or is an archive; without it, the public
/// ones are tried in turn.
pub fn download(
    set: PublicDataset,
    mirror: Option<&Mirror>,
    folder: &Path,
    patience: RetryPolicy,
    progress: &mut impl Progress,
) -> Result<PathBuf, DownloadError> {
    let files = files(set);
    let target = folder.join(set.name());
    let partial = folder.join(format!("{}.partial", set.name()));
    if target.exists() {
        let complete = files.iter().all(|file| file.is_at(&target.join(file.name)));
        return if complete {
            Ok(target)
        } else {
            Err(DownloadError::Occupied { path: target })
        };
    }
    create_folder(&partial).map_err(|error| WriteError::new(&partial, &error))?;
    let lock_path = partial.join("lock");
    let lock = open_lock(&lock_path).map_err(|error| WriteError::new(&lock_path, &error))?;
    if lock.try_lock().is_err() {
        return Err(DownloadError::InProgress { set });
    }
    let usual = mirrors(set);
    let other = mirror.map(|mirror| mirror.folder_of(set));
    let mirrors = other
        .as_ref()
        .map_or(usual.as_slice(), std::slice::from_ref);
    let authorization = other.as_ref().and_then(Mirror::authorization);
    let client = Client::new(
        mirrors.iter().all(Mirror::is_encrypted),
        patience,
        authorization,
    );
    let total = published_size(set) as f32;
    let mut before = 0.0;
    for file in files {
        let end = before + file.size as f32 / total;
        fetch(
            &client,
            mirrors,
            file,
            &partial,
            &mut progress.part(before, end),
        )?;
        before = end;
    }
    // Windows moves no folder in which a file is open.
    drop(lock);
    std::fs::remove_file(&lock_path).map_err(|error| WriteError::new(&lock_path, &error))?;
    std::fs::rename(&partial, &target).map_err(|error| WriteError::new(&target, &error))?;
    sync_folder(folder);
    Ok(target)
}

/// Downloads one file from the first mirror that has it as it was published, unless it is there
/// already.
fn fetch(
    client: &Client,
    mirrors: &[Mirror],
    file: &SourceFile,
    folder: &Path,
    progress: &mut impl Progress,
) -> Result<(), DownloadError> {
    let [whole, part, compressed] =
        ["", ".part", ".zip.part"].map(|suffix| folder.join(format!("{}{suffix}", file.name)));
    if file.is_at(&whole) {
        return Ok(progress.report(1.0)?);
    }
    let mut failure = None;
    for mirror in mirrors {
        let address = mirror.address_of(file.name);
        let fetched = if mirror.is_archive() {
            archive::fetch(client, &address, file, (&compressed, &part), progress)
        } else {
            client.fetch(
                &address,
                &Bytes::All {
                    size: file.size,
                    largest: file.largest(),
                },
                &part,
                progress,
            )
        };
        let fetched = fetched.and_then(|()| {
            if file.is_at(&part) {
                // What an archive had begun to send, before another mirror sent all of it.
                let _ = std::fs::remove_file(&compressed);
                return std::fs::rename(&part, &whole)
                    .map_err(|error| WriteError::new(&whole, &error).into());
            }
            // The next download begins anew.
            std::fs::remove_file(&part).map_err(|error| WriteError::new(&part, &error))?;
            Err(DownloadError::NotPublishedFile { address })
        });
        match fetched {
            Err(error) if !error.is_final() => failure = Some(error),
            done => return done,
        }
    }
    Err(failure.unwrap_or(DownloadError::NoMirror))
}

/// How to get the set without Inkling: which files, from where, and where they belong; `None` for
/// one that has no public mirror.
pub fn by_hand(set: PublicDataset, folder: &Path) -> Option<String> {
    let names = files(set)
        .iter()
        .map(|file| file.name)
        .collect::<Vec<_>>()
        .join(", ");
    let (mirror, folder) = (
        mirrors(set).into_iter().next()?,
        visible::path(&folder.join(set.name())),
    );
    Some(if mirror.is_archive() {
        format!("Manually: download {mirror} and unpack {names} into {folder}")
    } else {
        format!("Manually: download {names} from {mirror} into {folder}")
    })
}
