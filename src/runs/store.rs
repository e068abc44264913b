//! The folder in which all finished runs of this installation are saved.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::folder::{RunContents, check_writable, holds_only_ours, load, unwritable, write_beside};
use super::titles::{next_number, set_titles};
use super::{CheckpointWriter, FinishedRun, RunError, annotation_file, evaluation_file};
use crate::records::{Annotation, RunSummary, SplitEvaluation};
use crate::run_config::{DataSource, DataSpec, WeightFormat};
use crate::system::files::create_folder;
use crate::train::TrainedModel;

/// Runs of the same second, network and data that get a name each.
const MAX_ALIKE: u32 = 10_000;
const DELETED: &str = ".deleted";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunEntry {
    pub folder: PathBuf,
    /// Its run, or why that cannot be read.
    pub summary: Result<Box<RunSummary>, RunError>,
    pub annotation: Annotation,
    /// What it is called; no other entry has the same title.
    pub title: String,
}

impl Store {
    /// The store in this folder, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Whether `save` can write; to be asked before hours are spent on training.
    pub fn check(&self) -> Result<(), RunError> {
        check_writable(&self.root)
    }

    /// Writes a run to a new folder. The summary returned names the folder and the model in it. The
    /// run's checkpoints are told where it goes; see [`CheckpointWriter::note_target`].
    pub fn save(
        &self,
        outcome: &TrainedModel,
        weights: WeightFormat,
        checkpoints: Option<&CheckpointWriter>,
    ) -> Result<RunSummary, RunError> {
        self.keep(&RunContents::of(outcome)?, weights, checkpoints)
    }

