//! A bundle in memory: files on their way to another machine.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::data::{DataError, export_set, load};
use crate::problem::Problem;
use crate::progress::Progress;
use crate::protocol::Command;
use crate::records::{BundleId, BundleUse, FilePart};
use crate::run_config::{DataSpec, SetFormat};
use crate::runs::{CHECKPOINT, write_checkpoint};
use crate::system::files::read_limited;
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

    /// The images of a data set that is on this machine, as IDX files, and how many there are.
    pub fn of_data(
        data: &DataSpec,
        folders: &[PathBuf],
        progress: &mut dyn Progress,
    ) -> Result<(Self, u64), Problem> {
        let set = load(data, folders, progress)?;
        let folder =
            tempfile::tempdir().map_err(|error| unreadable(&std::env::temp_dir(), &error))?;
        let files = folder.path().join("data");
        export_set(&set, SetFormat::Idx, &files, false, &[], progress).map_err(|error| {
            DataError::Unreadable {
                path: files.clone(),
                reason: error.message.what,
            }
        })?;
        let bundle = Self::of_folder(&files).map_err(|error| unreadable(&files, &error))?;
        Ok((bundle, (set.train.len() + set.test.len()) as u64))
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
