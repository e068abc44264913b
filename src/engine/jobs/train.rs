//! A training run: data in, [`crate::train`] in the middle, a run folder out, events all along.

use std::path::Path;

use super::{JobContext, JobError, Workspace};
use crate::engine::handle::{EngineSettings, RunsTarget};
use crate::engine::places::{places, target};
use crate::infer::Classifier;
use crate::nn::DeviceContext;
use crate::nn::{ModelFile, Net, parameter_count};
use crate::problem::Problem;
use crate::progress::Cancelled;
use crate::protocol::{Command, Event, JobEvent, JobProgress, JobResult};
use crate::records::{EpochRecord, Intervention, ModelInfo, ModelRef, RunPlan, RunPosition, RunSummary, StepPoint, Telemetry};
use crate::run_config::RunConfig;
use crate::runs::{CheckpointWriter, Checkpoints, RunError, Store, check_target, save_to};
use crate::train::{self, Checkpoint, EndRequest, Observer, RunOrigin, RunPlaces, TrainOutcome, TrainedModel};

/// Trains from the beginning, or from the checkpoint in the folder `from`.
pub(super) fn run(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
    from: Option<&Path>,
) -> Result<JobResult, JobError> {
    let (writer, checkpoint) = open_checkpoints(workspace, context, from)?;
    let before = checkpoint.as_ref().and_then(|checkpoint| checkpoint.card.origin.as_ref());
    let places = places(workspace.settings, before.map(|origin| &origin.places));
    let result = match train_from(workspace, context, config, checkpoint, &places, &writer) {
        Ok(trained) => {
            let saved = save(workspace.settings, &places, &trained);
            // Without a folder, the model stays in use until another one is chosen, and is in a checkpoint.
            let reference = saved.as_ref().map_or(ModelRef::Training(context.id), |summary| ModelRef::File(summary.model_path.clone()));
            context.queue.recognizer.set_trained(classifier_on_cpu(&trained, reference));
            saved.map(JobResult::Train).map_err(JobError::Failed)
        }
        Err(error) => Err(error),
    };
    let is_obsolete = match &result {
        Ok(_) => true,
        // A run that is stopped in its first epoch leaves nothing, unless it was resumed.
        Err(JobError::Cancelled) => from.is_none(),
        // Resumed from where it diverged, it would diverge again.
        Err(JobError::Failed(problem)) => matches!(problem, Problem::Diverged { .. }),
    };
    if is_obsolete {
        writer.remove();
    } else {
        writer.keep();
    }
    result
}

/// The writer of the run's checkpoints, and the one it resumes from.
fn open_checkpoints(
    workspace: &Workspace<'_>,
    context: &JobContext<'_, '_>,
    from: Option<&Path>,
) -> Result<(CheckpointWriter, Option<Checkpoint>), Problem> {
    let (place, checkpoint) = match from {
        None => (Checkpoints::new(&workspace.settings.checkpoints).begin(), None),
        Some(folder) => Checkpoints::resume(folder).map(|(place, checkpoint)| (place, Some(checkpoint)))?,
    };
    let (run, events) = (context.id, context.queue.events.fork());
    let report = move |folder: &Path, position, kept: Result<(), RunError>| {
        events.send(Event::Checkpoint { run, folder: folder.to_owned(), position, kept: kept.map_err(Problem::from) });
    };
    Ok((CheckpointWriter::start(workspace.checkpoint_thread, place, Box::new(report))?, checkpoint))
}

fn train_from(
    workspace: &mut Workspace<'_>,
    context: &mut JobContext<'_, '_>,
    config: &RunConfig,
    checkpoint: Option<Checkpoint>,
    places: &RunPlaces,
    writer: &CheckpointWriter,
) -> Result<TrainedModel, JobError> {
    let settings = workspace.settings;
    // Better refused now than after an hour of training.
    train::check(config)?;
    match target(settings, places) {
        RunsTarget::Store(root) => Store::new(root).check()?,
        RunsTarget::Folder(folder) => check_target(&folder)?,
    }
    let mut run = Run { context, config, writer, origin: None, completed_before: 0, now: Telemetry::default() };
    let data = config.data.located(&places.working_folder);
    let set = workspace.datasets.get(&places.data_folders, &data, &mut |fraction: f32| run.prepared(fraction))?;
    if let Some(before) = checkpoint.as_ref().and_then(|checkpoint| checkpoint.card.origin.as_ref()) {
        before.check(set.fingerprint())?;
    }
    run.origin = Some(RunOrigin { data: set.fingerprint().clone(), places: places.clone() });
    let outcome = train::train(config, set, &settings.devices.open(config.device)?, checkpoint, &mut run)?;
    let (id, now) = (run.context.id, run.now);
    context.queue.events.flush(id, now);
    match outcome {
        TrainOutcome::Trained(trained) => Ok(*trained),
        TrainOutcome::Discarded | TrainOutcome::Interrupted => Err(Cancelled.into()),
    }
}

fn save(settings: &EngineSettings, places: &RunPlaces, trained: &TrainedModel) -> Result<RunSummary, Problem> {
    Ok(match target(settings, places) {
        RunsTarget::Store(root) => Store::new(root).save(trained, places.weights)?,
        RunsTarget::Folder(folder) => save_to(&folder, trained, places.weights)?,
    })
}