    /// The same with a model that was not trained here.
    pub fn keep(
        &self,
        contents: &RunContents<'_>,
        weights: WeightFormat,
        checkpoints: Option<&CheckpointWriter>,
    ) -> Result<RunSummary, RunError> {
        let summary = RunSummary {
            number: Some(self.next_number(&contents.summary)),
            ..contents.summary.clone().into_owned()
        };
        let contents = RunContents {
            summary: Cow::Borrowed(&summary),
            ..contents.clone()
        };
        let mut complete = write_beside(&self.root, &contents, weights, checkpoints)?;
        let name = folder_name(&summary);
        let mut count = 1;
        loop {
            let folder = self.root.join(if count == 1 {
                name.clone()
            } else {
                format!("{name}_{count}")
            });
            checkpoints
                .iter()
                .for_each(|checkpoints| checkpoints.note_target(&folder));
            match complete.move_to(&folder) {
                Ok(()) => return load(&folder),
                // Taken, perhaps this moment, by another run that has just ended.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && count < MAX_ALIKE => {
                    count += 1;
                }
                Err(error) => return Err(unwritable(&folder, &error)),
            }
        }
    }

    /// Every run, the newest first; folders that cannot be used come last. Empty when there is no
    /// store yet.
    pub fn list(&self) -> Vec<RunEntry> {
        let Ok(entries) = std::fs::read_dir(&self.root) else {
            return Vec::new();
        };
        let mut runs: Vec<RunEntry> = entries
            .filter_map(Result::ok)
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
            .map(|entry| entry.path())
            .filter(|path| path.is_dir())
            .map(|folder| {
                let (summary, annotation) =
                    (load(&folder).map(Box::new), annotation_file::read(&folder));
                RunEntry {
                    folder,
                    summary,
                    annotation,
                    title: String::new(),
                }
            })
            .collect();
        let finished = |entry: &RunEntry| {
            entry
                .summary
                .as_ref()
                .ok()
                .and_then(|run| run.finished_at.parse::<jiff::Timestamp>().ok())
        };
        runs.sort_by(|a, b| {
            finished(b)
                .cmp(&finished(a))
                .then_with(|| b.folder.cmp(&a.folder))
        });
        set_titles(&mut runs);
        runs
    }

    /// The newest run that can be read. The names of their folders sort by age: only its own files
    /// are read.
    pub fn newest(&self) -> Option<FinishedRun> {
        let entries = std::fs::read_dir(&self.root).ok()?.filter_map(Result::ok);
        let visible = entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'));
        let mut folders: Vec<PathBuf> = visible.map(|entry| entry.path()).collect();
        folders.sort_unstable_by(|a, b| b.cmp(a));
        folders
            .iter()
            .find_map(|folder| FinishedRun::load(folder).ok())
    }

    /// Gives a run its name, note and star.
    pub fn annotate(&self, folder: &Path, annotation: &Annotation) -> Result<(), RunError> {
        self.check_present(folder)?;
        annotation_file::write(folder, annotation)
    }

    /// Keeps the evaluation of a run's model that a person asked for, in place of the one before.
    pub fn keep_evaluation(
        &self,
        folder: &Path,
        evaluation: &SplitEvaluation,
    ) -> Result<(), RunError> {
        self.check_present(folder)?;
        evaluation_file::write(folder, evaluation)
    }

    /// An error where no run is: writing would make a folder that was deleted meanwhile.
    fn check_present(&self, folder: &Path) -> Result<(), RunError> {
        if folder.parent() == Some(&self.root) && folder.is_dir() {
            return Ok(());
        }
        Err(RunError::Unreadable {
            folder: folder.to_owned(),
            reason: "it is not in the runs folder".to_owned(),
        })
    }

    /// The number of a run that is about to be saved. Those that can be restored keep theirs.
    fn next_number(&self, summary: &RunSummary) -> u32 {
        let (listed, deleted) = (self.list(), Self::new(self.deleted()).list());
        next_number(&summary.config.title(), listed.iter().chain(&deleted))
    }

    /// Deletes a run; until [`Store::empty_deleted`] it can be restored. Only a run's folder
    /// directly in this store is ever deleted; what is left of a damaged one, if nothing else lies
    /// there.
    pub fn delete(&self, folder: &Path) -> Result<(), RunError> {
        let unreadable = |error: std::io::Error| RunError::Unreadable {
            folder: folder.to_owned(),
            reason: error.to_string(),
        };
        let malformed = |reason: &str| RunError::Malformed {
            folder: folder.to_owned(),
            reason: reason.to_owned(),
        };
        let root = self.root.canonicalize().map_err(unreadable)?;
        if folder.symlink_metadata().map_err(unreadable)?.is_symlink() {
            return Err(malformed("it is a symbolic link"));
        }
        let inside = folder.canonicalize().map_err(unreadable)?;
        if inside.parent() != Some(root.as_path()) || inside == self.deleted() {
            return Err(malformed("it is not in the runs folder"));
        }
        if load(&inside).is_err() && !holds_only_ours(&inside).map_err(unreadable)? {
            return Err(malformed("it contains other files, so it was not deleted"));
        }
        let aside = self
            .deleted_path(folder)
            .ok_or_else(|| malformed("it has no name"))?;
        create_folder(&self.deleted()).map_err(unreadable)?;
        // Another run of this name, deleted before, cannot be restored any more.
        match std::fs::remove_dir_all(&aside) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(unreadable(error)),
            _ => {}
        }
        std::fs::rename(&inside, aside).map_err(unreadable)
    }

    /// Puts a deleted run back in its folder.
    pub fn restore(&self, folder: &Path) -> Result<(), RunError> {
        let unreadable = |error: std::io::Error| RunError::Unreadable {
            folder: folder.to_owned(),
            reason: error.to_string(),
        };
        if folder.symlink_metadata().is_ok() {
            return Err(RunError::Occupied {
                folder: folder.to_owned(),
            });
        }
        let aside = self
            .deleted_path(folder)
            .ok_or_else(|| unreadable(ErrorKind::NotFound.into()))?;
        std::fs::rename(aside, folder).map_err(unreadable)
    }

    /// Removes the deleted runs from the disk.
    pub fn empty_deleted(&self) {
        match std::fs::remove_dir_all(self.deleted()) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::info!(%error, "deleted runs remain on the disk");
            }
            _ => {}
        }
    }

    fn deleted(&self) -> PathBuf {
        self.root.join(DELETED)
    }

    /// Where the run that was in this folder is while it can be restored.
    fn deleted_path(&self, folder: &Path) -> Option<PathBuf> {
        Some(self.deleted().join(folder.file_name()?))
    }
}

/// Such as `2026-11-21_14-03-11_convnet_builtin`, in local time: sorts by age, every file system
/// takes it, and no shell needs quotes around it. What is in a run stands in its files.
fn folder_name(summary: &RunSummary) -> String {
    let finished = summary
        .finished_at
        .parse::<jiff::Timestamp>()
        .unwrap_or_else(|_| jiff::Timestamp::now());
    let time = finished
        .to_zoned(jiff::tz::TimeZone::system())
        .strftime("%Y-%m-%d_%H-%M-%S")
        .to_string();
    format!(
        "{time}_{}_{}",
        summary.config.model,
        data_name(&summary.config.data)
    )
}

/// The data's name, short and made of harmless characters.
fn data_name(data: &DataSpec) -> String {
    let name = |source: &DataSource| match source {
        DataSource::Builtin | DataSource::Named(_) | DataSource::Mine | DataSource::Unknown => {
            source.name()
        }
        DataSource::Path(_) => source.label(),
    };
    let names = data
        .sources()
        .iter()
        .map(name)
        .collect::<Vec<_>>()
        .join("+");
    let safe = |c: char| {
        if c.is_alphanumeric() || "-_+".contains(c) {
            c
        } else {
            '-'
        }
    };
    names.chars().map(safe).take(40).collect()
}
