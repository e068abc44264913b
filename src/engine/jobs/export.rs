//! Exports a model with its run; with 8-bit weights, it measures first what they cost.

use std::path::Path;

use super::{JobContext, JobError, Workspace};
use crate::export::quantize::quantized;
use crate::export::{ExportedModel, export};
use crate::infer::{measure, starter_file};
use crate::nn::ModelFile;
use crate::problem::Problem;
use crate::progress::Progress;
use crate::protocol::{ExportReport, JobResult};
use crate::records::{ExportSpec, ModelRef, QuantizedAccuracy};
use crate::runs;

pub(super) fn run(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    model: &ModelRef,
    spec: &ExportSpec,
    to: Option<&Path>,
) -> Result<JobResult, JobError> {
    let mut exported = load(model)?;
    let unmeasured = match measure_quantized(workspace, context, &exported) {
        Ok(accuracy) => {
            exported.quantized = Some(accuracy);
            None
        }
        Err(JobError::Cancelled) => return Err(JobError::Cancelled),
        // That the data cannot be read is no reason to export nothing.
        Err(JobError::Failed(problem)) => Some(problem),
    };
    Ok(JobResult::Export(ExportReport { unmeasured, ..write(exported, spec, to)? }))
}

/// Exports without measuring anything.
pub(super) fn run_at_once(model: &ModelRef, spec: &ExportSpec, to: Option<&Path>) -> Result<JobResult, JobError> {
    Ok(JobResult::Export(write(load(model)?, spec, to)?))
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
fn write(exported: ExportedModel, spec: &ExportSpec, to: Option<&Path>) -> Result<ExportReport, Problem> {
    let exported = exported.without_folders();
    let name = to.and_then(Path::file_name).map_or_else(|| spec.format.file_name().to_owned(), |name| name.to_string_lossy().into_owned());
    let export = export(&exported, spec, &name)?;
    let paths = to.map_or_else(|| Ok(Vec::new()), |path| export.save(path))?;
    Ok(ExportReport { files: export.infos(), paths, quantized: exported.quantized, unmeasured: None })
}

/// The model's accuracy on its test set, with its weights as they are and as they come back from 8 bits.
fn measure_quantized(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    exported: &ExportedModel,
) -> Result<QuantizedAccuracy, JobError> {
    let data = &exported.file.card.data;
    let test = &workspace.datasets.get(&workspace.settings.data_folders, data, &mut context.part(0.0, 1.0 / 3.0))?.test;
    let net = &exported.file.net;
    let original = measure(net, test, &mut context.part(1.0 / 3.0, 2.0 / 3.0))?.evaluation;
    let rounded = measure(&quantized(net)?, test, &mut context.part(2.0 / 3.0, 1.0))?.evaluation;
    Ok(QuantizedAccuracy { images: original.images, original: original.accuracy, quantized: rounded.accuracy })
}
