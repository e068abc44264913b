//! Exports a model with its run; with 8-bit weights, it measures first what they cost.

use std::path::Path;

use super::{JobContext, JobError, Workspace};
use crate::data::DataError;
use crate::engine::handle::RunsTarget;
use crate::export::quantize::quantized;
use crate::export::{ExportedModel, export};
use crate::infer::{measure, starter_file};
use crate::nn::ModelFile;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::protocol::{ExportReport, JobResult};
use crate::records::{ExportSpec, ModelRef, QuantizedAccuracy, Replace};
use crate::run_config::DataSource;
use crate::runs;
use crate::system::targets::check_file;

pub(super) fn run(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    model: &ModelRef,
    spec: &ExportSpec,
    to: Option<&Path>,
    replace: Replace,
) -> Result<JobResult, JobError> {
    let mut exported = load(model)?;
    if let Some(to) = to {
        // Before a minute is spent on measuring.
        check_file(to, replace != Replace::Nothing, source(model).as_slice())?;
    }
    let unmeasured = match measure_quantized(workspace, context, &exported, spec) {
        Ok(accuracy) => {
            exported.quantized = Some(accuracy);
            None
        }
        Err(JobError::Cancelled) => return Err(JobError::Cancelled),
        // That the data cannot be read is no reason to export nothing.
        Err(JobError::Failed(problem)) => Some(problem),
    };
    Ok(JobResult::Export(ExportReport { unmeasured, ..write(exported, spec, model, to, replace)? }))
}

/// Exports without measuring anything.
pub(super) fn run_at_once(model: &ModelRef, spec: &ExportSpec, to: Option<&Path>, replace: Replace) -> Result<JobResult, JobError> {
    Ok(JobResult::Export(write(load(model)?, spec, model, to, replace)?))
}

/// The model's file, which an export must not replace.
fn source(model: &ModelRef) -> Option<&Path> {
    if let ModelRef::File(path) = model { Some(path) } else { None }
}

/// The model, and the run in whose folder it is, if any.
fn load(model: &ModelRef) -> Result<ExportedModel, Problem> {
    let (file, run) = match model {
        ModelRef::Starter => (starter_file()?, None),
        ModelRef::File(path) => {
            let file = ModelFile::load(path)?;
            let run = path.parent().and_then(|folder| runs::load(folder).ok());
            let run = run.filter(|run| run.config == file.card.config && run.model_path.file_name() == path.file_name());
            (file, run)
        }
        ModelRef::Training(_) => return Err(Problem::NoSuchRun),
    };
    Ok(ExportedModel { file, run, quantized: None })
}

/// Puts the export together and writes it, if it is to be written.
fn write(
    exported: ExportedModel,
    spec: &ExportSpec,
    model: &ModelRef,
    to: Option<&Path>,
    replace: Replace,
) -> Result<ExportReport, Problem> {
    let exported = exported.without_folders();
    let name = to.and_then(Path::file_name).map_or_else(|| spec.format.file_name().to_owned(), |name| name.to_string_lossy().into_owned());
    let export = export(&exported, spec, &name)?;
    let paths = to.map_or_else(|| Ok(Vec::new()), |path| export.save(path, replace, source(model)))?;
    Ok(ExportReport { files: export.infos(), paths, quantized: exported.quantized, unmeasured: None })
}

/// The model's accuracy on its test set, with its weights as they are and as they come back from 8 bits.
fn measure_quantized(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    exported: &ExportedModel,
    spec: &ExportSpec,
) -> Result<QuantizedAccuracy, JobError> {
    let data = match &spec.measure_on {
        Some(data) => data,
        None if may_be_read(workspace, exported) => &exported.file.card.data,
        None => return Err(DataError::Unknown.into()),
    };
    let test = &workspace.datasets.get(&workspace.settings.data_folders, data, &mut context.part(0.0, 1.0 / 3.0))?.test;
    let net = &exported.file.net;
    let temperature = exported.file.card.calibration.temperature;
    let original = measure(net, temperature, test, &mut context.part(1.0 / 3.0, 2.0 / 3.0))?;
    original.check_finite()?;
    let original = original.evaluation;
    let rounded = measure(&quantized(net)?, temperature, test, &mut context.part(2.0 / 3.0, 1.0))?.evaluation;
    Ok(QuantizedAccuracy { images: original.images, original: original.accuracy, quantized: rounded.accuracy })
}

/// Whether the model's data may be looked for. A model file from another machine can name any path, one on a network too: only of a model that
/// was trained here, the path was chosen here.
fn may_be_read(workspace: &Workspace<'_>, exported: &ExportedModel) -> bool {
    let has_path = exported.file.card.data.sources().iter().any(|source| matches!(source, DataSource::Path(_)));
    !has_path || exported.run.as_ref().is_some_and(|run| run.imported.is_none() && is_among(&workspace.settings.runs, &run.folder))
}

fn is_among(runs: &RunsTarget, folder: &Path) -> bool {
    let RunsTarget::Store(root) = runs else { return false };
    folder.parent().and_then(|parent| parent.canonicalize().ok()).is_some_and(|parent| root.canonicalize().is_ok_and(|root| root == parent))
}
