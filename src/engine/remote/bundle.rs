//! Bundles: files on their way to another machine, in memory; and that machine's end, which keeps
//! them, and sends back the files of its runs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::received_folder::{BundleInUse, ReceivedFolder};
use crate::data::{DataError, export_set, load};
use crate::engine::handle::{EngineSettings, RunsTarget};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::protocol::{Command, Event, JobEvent, JobResult};
use crate::records::{BundleId, BundleUse, FilePart};
use crate::run_config::{DataSpec, DatasetFormat};
use crate::runs::{CHECKPOINT, write_checkpoint};
use crate::system::files::{TemporaryFolder, read_limited, write_whole};
use crate::system::paths::Paths;
use crate::system::sha256::hex;
use crate::train::Checkpoint;

/// A file is sent in pieces of this size, so that other commands and events get through between
/// them.
const PART_BYTES: usize = 1 << 20;
/// A bundle in which more is claimed to be is not accepted: four IDX files of a million images.
pub const MAX_BYTES: u64 = 2 << 30;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    files: Vec<(String, Vec<u8>)>,
}

impl Bundle {
    pub fn of_file(path: &Path, name: &str) -> io::Result<Self> {
        Ok(Self {
            files: vec![(name.to_owned(), read_limited(path, MAX_BYTES)?)],
        })
    }

    /// The checkpoint of a run, as its folder has it.
    pub fn of_checkpoint(checkpoint: &Checkpoint) -> io::Result<Self> {
        let mut bytes = Vec::new();
        write_checkpoint(&mut bytes, checkpoint)?;
        Ok(Self {
            files: vec![(CHECKPOINT.to_owned(), bytes)],
        })
    }

    fn of_folder(folder: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry
                .file_name()
                .into_string()
                .map_err(|_| io::Error::other("a file has a name that is not UTF-8"))?;
            files.push((name, read_limited(&entry.path(), MAX_BYTES)?));
        }
        files.sort();
        Ok(Self { files })
    }

    /// The images of a data set that is on this machine, as IDX files, how many there are, and what
    /// was done to them.
    pub fn of_data(
        data: &DataSpec,
        folders: &[PathBuf],
        progress: &mut dyn Progress,
    ) -> Result<(Self, u64, Vec<String>), Problem> {
        let set = load(data, folders, progress)?;
        let folder =
            tempfile::tempdir().map_err(|error| unreadable(&std::env::temp_dir(), &error))?;
        let files = folder.path().join("data");
        export_set(&set, DatasetFormat::Idx, &files, false, &[], progress).map_err(|error| {
            DataError::Unreadable {
                path: files.clone(),
                reason: error.message.what,
            }
        })?;
        let bundle = Self::of_folder(&files).map_err(|error| unreadable(&files, &error))?;
        let images = (set.train.len() + set.test.len()) as u64;
        Ok((bundle, images, set.notes))
    }

    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes)| bytes.len() as u64).sum()
    }

    pub fn id(&self) -> BundleId {
        let mut hash = BundleHash::default();
        self.files
            .iter()
            .for_each(|(name, bytes)| hash.file(name, bytes));
        hash.id()
    }

    pub fn commands(&self, id: &BundleId, purpose: BundleUse, what: &str) -> Vec<Command> {
        let send = |part| Command::SendFile {
            bundle: id.clone(),
            part,
        };
        let parts = self
            .files
            .iter()
            .flat_map(|(name, bytes)| file_parts(name, bytes));
        parts
            .map(send)
            .chain([Command::KeepBundle {
                bundle: id.clone(),
                purpose,
                what: what.to_owned(),
            }])
            .collect()
    }
}

fn unreadable(path: &Path, error: &io::Error) -> DataError {
    DataError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}

/// The pieces of a file, in order; one for an empty file, which is a file too.
pub fn file_parts<'b>(name: &'b str, bytes: &'b [u8]) -> impl Iterator<Item = FilePart> + use<'b> {
    let pieces = bytes
        .chunks(PART_BYTES)
        .chain(bytes.is_empty().then_some(&[][..]));
    pieces.map(|piece| FilePart {
        name: name.to_owned(),
        bytes: piece.to_vec(),
    })
}

/// Files that come in, a part at a time, by where they belong.
#[derive(Debug)]
pub struct IncomingFiles<K> {
    files: BTreeMap<K, BTreeMap<String, Vec<u8>>>,
    bytes: u64,
}

impl<K> Default for IncomingFiles<K> {
    fn default() -> Self {
        Self {
            files: BTreeMap::new(),
            bytes: 0,
        }
    }
}

impl<K: Ord> IncomingFiles<K> {
    /// Takes in a part; what comes beyond the limit is dropped, and its file will be found damaged.
    pub fn take(&mut self, of: K, part: &mut FilePart) {
        self.bytes += part.bytes.len() as u64;
        if self.bytes <= MAX_BYTES {
            self.files
                .entry(of)
                .or_default()
                .entry(std::mem::take(&mut part.name))
                .or_default()
                .append(&mut part.bytes);
        }
    }

