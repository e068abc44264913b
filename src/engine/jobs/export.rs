//! Owns one export as the engine sees it: a model and its run in, files out; with 8-bit weights, their accuracy in between.
//! Must not know formats.

use std::ops::ControlFlow;
use std::path::Path;

use crate::data::DataError;
use crate::engine::command_queue::{CommandQueue, Order};
use crate::engine::dataset_cache::DatasetCache;
use crate::engine::handle::EngineSettings;
use crate::export::quantize::quantized;
use crate::export::{ExportedModel, export};
use crate::infer::{measure, starter_file};
use crate::nn::ModelFile;
use crate::problem::Problem;
use crate::protocol::{Event, ExportReport, Task};
use crate::records::{ExportSpec, ModelRef, QuantizedAccuracy};
use crate::runs;

/// Exports with 8-bit weights, whose accuracy is measured first.
pub(in crate::engine) fn carry_out(
    settings: &EngineSettings,
    queue: &mut CommandQueue<'_>,
    datasets: &mut DatasetCache,
    request: u64,
    model: &ModelRef,
    spec: &ExportSpec,
    to: &Path,
) {
    let exported = subject(model).and_then(|mut subject| {
        // That the data cannot be had is no reason to have nothing.
        let unmeasured = match measure_quantized(settings, queue, datasets, request, &subject) {
            Ok(Some(accuracy)) => {
                subject.quantized = Some(accuracy);
                None
            }
            Ok(None) | Err(Problem::Data(DataError::Cancelled)) => return Ok(None),
            Err(problem) => Some(problem),
        };
        Ok(Some(ExportReport { unmeasured, ..write(subject, spec, Some(to))? }))
    });
    queue.events.send(match exported {
        Ok(Some(export)) => Event::Exported { request, export: Box::new(export) },
        Ok(None) => Event::ExportCancelled(request),
        Err(problem) => Event::Failed { what: Task::Export(request), problem },
    });
}

/// The model, and its run where that lies beside it.
pub(in crate::engine) fn subject(model: &ModelRef) -> Result<ExportedModel, Problem> {
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

/// Puts the export together and writes it, where it is to be written.
pub(in crate::engine) fn write(subject: ExportedModel, spec: &ExportSpec, to: Option<&Path>) -> Result<ExportReport, Problem> {
    let subject = subject.without_folders();
    let name = to.and_then(Path::file_name).map_or_else(|| spec.format.file_name().to_owned(), |name| name.to_string_lossy().into_owned());
    let export = export(&subject, spec, &name)?;
    let paths = to.map_or_else(|| Ok(Vec::new()), |path| export.save(path))?;
    Ok(ExportReport { files: export.infos(), paths, quantized: subject.quantized, unmeasured: None })
}

/// The test split of the model's data, read with its weights and with what quantising leaves of them; `None` when it was broken off.
fn measure_quantized(
    settings: &EngineSettings,
    queue: &mut CommandQueue<'_>,
    datasets: &mut DatasetCache,
    request: u64,
    subject: &ExportedModel,
) -> Result<Option<QuantizedAccuracy>, Problem> {
    let mut attend = |fraction: f32| {
        queue.events.telemetry(|| Event::Exporting { request, fraction });
        match queue.poll() {
            Some(Order::CancelExport(named)) if named == request => ControlFlow::Break(()),
            Some(order) if order.preempts() => {
                queue.requeue(order);
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    };
    let data = &subject.file.card.data;
    let test = &datasets.get(&settings.data_folders, data, &mut |fraction| attend(fraction / 3.0))?.test;
    let net = &subject.file.net;
    let Some(original) = measure(net, test, &mut |fraction| attend((1.0 + fraction) / 3.0))? else { return Ok(None) };
    let Some(rounded) = measure(&quantized(net)?, test, &mut |fraction| attend((2.0 + fraction) / 3.0))? else { return Ok(None) };
    let [original, rounded] = [original, rounded].map(|measured| measured.evaluation);
    Ok(Some(QuantizedAccuracy { images: original.images, original: original.accuracy, quantized: rounded.accuracy }))
}
