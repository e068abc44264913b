//! A run that has ended, on its way to its folder. If it cannot be saved there and would be lost,
//! what can be saved is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::handle::RunsTarget;
use crate::problem::Problem;
use crate::records::{Rescue, RunSummary};
use crate::run_config::WeightFormat;
use crate::runs::{CheckpointWriter, RunContents, RunError, Store, keep_in};
use crate::system::WriteError;

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
        match target {
            RunsTarget::Store(root) => {
                Store::new(root).keep(contents, self.weights, self.checkpoints)
            }
            RunsTarget::Folder { folder, replace } => {
                keep_in(folder, *replace, contents, self.weights, self.checkpoints)
            }
        }
    }

    /// Saves it as the first folder with the name of this one and a number that is free.
    fn save_beside(&self, folder: &Path) -> Result<RunSummary, RunError> {
        let path = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
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