/// The trained model on the CPU, from where it may move to another device.
fn classifier_on_cpu(trained: &TrainedModel, reference: ModelRef) -> Option<Classifier> {
    let file = trained.model_file();
    let net = file.net.into_device(&DeviceContext::CPU);
    let net = net.inspect_err(|error| tracing::error!(%error, "the run's weights cannot be fetched from their device")).ok()?;
    Some(Classifier::of_file(ModelFile { net, card: file.card }, reference))
}

/// The run while it trains: reports what happens, and reacts to pause, resume and cancel.
struct Run<'r, 'q, 'c> {
    context: &'r mut JobContext<'q, 'c>,
    config: &'r RunConfig,
    writer: &'r CheckpointWriter,
    /// Known once the data is.
    origin: Option<RunOrigin>,
    /// Epochs completed before it was interrupted.
    completed_before: u32,
    now: Telemetry,
}

impl Run<'_, '_, '_> {
    fn prepared(&mut self, fraction: f32) -> Result<(), Cancelled> {
        let progress = JobProgress { fraction, ..JobProgress::default() };
        let id = self.context.id;
        self.context.queue.events.telemetry(|| Event::Job { id, event: JobEvent::Progress(progress) });
        self.check()
    }

    /// Carries out the commands that came since the last time; returns only once the run is not paused any more.
    fn check(&mut self) -> Result<(), Cancelled> {
        let (id, queue) = (self.context.id, &mut self.context.queue);
        let mut paused = false;
        loop {
            let command = if paused { Some(queue.wait()) } else { queue.poll() };
            match command {
                None => return Ok(()),
                Some(Command::Pause(run)) if run == id && !paused => {
                    paused = true;
                    queue.events.flush(run, self.now);
                    queue.events.send(Event::Paused(run));
                }
                Some(Command::Resume(run)) if run == id && paused => {
                    paused = false;
                    queue.events.send(Event::Resumed(run));
                }
                Some(Command::Cancel(run)) if run == id => return Err(Cancelled),
                Some(command @ Command::Shutdown) => {
                    queue.requeue(command);
                    return Err(Cancelled);
                }
                // Other jobs wait for nothing and cancel each other; a run is too dear for that.
                Some(Command::Submit { id, .. }) => queue.events.send(Event::Job { id, event: JobEvent::Failed(Problem::Busy) }),
                // What is meant for other jobs, which are over.
                Some(_) => {}
            }
        }
    }

    fn send(&self, event: Event) {
        self.context.queue.events.send(event);
    }

    /// Sends the steps so far, so that they are shown before what follows.
    fn flush(&mut self) {
        self.context.queue.events.flush(self.context.id, self.now);
    }

    /// Lets drawings be recognised with the run's weights, which stay the newest as it trains; `follow` does it without being asked.
    fn offer_weights(&mut self, net: &Net, record: Option<&EpochRecord>, digit_threshold: f32, follow: bool) {
        let run = self.context.id;
        let info = ModelInfo {
            reference: ModelRef::Training(run),
            kind: self.config.model,
            parameters: parameter_count(self.config.model),
            data: self.config.data.clone(),
            epochs: record.map_or(0, |record| record.epoch),
            validation_accuracy: record.map(|record| record.validation_accuracy),
        };
        let classifier = Classifier::new(net.clone(), self.config.device.resolved(), info, digit_threshold);
        let queue = &mut *self.context.queue;
        queue.recognizer.set_training(run, classifier, follow, queue.events);
    }
}

impl Observer for Run<'_, '_, '_> {
    fn prepare(&mut self, plan: &RunPlan, net: &Net, before: &[EpochRecord], position: RunPosition) {
        self.completed_before = before.len() as u32;
        let folder = self.writer.folder().to_owned();
        self.send(Event::Started { run: self.context.id, plan: plan.clone(), before: before.to_vec(), position, folder });
        // Nothing was learned yet, or not this time: whoever wants to may use it.
        self.offer_weights(net, before.last(), f32::NEG_INFINITY, false);
    }

    fn between(&mut self, _net: &Net) -> Result<(), EndRequest> {
        Ok(self.check()?)
    }

    fn step(&mut self, point: StepPoint, now: Telemetry) {
        self.now = now;
        self.context.queue.events.step(self.context.id, point, now);
    }

    fn intervened(&mut self, intervention: Intervention) {
        self.flush();
        self.send(Event::Intervened { run: self.context.id, intervention });
    }

    fn epoch(&mut self, record: &EpochRecord, net: &Net, digit_threshold: f32) {
        self.flush();
        self.send(Event::Epoch { run: self.context.id, record: *record });
        // From the first epoch on the newest weights are in use, until somebody chooses another model.
        self.offer_weights(net, Some(record), digit_threshold, record.epoch == self.completed_before + 1);
    }

    fn checkpoint(&mut self, mut checkpoint: Checkpoint) {
        checkpoint.card.origin = self.origin.clone();
        self.writer.write(checkpoint);
    }
}
