//! A model that is saved, with the run it came from, whether the data that it names may be looked
//! for, and the test images that stand for one which was not trained here from its beginning: it
//! was imported or fine-tuned.

use std::path::Path;

use super::Workspace;
use crate::data::{DataError, load_for_evaluation};
use crate::engine::handle::{EngineSettings, RunsTarget};
use crate::infer::{measure, starter_file};
use crate::nn::ModelFile;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::protocol::EngineError;
use crate::records::{ModelRef, RunSummary, SplitEvaluation};
use crate::run_config::{DataSource, DataSpec, EvaluationSplit, PublicDataset};
use crate::runs;

pub(in crate::engine) struct SavedModel {
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
pub(in crate::engine) fn may_be_read(
    settings: &EngineSettings,
    data: &DataSpec,
    run: Option<&RunSummary>,
) -> bool {
    let has_path = data
        .sources()
        .iter()
        .any(|source| matches!(source, DataSource::Path(_)));
    !has_path
        || run.is_some_and(|run| run.imported.is_none() && is_among(&settings.runs, &run.folder))
}

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

/// The model's evaluation on the test images of the first of these data sets that is there and has
/// classes that the model distinguishes: `preferred`, MNIST, and the built-in digits. `None` if
/// there is no such set.
pub(super) fn test(
    workspace: &Workspace<'_>,
    ModelFile { net, card }: &ModelFile,
    preferred: Option<DataSource>,
    progress: &mut dyn Progress,
) -> Result<Option<SplitEvaluation>, Problem> {
    // A model may have learned from all of a person's drawings.
    let preferred =
        preferred.filter(|source| !matches!(source, DataSource::Mine | DataSource::Unknown));
    let classes = card.labels.clone();
    for source in preferred
        .into_iter()
        .chain([DataSource::Named(PublicDataset::Mnist), DataSource::Builtin])
    {
        if source.known_classes().is_some_and(|known| known != classes) {
            continue;
        }
        let (data, folders) = (DataSpec::single(source), &workspace.settings.data_folders);
        let mut loading = |done: f32| progress.report(done / 2.0);
        let set = match load_for_evaluation(
            &data,
            Some(EvaluationSplit::Test),
            &card.config,
            folders,
            &mut loading,
        ) {
            Ok(set) if !set.images.is_empty() && classes.accept(&set.classes) => set,
            Err(DataError::Cancelled(cancelled)) => return Err(cancelled.into()),
            Ok(_) => continue,
            Err(error) => {
                tracing::info!(%error, data = data.to_string(), "a model is not measured on these test images");
                continue;
            }
        };
        let mut measuring = |done: f32| progress.report(0.5 + done / 2.0);
        let measured = measure(
            net,
            card.calibration.temperature,
            &set.images,
            &mut measuring,
        )?;
        if let Err(error) = measured.check_finite() {
            tracing::info!(%error, "a model is not measured on test images");
            return Ok(None);
        }
        return Ok(Some(SplitEvaluation {
            data: set.data,
            split: set.split,
            evaluation: measured.evaluation,
        }));
    }
    Ok(None)
}
