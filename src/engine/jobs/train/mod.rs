//! A training run: data in, [`crate::train`] in the middle, a run folder out, events all along.

mod observed_run;
mod save;

use std::path::Path;

use self::observed_run::{ObservedRun, Steering};
use super::{JobContext, Workspace, at_priority_of};
use crate::data::{DataError, Dataset, check_labels};
use crate::engine::places::{places, target};
use crate::hardware::BackgroundLoad;
use crate::infer::Classifier;
use crate::nn::{DeviceContext, ModelFile};
use crate::problem::{Code, Problem};
use crate::progress::Cancelled;
use crate::protocol::{EngineError, Event, JobResult};
use crate::records::{Calibration, ModelRef, Telemetry};
use crate::run_config::RunConfig;
use crate::runs::{CheckpointWriter, Checkpoints, RunError, check_disk_space};
use crate::train::{
    self, Checkpoint, EndRequest, RunOrigin, RunPlaces, TrainOutcome, TrainedModel,
};

/// Trains from the beginning, or from the checkpoint in the folder `from`.
pub(super) fn run(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
    from: Option<&Path>,
) -> Result<JobResult, Problem> {
    let (writer, checkpoint) = open_checkpoints(workspace, context, from)?;
    let before = checkpoint
        .as_ref()
        .and_then(|checkpoint| checkpoint.card.origin.as_ref());
    let places = places(workspace.settings, before.map(|origin| &origin.places));
    let result = match train_from(workspace, context, config, checkpoint, &places, &writer) {
        Ok(TrainOutcome::Trained(trained)) => {
            let saved = save::save(
                target(workspace.settings, &places),
                places.weights,
                context,
                &trained,
                &writer,
            );
            // Without a folder, the model stays in use until another one is chosen, and is in a
            // checkpoint.
            let reference = saved
                .as_ref()
                .map_or(ModelRef::Training(context.id), |summary| {
                    ModelRef::File(summary.model_path.clone())
                });
            context
                .queue
                .recognizer
                .set_trained(classifier_on_cpu(&trained, reference));
            saved.map(JobResult::Train)
        }
        Ok(TrainOutcome::Unfinished | TrainOutcome::Validated) => Err(Cancelled.into()),
        Ok(TrainOutcome::Interrupted) => Err(EngineError::Interrupted { checkpoint: None }.into()),
        Err(error) => Err(error),
    };
    // Resumed from where it diverged, it would diverge again. It may also have been stopped in its
    // first epoch, or in the one it was resumed in.
    let is_obsolete = match &result {
        Ok(_) => true,
        Err(problem) => problem.code == Code::Diverged,
    };
    if is_obsolete {
        writer.remove();
        return result;
    }
    let checkpoint = writer.keep();
    result.map_err(|problem| match problem.code {
        Code::Interrupted { .. } => EngineError::Interrupted { checkpoint }.into(),
        _ => problem,
    })
}

/// The writer of the run's checkpoints, and the one it resumes from.
fn open_checkpoints(
    workspace: &Workspace<'_>,
    context: &JobContext<'_, '_>,
    from: Option<&Path>,
) -> Result<(CheckpointWriter, Option<Checkpoint>), Problem> {
    let (place, checkpoint) = match from {
        None => (
            Checkpoints::new(&workspace.settings.checkpoints).begin(),
            None,
        ),
        Some(folder) => {
            Checkpoints::resume(folder).map(|(place, checkpoint)| (place, Some(checkpoint)))?
        }
    };
    let (run, events) = (context.id, context.queue.events.fork());
    let report = move |folder: &Path, position, kept: Result<(), RunError>| {
        events.send(Event::Checkpoint {
            run,
            folder: folder.to_owned(),
            position,
            kept: kept.map_err(Problem::from),
        });
    };
    Ok((
        CheckpointWriter::start(workspace.checkpoint_thread, place, Box::new(report))?,
        checkpoint,
    ))
}

fn train_from(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
    checkpoint: Option<Checkpoint>,
    places: &RunPlaces,
    writer: &CheckpointWriter,
) -> Result<TrainOutcome, Problem> {
    let settings = workspace.settings;
    // Better refused now than after an hour of training.
    train::check(config)?;
    let target = target(settings, places);
    target.check()?;
    check_disk_space(
        config,
        target.folder(),
        &settings.checkpoints,
        writer.bytes(),
    )?;
    let watched = settings.reports_learning;
    let mut run = ObservedRun {
        context,
        config,
        writer,
        origin: None,
        classes: config.data.classes(),
        now: Telemetry::default(),
        steps: 0,
        probe: None,
        watched,
        calibration: Calibration::NONE,
        others: BackgroundLoad::start(),
        background_load: 0.0,
        images_sent: None,
        steering: Steering::default(),
        end: None,
        has_model: checkpoint
            .as_ref()
            .is_some_and(|checkpoint| !checkpoint.card.epochs.is_empty()),
    };
    let data = config.data.located(&places.working_folder);
    let (folders, sealed) = (&places.data_folders, config.sealed_test);
    let set = match workspace.datasets.get(folders, &data, sealed, &mut run) {
        Err(DataError::Cancelled(_)) if run.end == Some(EndRequest::Interrupt) => {
            return Ok(TrainOutcome::Interrupted);
        }
        set => set?,
    };
    check_labels(&data, set)?;
    if let Some(before) = checkpoint
        .as_ref()
        .and_then(|checkpoint| checkpoint.card.origin.as_ref())
    {
        before.check(set.fingerprint())?;
    }
    run.origin = Some(RunOrigin {
        data: set.fingerprint().clone(),
        places: places.clone(),
    });
    run.data_is_ready(&set.notes);
    let device = settings.devices.open(config.device)?;
    let images: &Dataset = set;
    let outcome = at_priority_of(settings, || {
        train::train(config, images, &device, checkpoint, &mut run)
    })??;
    let (id, now) = (run.context.id, run.now);
    context.queue.events.flush(id, now);
    Ok(outcome)
}

/// The trained model on the CPU, from where it may move to another device.
fn classifier_on_cpu(trained: &TrainedModel, reference: ModelRef) -> Option<Classifier> {
    let file = trained.model_file();
    let net = file.net.into_device(&DeviceContext::CPU);
    let net = net.inspect_err(|error| tracing::error!(%error, "the run's weights cannot be fetched from their device")).ok()?;
    Some(Classifier::of_file(
        ModelFile {
            net,
            card: file.card,
        },
        reference,
    ))
}