    /// What has come for this, and whether all of it was taken in. The rest is dropped: one thing
    /// is sent after the other, and what of another failed is no use to anybody.
    pub fn remove<Q: Ord + ?Sized>(&mut self, of: &Q) -> (BTreeMap<String, Vec<u8>>, bool)
    where
        K: std::borrow::Borrow<Q>,
    {
        let Self { mut files, bytes } = std::mem::take(self);
        (files.remove(of).unwrap_or_default(), bytes <= MAX_BYTES)
    }
}

/// The digest of files that come one after the other, sorted by name.
#[derive(Clone, Debug, Default)]
pub struct BundleHash(Sha256);

impl BundleHash {
    pub fn file(&mut self, name: &str, bytes: &[u8]) {
        self.0.update((name.len() as u64).to_le_bytes());
        self.0.update(name.as_bytes());
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// The name of a bundle with these files and no others.
    pub fn id(self) -> BundleId {
        BundleId(hex(&self.0.finalize()))
    }
}

/// The bundle that was sent, and the files to send back.
#[derive(Debug)]
pub struct BundleStore {
    received: ReceivedFolder,
    /// Those that the job in progress, or the next one, has asked for.
    in_use: Vec<BundleInUse>,
    /// Runs and checkpoints of this connection; deleted at its end, or by the next start.
    session: TemporaryFolder,
    incoming: IncomingFiles<BundleId>,
}

impl BundleStore {
    pub fn open(paths: &Paths) -> io::Result<Self> {
        let received = ReceivedFolder::of(paths);
        received.create()?;
        let session = TemporaryFolder::new_in(received.path())?;
        Ok(Self {
            received,
            in_use: Vec::new(),
            session,
            incoming: IncomingFiles::default(),
        })
    }

    /// Notes that a job has ended: what it used may be deleted again.
    pub fn job_ended(&mut self) {
        self.in_use.clear();
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

    /// The answer to a command about bundles: also to each part of a file, so that the caller sees
    /// how far it is. `None` for a command that is the engine's.
    pub fn answer(&mut self, command: &mut Command) -> Option<Event> {
        Some(match command {
            Command::FindBundle(bundle) => Event::Bundle {
                folder: Ok(self.find(bundle)),
                bundle: bundle.clone(),
            },
            Command::SendFile { bundle, part } => {
                self.incoming.take(bundle.clone(), part);
                Event::Bundle {
                    bundle: bundle.clone(),
                    folder: Ok(None),
                }
            }
            Command::KeepBundle {
                bundle,
                purpose,
                what,
            } => {
                let (files, is_whole) = self.incoming.remove(bundle);
                let folder = if is_whole {
                    self.keep(bundle, *purpose, &files, what)
                } else {
                    Err(io::ErrorKind::FileTooLarge.into())
                };
                Event::Bundle {
                    bundle: bundle.clone(),
                    folder: folder.map(Some).map_err(|error| error.to_string()),
                }
            }
            _ => return None,
        })
    }

    fn find(&mut self, bundle: &BundleId) -> Option<PathBuf> {
        let found = self.received.find(bundle)?;
        let folder = found.folder.clone();
        self.in_use.push(found);
        Some(folder)
    }

    fn keep(
        &mut self,
        bundle: &BundleId,
        purpose: BundleUse,
        files: &BTreeMap<String, Vec<u8>>,
        what: &str,
    ) -> io::Result<PathBuf> {
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
        let checkpoints = self.session.path().join("checkpoints");
        let parent = if purpose == BundleUse::Keep {
            self.received.path()
        } else {
            &checkpoints
        };
        let mut new = TemporaryFolder::new_in(parent)?;
        for (name, bytes) in files {
            write_whole(&new.path().join(name), bytes)
                .map_err(|error| io::Error::other(error.reason))?;
        }
        match purpose {
            BundleUse::Keep => {
                let kept = self.received.keep(bundle, new, what)?;
                let folder = kept.folder.clone();
                self.in_use.push(kept);
                Ok(folder)
            }
            BundleUse::Change => match new.move_to(&checkpoints.join(&bundle.0)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                _ => Ok(checkpoints.join(&bundle.0)),
            },
        }
    }
}

/// A name without a folder, which no system takes for one.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0'])
}

/// The files that have to be sent to the caller before this event, which names their folder: those
/// of a checkpoint or a finished run.
pub fn files_of(event: &Event) -> io::Result<Vec<Event>> {
    let folder: &Path = match event {
        Event::Checkpoint {
            folder,
            kept: Ok(()),
            ..
        } => folder,
        Event::Job {
            event: JobEvent::Done(result),
            ..
        } => match &**result {
            JobResult::Train(summary) => &summary.folder,
            _ => return Ok(Vec::new()),
        },
        _ => return Ok(Vec::new()),
    };
    let mut events = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let Some(name) = entry
            .file_name()
            .to_str()
            .filter(|name| is_name(name))
            .map(str::to_owned)
        else {
            continue;
        };
        // A lock, and what is just being written.
        if !entry.file_type()?.is_file() || name == "lock" {
            continue;
        }
        let bytes = read_limited(&entry.path(), MAX_BYTES)?;
        events.extend(file_parts(&name, &bytes).map(|part| Event::File {
            folder: folder.to_owned(),
            part,
        }));
    }
    Ok(events)
}
