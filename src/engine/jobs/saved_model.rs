//! A model that is saved, with the run it came from, and whether the data that it names may be
//! looked for.

use std::path::Path;

use super::Workspace;
use crate::data::DataError;
use crate::engine::handle::RunsTarget;
use crate::infer::starter_file;
use crate::nn::ModelFile;
use crate::problem::Problem;
use crate::protocol::EngineError;
use crate::records::{ModelRef, RunSummary};
use crate::run_config::{DataSource, DataSpec};
use crate::runs;

pub(super) struct SavedModel {
    pub file: ModelFile,
    /// The run in whose folder it is, if any.
    pub run: Option<RunSummary>,
}

impl SavedModel {
    pub fn load(model: &ModelRef) -> Result<Self, Problem> {
        let (file, run) = match model {
            ModelRef::Starter => (starter_file()?, None),
            ModelRef::File(path) => {
                let file = ModelFile::load(path)?;
                let run = path.parent().and_then(|folder| runs::load(folder).ok());
                let run = run.filter(|run| {
                    run.config == file.card.config && run.model_path.file_name() == path.file_name()
                });
                (file, run)
            }
            ModelRef::Ensemble(_) => return Err(EngineError::NotOneModel.into()),
            ModelRef::Training(_) => return Err(EngineError::NoSuchRun.into()),
        };
        Ok(Self { file, run })
    }
}

/// Whether the data that a model of this run names may be looked for. A model file from another
/// machine can name any path, one on a network too: only of a model that was trained here, the path
/// was chosen here.
pub(super) fn may_be_read(
    workspace: &Workspace<'_>,
    data: &DataSpec,
    run: Option<&RunSummary>,
) -> bool {
    let has_path = data
        .sources()
        .iter()
        .any(|source| matches!(source, DataSource::Path(_)));
    !has_path
        || run.is_some_and(|run| {
            run.imported.is_none() && is_among(&workspace.settings.runs, &run.folder)
        })
}

/// The error where it may not.
pub(super) fn not_trusted(data: &DataSpec) -> DataError {
    DataError::NotTrusted { data: data.label() }
}

fn is_among(runs: &RunsTarget, folder: &Path) -> bool {
    let RunsTarget::Store(root) = runs else {
        return false;
    };
    folder
        .parent()
        .and_then(|parent| parent.canonicalize().ok())
        .is_some_and(|parent| root.canonicalize().is_ok_and(|root| root == parent))
}
