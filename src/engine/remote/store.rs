//! The end of an engine that serves a caller on another machine: the bundles that were sent to it,
//! and the folders of its runs, whose files are sent back.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::bundle::{BundleHash, MAX_BYTES, file_parts};
use super::received_folder::{BundleInUse, ReceivedFolder};
use crate::engine::handle::{EngineSettings, RunsTarget};
use crate::protocol::{Command, Event, JobEvent, JobResult};
use crate::records::{BundleId, BundleUse};
use crate::system::files::{TemporaryFolder, read_limited, write_whole};
use crate::system::paths::Paths;

/// What was sent, and what is to be sent back.
#[derive(Debug)]
pub struct BundleStore {
    received: ReceivedFolder,
    /// Those that the job in progress, or the next one, has asked for.
    in_use: Vec<BundleInUse>,
    /// Runs and checkpoints of this connection; deleted at its end, or by the next start.
    session: TemporaryFolder,
    /// Files that are coming in, by bundle.
    incoming: BTreeMap<BundleId, BTreeMap<String, Vec<u8>>>,
    bytes: u64,
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
            incoming: BTreeMap::new(),
            bytes: 0,
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
                self.bytes += part.bytes.len() as u64;
                if self.bytes <= MAX_BYTES {
                    let file = self
                        .incoming
                        .entry(bundle.clone())
                        .or_default()
                        .entry(std::mem::take(&mut part.name))
                        .or_default();
                    file.append(&mut part.bytes);
                }
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
                // Bundles are sent one after the other: nothing else is coming in.
                let files = std::mem::take(&mut self.incoming)
                    .remove(bundle)
                    .unwrap_or_default();
                let too_large = std::mem::take(&mut self.bytes) > MAX_BYTES;
                let folder = if too_large {
                    Err(io::ErrorKind::FileTooLarge.into())
                } else {
                    self.keep(bundle, *purpose, &files, what)
                };
                Event::Bundle {
                    bundle: bundle.clone(),
                    folder: folder.map(Some).map_err(|error| error.to_string()),
                }
            }
            _ => return None,
        })
    }

    /// The folder of a bundle that is here.
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
