//! Where a run's data comes from and where its result goes: as this installation has it, or as the
//! run was started; and a run that has ended, on its way there. If it cannot be saved there and
//! would be lost, what can be saved is.

use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};

use super::handle::{EngineSettings, RunsTarget};
use crate::problem::Problem;
use crate::records::{Rescue, RunSummary};
use crate::run_config::WeightFormat;
use crate::runs::{CheckpointWriter, RunContents, RunError, Store, check_target, keep_in};
use crate::system::WriteError;
use crate::train::RunPlaces;

impl RunsTarget {
    /// Whether a run can be saved there; to be asked before hours are spent on training.
    pub(super) fn check(&self) -> Result<(), RunError> {
        match self {
            Self::Store(root) => Store::new(root).check(),
            Self::Folder { folder, replace } => check_target(folder, *replace),
        }
    }

    pub(super) fn keep(
        &self,
        contents: &RunContents<'_>,
        weights: WeightFormat,
        checkpoints: Option<&CheckpointWriter>,
    ) -> Result<RunSummary, RunError> {
        match self {
            Self::Store(root) => Store::new(root).keep(contents, weights, checkpoints),
            Self::Folder { folder, replace } => {
                keep_in(folder, *replace, contents, weights, checkpoints)
            }
        }
    }

    pub(super) fn folder(&self) -> &Path {
        let (Self::Store(folder) | Self::Folder { folder, .. }) = self;
        folder
    }
}

/// The places of a run; of a resumed one, those it was started with, unless others were named for
/// it.
pub(super) fn places(settings: &EngineSettings, before: Option<&RunPlaces>) -> RunPlaces {
    let absolute = |path: &PathBuf| absolute(path).unwrap_or_else(|_| path.clone());
    let mut data_folders = Vec::new();
    for folder in settings
        .data_dir
        .iter()
        .chain(before.iter().flat_map(|before| &before.data_folders))
        .chain(&settings.data_folders)
    {
        let folder = absolute(folder);
        if !data_folders.contains(&folder) {
            data_folders.push(folder);
        }
    }
    let (out, replace) = match &settings.runs {
        RunsTarget::Folder { folder, replace } => (Some(absolute(folder)), *replace),
        RunsTarget::Store(_) => before
            .map(|before| (before.out.clone(), before.replace))
            .unwrap_or_default(),
    };
    RunPlaces {
        working_folder: before.map_or_else(
            || std::env::current_dir().unwrap_or_default(),
            |before| before.working_folder.clone(),
        ),
        data_folders,
        out,
        replace,
        weights: settings
            .weights
            .or(before.map(|before| before.weights))
            .unwrap_or(WeightFormat::F32),
    }
}

pub(super) fn target(settings: &EngineSettings, places: &RunPlaces) -> RunsTarget {
    let folder = |folder: &PathBuf| RunsTarget::Folder {
        folder: folder.clone(),
        replace: places.replace,
    };
    places
        .out
        .as_ref()
        .map_or_else(|| settings.runs.clone(), folder)
}

/// Folders of one name, with a number each.
const MAX_ALIKE: u32 = 10_000;

#[derive(Debug)]
pub struct EndedRun<'r> {
    /// Where it is to be saved.
    pub target: RunsTarget,
    pub contents: RunContents<'r>,
    /// How its model file stores the weights.
    pub weights: WeightFormat,
    /// The writer of its checkpoints, if it was trained on this machine.
    pub checkpoints: Option<&'r CheckpointWriter>,
}

#[derive(Debug)]
pub struct SavedRun {
    pub summary: RunSummary,
    /// How it was saved, and why, if not as it was to be.
    pub rescue: Option<(Problem, Rescue)>,
}

impl EndedRun<'_> {
    /// Saves it. If its folder was taken by something else meanwhile, it gets one beside that:
    /// waiting would not free it.
    pub fn save(&self) -> Result<SavedRun, RunError> {
        match self.keep(&self.target, &self.contents) {
            Ok(summary) => Ok(SavedRun {
                summary,
                rescue: None,
            }),
            Err(RunError::Occupied { folder }) => {
                let summary = self.save_beside(&folder)?;
                let rescue = Rescue {
                    folder: summary.folder.clone(),
                    temporary: false,
                    model_alone: false,
                };
                Ok(SavedRun {
                    summary,
                    rescue: Some((RunError::Occupied { folder }.into(), rescue)),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Saves as much of it as there is space for, where it lasts longest; an error if nothing can
    /// be saved anywhere.
    pub fn rescue(&self) -> Result<SavedRun, Problem> {
        let problem = match self.save() {
            Ok(saved) => return Ok(saved),
            Err(error) => Problem::from(error),
        };
        let model_alone = self.contents.model_alone();
        let rescued = |summary: RunSummary, temporary, model_alone| {
            let rescue = Rescue {
                folder: summary.folder.clone(),
                temporary,
                model_alone,
            };
            SavedRun {
                summary,
                rescue: Some((problem.clone(), rescue)),
            }
        };
        if let Ok(summary) = self.keep(&self.target, &model_alone) {
            return Ok(rescued(summary, false, true));
        }
        let temporary = tempfile::Builder::new().prefix("inkling-run-").tempdir();
        let temporary =
            temporary.map_err(|error| WriteError::new(&std::env::temp_dir(), &error))?;
        let target = RunsTarget::Store(temporary.path().to_owned());
        let saved = match self.keep(&target, &self.contents) {
            Ok(summary) => rescued(summary, true, false),
            Err(error) => rescued(
                self.keep(&target, &model_alone).map_err(|_| error)?,
                true,
                true,
            ),
        };
        // From here on it is the person's.
        let _ = temporary.keep();
        Ok(saved)
    }

    fn keep(
        &self,
        target: &RunsTarget,
        contents: &RunContents<'_>,
    ) -> Result<RunSummary, RunError> {
        target.keep(contents, self.weights, self.checkpoints)
    }

    /// Saves it as the first folder with the name of this one and a number that is free.
    fn save_beside(&self, folder: &Path) -> Result<RunSummary, RunError> {
        let path = absolute(folder).unwrap_or_else(|_| folder.to_owned());
        for number in 2..=MAX_ALIKE {
            let folder = numbered(&path, number);
            match self.keep(
                &RunsTarget::Folder {
                    folder,
                    replace: false,
                },
                &self.contents,
            ) {
                Err(RunError::Occupied { .. }) => {}
                kept => return kept,
            }
        }
        Err(RunError::Occupied {
            folder: folder.to_owned(),
        })
    }
}

/// Such as `first_2`.
fn numbered(folder: &Path, number: u32) -> PathBuf {
    let mut name = folder
        .file_name()
        .map_or_else(|| OsString::from("run"), OsString::from);
    name.push(format!("_{number}"));
    folder.with_file_name(name)
}
