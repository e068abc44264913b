//! The end of an engine that serves a caller on another machine: the bundles that were sent to it, and the folders of its runs, whose
//! files are sent back.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::bundle::{BundleHash, MAX_BYTES, file_parts};
use crate::engine::handle::{EngineSettings, RunsTarget};
use crate::protocol::{Command, Event, JobEvent, JobResult};
use crate::records::{BundleId, BundleUse};
use crate::system::files::{TemporaryFolder, read_limited, write_whole};
use crate::system::paths::Paths;

/// Bundles that were not used for so long are deleted: they are sent again when they are needed.
const KEPT_FOR: Duration = Duration::from_hours(30 * 24);

/// What the name of the file whose time is that of a bundle's last use adds to the bundle's.
const USED: &str = ".used";

/// What was sent, and what is to be sent back.
#[derive(Debug)]
pub struct BundleStore {
    /// Bundles that are kept, each in a folder with its name.
    kept: PathBuf,
    /// Runs and checkpoints of this connection; deleted at its end, or by the next start.
    session: TemporaryFolder,
    /// Files that are coming in, by bundle.
    incoming: BTreeMap<BundleId, BTreeMap<String, Vec<u8>>>,
    bytes: u64,
}

impl BundleStore {
    /// The store of this installation.
    pub fn open(paths: &Paths) -> io::Result<Self> {
        let kept = paths.local.join("received");
        let session = TemporaryFolder::new_in(&kept)?;
        let store = Self { kept, session, incoming: BTreeMap::new(), bytes: 0 };
        store.delete_unused();
        Ok(store)
    }

    /// Where this end looks for data and saves its runs, whatever the caller's own folders are.
    pub fn settings(&self, callers: EngineSettings, paths: &Paths) -> EngineSettings {
        EngineSettings {
            data_folders: paths.data.clone(),
            data_dir: None,
            runs: RunsTarget::Store(self.session.path().join("runs")),
            checkpoints: self.session.path().join("checkpoints"),
            benchmarks: self.session.path().join("bench"),
            cuda_folder: None,
            ..callers
        }
    }

    /// The answer to a command about bundles: also to each part of a file, so that the caller sees how far it is. `None` for a command that is
    /// the engine's.
    pub fn answer(&mut self, command: &mut Command) -> Option<Event> {
        Some(match command {
            Command::FindBundle(bundle) => Event::Bundle { folder: Ok(self.find(bundle)), bundle: bundle.clone() },
            Command::SendFile { bundle, part } => {
                self.bytes += part.bytes.len() as u64;
                if self.bytes <= MAX_BYTES {
                    let file = self.incoming.entry(bundle.clone()).or_default().entry(std::mem::take(&mut part.name)).or_default();
                    file.append(&mut part.bytes);
                }
                Event::Bundle { bundle: bundle.clone(), folder: Ok(None) }
            }
            Command::KeepBundle { bundle, purpose } => {
                let files = self.incoming.remove(bundle).unwrap_or_default();
                let too_large = std::mem::take(&mut self.bytes) > MAX_BYTES;
                let folder = if too_large { Err(io::ErrorKind::FileTooLarge.into()) } else { self.keep(bundle, *purpose, &files) };
                Event::Bundle { bundle: bundle.clone(), folder: folder.map(Some).map_err(|error| error.to_string()) }
            }
            _ => return None,
        })
    }

    /// The folder of a bundle that is here.
    fn find(&self, bundle: &BundleId) -> Option<PathBuf> {
        let folder = is_digest(&bundle.0).then(|| self.kept.join(&bundle.0)).filter(|folder| folder.is_dir())?;
        self.note_use(bundle);
        Some(folder)
    }

    /// Notes the time; where that fails, the bundle is sent again some day.
    fn note_use(&self, bundle: &BundleId) {
        if let Err(error) = write_whole(&self.kept.join(format!("{}{USED}", bundle.0)), b"") {
            tracing::info!(%error, "the use of a bundle cannot be noted");
        }
    }

    fn keep(&self, bundle: &BundleId, purpose: BundleUse, files: &BTreeMap<String, Vec<u8>>) -> io::Result<PathBuf> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let mut hash = BundleHash::default();
        for (name, bytes) in files {
            if !is_name(name) {
                return Err(wrong("a file's name leads to another folder"));
            }
            hash.file(name, bytes);
        }
        if hash.id() != *bundle {
            return Err(wrong("the files were damaged on their way"));
        }
        let (parent, folder) = match purpose {
            BundleUse::Keep => (self.kept.clone(), self.kept.join(&bundle.0)),
            BundleUse::Change => (self.session.path().join("checkpoints"), self.session.path().join("checkpoints").join(&bundle.0)),
        };
        let mut new = TemporaryFolder::new_in(&parent)?;
        for (name, bytes) in files {
            write_whole(&new.path().join(name), bytes).map_err(|error| io::Error::other(error.reason))?;
        }
        match new.move_to(&folder) {
            // Sent by another caller meanwhile.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(folder),
            moved => moved.map(|()| folder),
        }
    }

    fn delete_unused(&self) {
        let Ok(entries) = std::fs::read_dir(&self.kept) else { return };
        for entry in entries.filter_map(Result::ok).filter(|entry| entry.file_name().to_str().is_some_and(is_digest)) {
            let mut note = entry.path().into_os_string();
            note.push(USED);
            let used = std::fs::metadata(&note).or_else(|_| entry.metadata()).and_then(|metadata| metadata.modified());
            if used.is_ok_and(|used| used.elapsed().is_ok_and(|since| since > KEPT_FOR)) {
                // What remains goes at the next start.
                let _ = std::fs::remove_dir_all(entry.path()).and_then(|()| std::fs::remove_file(&note));
            }
        }
    }
}

/// A name without a folder, which no system takes for one.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0'])
}

fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The files that have to be sent to the caller before this event, which names their folder: those of a checkpoint or a finished run.
pub fn files_of(event: &Event) -> io::Result<Vec<Event>> {
    let folder: &Path = match event {
        Event::Checkpoint { folder, kept: Ok(()), .. } => folder,
        Event::Job { event: JobEvent::Done(result), .. } => match &**result {
            JobResult::Train(summary) => &summary.folder,
            _ => return Ok(Vec::new()),
        },
        _ => return Ok(Vec::new()),
    };
    let mut events = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let Some(name) = entry.file_name().to_str().filter(|name| is_name(name)).map(str::to_owned) else { continue };
        // A lock, and what is just being written.
        if !entry.file_type()?.is_file() || name == "lock" {
            continue;
        }
        let bytes = read_limited(&entry.path(), MAX_BYTES)?;
        events.extend(file_parts(&name, &bytes).map(|part| Event::File { folder: folder.to_owned(), part }));
    }
    Ok(events)
}
