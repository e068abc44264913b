//! Exports a model with its run; with 8-bit weights, it measures first what they cost.

use std::path::Path;

use super::saved_model::{SavedModel, may_be_read, not_trusted};
use super::{JobContext, Workspace};
use crate::export::{ExportedModel, export, quantized};
use crate::infer::measure;
use crate::problem::{Code, Problem};
use crate::progress::Progress;
use crate::protocol::{ExportReport, JobResult};
use crate::records::{ExportSpec, ModelRef, QuantizedAccuracy, Replace};
use crate::system::targets::check_file;

pub(super) fn run(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    model: &ModelRef,
    spec: &ExportSpec,
    to: Option<&Path>,
    replace: Replace,
) -> Result<JobResult, Problem> {
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
        Err(problem) if problem.code == Code::Cancelled => return Err(problem),
        // That the data cannot be read is not a reason to export nothing.
        Err(problem) => Some(problem),
    };
    Ok(JobResult::Export(ExportReport {
        unmeasured,
        ..write(exported, spec, model, to, replace)?
    }))
}

/// Exports without measuring anything.
pub(super) fn run_at_once(
    model: &ModelRef,
    spec: &ExportSpec,
    to: Option<&Path>,
    replace: Replace,
) -> Result<JobResult, Problem> {
    Ok(JobResult::Export(write(
        load(model)?,
        spec,
        model,
        to,
        replace,
    )?))
}

/// The model's file, which an export must not replace.
fn source(model: &ModelRef) -> Option<&Path> {
    if let ModelRef::File(path) = model {
        Some(path)
    } else {
        None
    }
}

fn load(model: &ModelRef) -> Result<ExportedModel, Problem> {
    let SavedModel { file, run } = SavedModel::load(model)?;
    Ok(ExportedModel {
        file,
        run,
        quantized: None,
    })
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
    let name = to.and_then(Path::file_name).map_or_else(
        || spec.format.file_name().to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    let export = export(&exported, spec, &name)?;
    let paths = to.map_or_else(
        || Ok(Vec::new()),
        |path| export.save(path, replace, source(model)),
    )?;
    Ok(ExportReport {
        files: export.infos(),
        paths,
        quantized: exported.quantized,
        unmeasured: None,
    })
}

/// The model's accuracy on its test set, with its weights as they are and as they come back from 8
/// bits.
fn measure_quantized(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    exported: &ExportedModel,
    spec: &ExportSpec,
) -> Result<QuantizedAccuracy, Problem> {
    let data = match &spec.measure_on {
        Some(data) => data,
        None if may_be_read(
            workspace.settings,
            &exported.file.card.data,
            exported.run.as_ref(),
        ) =>
        {
            &exported.file.card.data
        }
        None => return Err(not_trusted(&exported.file.card.data).into()),
    };
    let test = &workspace
        .datasets
        .get(
            &workspace.settings.data_folders,
            data,
            false,
            &mut context.part(0.0, 1.0 / 3.0),
        )?
        .test;
    let net = &exported.file.net;
    let temperature = exported.file.card.calibration.temperature;
    let original = measure(
        net,
        temperature,
        test,
        &mut context.part(1.0 / 3.0, 2.0 / 3.0),
    )?;
    original.check_finite()?;
    let original = original.evaluation;
    let rounded = measure(
        &quantized(net)?,
        temperature,
        test,
        &mut context.part(2.0 / 3.0, 1.0),
    )?
    .evaluation;
    Ok(QuantizedAccuracy {
        images: original.images,
        original: original.accuracy,
        quantized: rounded.accuracy,
    })
}
