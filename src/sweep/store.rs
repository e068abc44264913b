//! The sweeps in Inkling's own folder: listing, deleting and restoring them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::definition::SweepDefinition;
use super::error::SweepError;
use super::journal::Sweep;
use super::trial::Trial;
use crate::system::WriteError;
use crate::system::files::create_folder;

/// Where deleted sweeps are until the window closes.
const DELETED: &str = ".deleted";

#[derive(Clone, Debug, PartialEq)]
pub struct SweepEntry {
    pub folder: PathBuf,
    /// Its definition and state, or why they cannot be read.
    pub card: Result<SweepCard, SweepError>,
}

impl SweepEntry {
    pub fn is_resumable(&self) -> bool {
        self.card.as_ref().is_ok_and(|card| !card.complete)
    }
}

/// The entry of a sweep in the list.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepCard {
    pub definition: SweepDefinition,
    pub ended: u32,
    /// The highest validation accuracy, 0 to 1.
    pub best: Option<f64>,
    pub complete: bool,
}

/// The folder that sweeps are kept in.
#[derive(Clone, Debug)]
pub struct SweepStore {
    root: PathBuf,
}

impl SweepStore {
    /// The sweeps in this folder, which need not be there yet.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Every sweep, the newest first. Journals are read as a whole, which takes a moment.
    pub fn list(&self) -> Vec<SweepEntry> {
        let mut folders: Vec<PathBuf> = Sweep::folders_in(&self.root).collect();
        folders.sort_unstable_by(|a, b| b.cmp(a));
        let card = |sweep: Sweep| SweepCard {
            ended: sweep.ends().len() as u32,
            best: sweep.best().and_then(Trial::result),
            complete: sweep.is_complete(),
            definition: sweep.definition().clone(),
        };
        folders
            .into_iter()
            .map(|folder| SweepEntry {
                card: Sweep::open(&folder).map(card),
                folder,
            })
            .collect()
    }

    /// Deletes a sweep; until [`SweepStore::empty_deleted`] it can be restored.
    pub fn delete(&self, folder: &Path) -> Result<(), SweepError> {
        let aside = self.aside(folder).ok_or_else(|| SweepError::None {
            folder: folder.to_owned(),
        })?;
        // Only a damaged one may go without its lock.
        if let Err(error @ SweepError::InUse { .. }) = Sweep::open(folder) {
            return Err(error);
        }
        create_folder(&self.root.join(DELETED)).map_err(|error| WriteError::new(&aside, &error))?;
        Ok(fs::rename(folder, &aside).map_err(|error| WriteError::new(folder, &error))?)
    }

    /// Puts a deleted sweep back in its folder.
    pub fn restore(&self, folder: &Path) -> Result<(), SweepError> {
        let aside = self.aside(folder).ok_or_else(|| SweepError::None {
            folder: folder.to_owned(),
        })?;
        Ok(fs::rename(aside, folder).map_err(|error| WriteError::new(folder, &error))?)
    }

    pub fn empty_deleted(&self) {
        match fs::remove_dir_all(self.root.join(DELETED)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::info!(%error, "deleted sweeps remain on the disk");
            }
            _ => {}
        }
    }

    /// Where a sweep of this store goes when it is deleted; `None` for a folder that is not
    /// directly in it.
    fn aside(&self, folder: &Path) -> Option<PathBuf> {
        (folder.parent() == Some(&self.root)).then_some(())?;
        Some(self.root.join(DELETED).join(folder.file_name()?))
    }
}
