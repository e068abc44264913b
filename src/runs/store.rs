//! The folder in which all finished runs of this installation are saved, whether its disk has space
//! for another, and the titles of the models in it: what a person calls them, or network and data.
//! No two models have the same.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::folder::{
    ANNOTATION, EVALUATION, FinishedRun, RunContents, annotation_of, check_writable,
    holds_only_ours, load, write_beside,
};
use super::{CheckpointWriter, RunError};
use crate::nn::parameter_count;
use crate::optim::OptimizerConfig;
use crate::records::{
    Annotation, MAX_SNAPSHOTS, RunSummary, SplitEvaluation, posterior_sample_count,
};
use crate::run_config::{DataSource, DataSpec, RunConfig, WeightFormat};
use crate::system::disk;
use crate::system::files::create_folder;
use crate::text::format::{joined, name_time};
use crate::text::visible;
use crate::train::{HISTORY_BYTES, TrainedModel};

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
    /// Its name; no other entry has the same title.
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
    /// run's checkpoints record where it goes; see [`CheckpointWriter::note_target`].
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
        let complete = write_beside(&self.root, &contents, weights, checkpoints)?;
        let folder = complete.move_into(&self.root, &folder_name(&summary), |folder| {
            checkpoints
                .iter()
                .for_each(|checkpoints| checkpoints.note_target(folder));
        })?;
        load(&folder)
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
            .map(|folder| RunEntry {
                summary: load(&folder).map(Box::new),
                annotation: annotation_of(&folder),
                folder,
                title: String::new(),
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
        ANNOTATION.write(folder, annotation)
    }

    /// Keeps the evaluation of a run's model that a person asked for, in place of the one before.
    pub fn keep_evaluation(
        &self,
        folder: &Path,
        evaluation: &SplitEvaluation,
    ) -> Result<(), RunError> {
        self.check_present(folder)?;
        EVALUATION.write(folder, evaluation)
    }

    /// An error if no run is: writing would make a folder that was deleted meanwhile.
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
        let unreadable = RunError::unreadable(folder);
        let malformed = |reason| RunError::malformed(folder, reason);
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

    /// Deletes a run and removes it from the disk.
    pub fn delete_for_good(&self, folder: &Path) -> Result<(), RunError> {
        self.delete(folder)?;
        self.deleted_path(folder)
            .map_or(Ok(()), std::fs::remove_dir_all)
            .map_err(|error| RunError::Unreadable {
                folder: folder.to_owned(),
                reason: error.to_string(),
            })
    }

    /// Puts a deleted run back in its folder.
    pub fn restore(&self, folder: &Path) -> Result<(), RunError> {
        let unreadable = RunError::unreadable(folder);
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

/// Such as `2026-11-21_14-03-11_convnet_builtin`. What is in a run stands in its files.
fn folder_name(summary: &RunSummary) -> String {
    let finished = summary
        .finished_at
        .parse::<jiff::Timestamp>()
        .unwrap_or_else(|_| jiff::Timestamp::now());
    format!(
        "{}_{}_{}",
        name_time(finished),
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
    let names = joined(data.sources().iter().map(name), "+");
    let safe = |c: char| {
        if c.is_alphanumeric() || "-_+".contains(c) {
            c
        } else {
            '-'
        }
    };
    names.chars().map(safe).take(40).collect()
}

/// The name of the model that comes with Inkling.
pub const STARTER_MODEL: &str = "Starter model";
/// The name of the model of the run in progress.
pub const CURRENT_RUN: &str = "Current run";
/// The name of the model of a run that has ended until it is loaded from its file.
pub const LAST_RUN: &str = "Last run";

/// No saved run has one of these titles.
const RESERVED: [&str; 3] = [STARTER_MODEL, CURRENT_RUN, LAST_RUN];

/// Gives each of these runs, the newest of which comes first, a distinct title: the name a person
/// gave it, or its network and data, with a number from the second such run on. If two would be
/// the same, the older run keeps its title.
pub fn set_titles(runs: &mut [RunEntry]) {
    let mut titles = Titles::default();
    for name in RESERVED {
        titles.take(name);
    }
    for run in &mut *runs {
        run.title.clear();
    }
    // Names that were given, then numbers, then what is left.
    let ways: [fn(&RunEntry, &mut Titles) -> Option<String>; 2] = [given, numbered];
    for way in ways {
        for run in runs.iter_mut().rev().filter(|run| run.title.is_empty()) {
            run.title = way(run, &mut titles).unwrap_or_default();
        }
    }
    for run in runs.iter_mut().rev().filter(|run| run.title.is_empty()) {
        run.title = titles.take_next(&automatic(run));
    }
}

/// True if both are the same to a reader.
pub fn same_title(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase()
}

/// True for what models are called that are not saved runs.
pub fn is_reserved(title: &str) -> bool {
    RESERVED.iter().any(|reserved| same_title(reserved, title))
}

/// The name of the newest readable run on the command line.
pub const LATEST: &str = "latest";

/// Of these runs, the newest of which comes first, those that a person may mean by this name: the
/// one with this title or folder, else all whose title or folder begins so. Case does not count.
pub fn named(runs: Vec<RunEntry>, name: &str) -> Vec<RunEntry> {
    let name = name.to_lowercase();
    let names = |run: &RunEntry| {
        let folder = run.folder.file_name().unwrap_or_default();
        [
            run.title.to_lowercase(),
            folder.to_string_lossy().to_lowercase(),
        ]
    };
    if name == LATEST {
        return runs
            .into_iter()
            .find(|run| run.summary.is_ok())
            .into_iter()
            .collect();
    }
    if let Some(run) = runs.iter().find(|run| names(run).contains(&name)) {
        return vec![run.clone()];
    }
    let begins = |run: &RunEntry| names(run).iter().any(|own| own.starts_with(&name));
    runs.into_iter().filter(begins).collect()
}

/// The titles that are taken, in lower case.
#[derive(Default)]
struct Titles(BTreeSet<String>);

impl Titles {
    /// Takes this title; false if it was taken before.
    fn take(&mut self, title: &str) -> bool {
        self.0.insert(title.to_lowercase())
    }

    /// Takes the title with the lowest number that is left.
    fn take_next(&mut self, title: &str) -> String {
        // One more than there are titles: one of them is free.
        let free = (1..=self.0.len() as u64 + 1)
            .map(|number| with_number(title, number))
            .find(|title| self.take(title));
        free.unwrap_or_default()
    }
}

fn given(run: &RunEntry, titles: &mut Titles) -> Option<String> {
    let name = &run.annotation.name;
    (!name.is_empty()).then(|| titles.take_next(name))
}

fn numbered(run: &RunEntry, titles: &mut Titles) -> Option<String> {
    let title = with_number(&automatic(run), run.summary.as_ref().ok()?.number?.into());
    titles.take(&title).then_some(title)
}

/// Without a number: network and data, or the name of a damaged run's folder.
fn automatic(run: &RunEntry) -> String {
    run.summary.as_ref().map_or_else(
        |_| {
            visible::label(
                &run.folder
                    .file_name()
                    .unwrap_or(run.folder.as_os_str())
                    .to_string_lossy(),
            )
        },
        |summary| summary.config.title(),
    )
}

fn with_number(title: &str, number: u64) -> String {
    if number <= 1 {
        title.to_owned()
    } else {
        format!("{title} {number}")
    }
}

/// The number of a run that is about to be saved beside these.
pub fn next_number<'r>(title: &str, runs: impl Iterator<Item = &'r RunEntry>) -> u32 {
    let alike = runs
        .filter_map(|run| run.summary.as_ref().ok())
        .filter(|summary| same_title(&summary.config.title(), title));
    // Runs that were saved elsewhere and put here have none, and are numbered as they are listed:
    // from 1.
    let (count, highest) = alike.fold((0, 0), |(count, highest): (u32, u32), summary| {
        (
            count.saturating_add(1),
            highest.max(summary.number.unwrap_or_default()),
        )
    });
    count.max(highest).saturating_add(1)
}

/// Descriptions, figures of up to 1,000 epochs, and misclassified images.
const MARGIN: u64 = 2 << 20;
const NUMBER_BYTES: u64 = 4;

/// Whether the disks of these folders have room for the run and its checkpoints. What the
/// checkpoint of a resumed run takes already (`held`, in bytes) need not be free as well. If a
/// system does not say, there is room.
pub fn check_disk_space(
    config: &RunConfig,
    runs: &Path,
    checkpoints: &Path,
    held: u64,
) -> Result<(), RunError> {
    let Needed { run, all } = Needed::of(config);
    // Both are usually on the same disk, so the disk of the checkpoints needs room for all.
    for (folder, needed, held) in [(runs, run, 0), (checkpoints, all, held)] {
        match disk::available(folder) {
            Ok(available) if available < needed.saturating_sub(held) => {
                return Err(RunError::NoRoom {
                    folder: folder.to_owned(),
                    needed: needed.saturating_sub(held),
                    available,
                });
            }
            Ok(_) => {}
            Err(error) => tracing::info!(%error, "the space on the disk is unknown"),
        }
    }
    Ok(())
}

/// Bytes that a run takes.
struct Needed {
    /// Its model, its samples from the posterior and its snapshots.
    run: u64,
    /// These, its last checkpoint, and the one before, which goes only when that is written.
    all: u64,
}

impl Needed {
    fn of(config: &RunConfig) -> Self {
        let optimizer = OptimizerConfig::new(config, 1).numbers_per_weight() as u64;
        // The weights, the optimizer's state, perhaps the average; once as they are, and once as a
        // rollback needs them.
        let state = 1 + optimizer + u64::from(config.weight_averaging.is_some());
        let samples = posterior_sample_count(config) as u64;
        let (best, model) = (1, 1);
        let weights = NUMBER_BYTES * parameter_count(config.network(), config.data.classes().len());
        let snapshots = (weights / 2 * MAX_SNAPSHOTS as u64).min(HISTORY_BYTES);
        let run = weights * (model + samples) + snapshots + MARGIN;
        Self {
            run,
            all: run + 2 * (weights * (2 * state + best + samples) + snapshots),
        }
    }
}
