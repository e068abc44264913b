//! Owns one training run as the engine sees it: data in, `train` in the middle, a run folder out, events all along.
//! Must not know how a step is computed.

use std::ops::ControlFlow;
use std::path::Path;

use crate::data::DataError;
use crate::engine::command_queue::{CommandQueue, Order};
use crate::engine::dataset_cache::DatasetCache;
use crate::engine::handle::{EngineSettings, RunsTarget};
use crate::infer::Classifier;
use crate::nn::DeviceContext;
use crate::nn::{ModelFile, Net, parameter_count};
use crate::problem::Problem;
use crate::protocol::{Event, Task};
use crate::records::{EpochRecord, Intervention, ModelInfo, ModelRef, RunId, RunPlan, RunSummary, StepPoint, Telemetry};
use crate::run_config::RunConfig;
use crate::runs::{CheckpointWriter, Checkpoints, RunError, Scribe, Store, check_target, save_to};
use crate::train::{self, Checkpoint, Flow, Observer, TrainedModel};

/// Carries a run out, from its data, or from a checkpoint, to its folder.
pub(in crate::engine) fn carry_out(
    settings: &EngineSettings,
    scribe: &Scribe,
    queue: &mut CommandQueue<'_>,
    datasets: &mut DatasetCache,
    run: RunId,
    config: &RunConfig,
    from: Option<&Path>,
) {
    let trained = begin(settings, scribe, queue, run, from).and_then(|(writer, checkpoint)| {
        let outcome = train_from(settings, queue, datasets, run, config, checkpoint, &writer);
        let kept = outcome.and_then(|outcome| outcome.map(|outcome| Ok((keep(settings, &outcome), outcome))).transpose());
        let over = match &kept {
            Ok(Some((saved, _))) => saved.is_ok(),
            // What was stopped has nothing but the checkpoint it went on from, if it did.
            Ok(None) | Err(Problem::Data(DataError::Cancelled)) => from.is_none(),
            // Going on from where a run went astray would lead there again.
            Err(problem) => matches!(problem, Problem::Diverged { .. }),
        };
        if over {
            writer.over();
        } else {
            writer.leave();
        }
        kept
    });
    let failed = |problem| Event::Failed { what: Task::Run(run), problem };
    let (event, left) = match trained {
        Ok(Some((Ok(summary), outcome))) => {
            let reference = ModelRef::File(summary.model_path.clone());
            (Event::Finished { run, summary: Box::new(summary) }, left_by(&outcome, reference))
        }
        // What was learned has no folder, but it goes on reading until another model is chosen, and is in a checkpoint.
        Ok(Some((Err(problem), outcome))) => (failed(problem), left_by(&outcome, ModelRef::Training(run))),
        Ok(None) | Err(Problem::Data(DataError::Cancelled)) => (Event::Discarded(run), None),
        Err(problem) => (failed(problem), None),
    };
    queue.events.send(event);
    queue.run_ended(left);
}

/// A classifier with what the run has learned: on the processor, from where it may go elsewhere.
fn left_by(outcome: &TrainedModel, reference: ModelRef) -> Option<Classifier> {
    let file = outcome.model_file();
    let net = file.net.into_device(&DeviceContext::CPU);
    let net = net.inspect_err(|error| tracing::error!(%error, "the run's weights cannot be fetched from their device")).ok()?;
    Some(Classifier::of_file(ModelFile { net, card: file.card }, reference))
}

/// The writer of the run's checkpoints, and the one it goes on from.
fn begin(
    settings: &EngineSettings,
    scribe: &Scribe,
    queue: &CommandQueue<'_>,
    run: RunId,
    from: Option<&Path>,
) -> Result<(CheckpointWriter, Option<Checkpoint>), Problem> {
    let (place, checkpoint) = match from {
        None => (Checkpoints::new(&settings.checkpoints).begin(), None),
        Some(folder) => Checkpoints::take_up(folder).map(|(place, checkpoint)| (place, Some(checkpoint)))?,
    };
    let events = queue.events.fork();
    let told = move |folder: &Path, epochs, kept: Result<(), RunError>| {
        events.send(Event::Checkpoint { run, folder: folder.to_owned(), epochs, kept: kept.map_err(Problem::from) })
    };
    Ok((CheckpointWriter::start(scribe, place, Box::new(told))?, checkpoint))
}

/// `None` when it was stopped with nothing worth keeping.
fn train_from(
    settings: &EngineSettings,
    queue: &mut CommandQueue<'_>,
    datasets: &mut DatasetCache,
    run: RunId,
    config: &RunConfig,
    checkpoint: Option<Checkpoint>,
    writer: &CheckpointWriter,
) -> Result<Option<TrainedModel>, Problem> {
    // Better refused now than after an hour of training.
    train::check(config)?;
    match &settings.runs {
        RunsTarget::Store(root) => Store::new(root).check()?,
        RunsTarget::Folder(folder) => check_target(folder)?,
    }
    let mut job = Job { queue, run, config, writer, before: 0, now: Telemetry::default() };
    let set = datasets.get(&settings.data_folders, &config.data, &mut |fraction| {
        job.queue.events.telemetry(|| Event::Preparing { run, fraction });
        match job.attend() {
            Flow::Continue => ControlFlow::Continue(()),
            Flow::Stop => ControlFlow::Break(()),
        }
    })?;
    let outcome = train::train(config, set, &settings.devices.open(config.device)?, checkpoint, &mut job)?;
    let now = job.now;
    queue.events.flush(run, now);
    Ok(outcome)
}

fn keep(settings: &EngineSettings, outcome: &TrainedModel) -> Result<RunSummary, Problem> {
    Ok(match &settings.runs {
        RunsTarget::Store(root) => Store::new(root).save(outcome, settings.weights)?,
        RunsTarget::Folder(folder) => save_to(folder, outcome, settings.weights)?,
    })
}

/// What the run tells the engine, and asks it.
struct Job<'d, 'a, 'c> {
    queue: &'d mut CommandQueue<'a>,
    run: RunId,
    config: &'c RunConfig,
    writer: &'c CheckpointWriter,
    /// Epochs completed before it was interrupted.
    before: u32,
    now: Telemetry,
}

impl Job<'_, '_, '_> {
    /// Does what was asked since the last time; holds the run here while it is paused.
    fn attend(&mut self) -> Flow {
        let mut paused = false;
        loop {
            let order = if paused { Some(self.queue.wait()) } else { self.queue.poll() };
            match order {
                None => return Flow::Continue,
                Some(Order::Pause(run)) if run == self.run && !paused => {
                    paused = true;
                    self.queue.events.flush(run, self.now);
                    self.queue.events.send(Event::Paused(run));
                }
                Some(Order::Resume(run)) if run == self.run && paused => {
                    paused = false;
                    self.queue.events.send(Event::Resumed(run));
                }
                Some(Order::Stop(run)) if run == self.run => return Flow::Stop,
                Some(order @ Order::Shutdown) => {
                    self.queue.requeue(order);
                    return Flow::Stop;
                }
                Some(Order::Start { run, .. }) => self.refuse(Task::Run(run)),
                Some(Order::Evaluate { request, .. }) => self.refuse(Task::Evaluation(request)),
                Some(Order::Benchmark { request, .. } | Order::Compare { request, .. }) => self.refuse(Task::Benchmark(request)),
                Some(Order::Export { request, .. }) => self.refuse(Task::Export(request)),
                Some(Order::Import { request, .. }) => self.refuse(Task::Import(request)),
                Some(
                    Order::Pause(_)
                    | Order::Resume(_)
                    | Order::Stop(_)
                    | Order::CancelEvaluation(_)
                    | Order::CancelBenchmark(_)
                    | Order::CancelExport(_),
                ) => {}
            }
        }
    }

    fn refuse(&self, what: Task) {
        self.queue.events.send(Event::Failed { what, problem: Problem::Busy });
    }

    /// A classifier with the run's weights, as they are now and as they go on.
    fn classifier(&self, net: &Net, record: Option<&EpochRecord>, digit_threshold: f32) -> Classifier {
        let info = ModelInfo {
            reference: ModelRef::Training(self.run),
            kind: self.config.model,
            parameters: parameter_count(self.config.model),
            data: self.config.data.clone(),
            epochs: record.map_or(0, |record| record.epoch),
            validation_accuracy: record.map(|record| record.validation_accuracy),
        };
        Classifier::new(net.clone(), self.config.device.resolved(), info, digit_threshold)
    }
}

impl Observer for Job<'_, '_, '_> {
    fn prepare(&mut self, plan: &RunPlan, net: &Net, before: &[EpochRecord]) {
        self.before = before.len() as u32;
        let folder = self.writer.folder().to_owned();
        self.queue.events.send(Event::Started { run: self.run, plan: plan.clone(), before: before.to_vec(), folder });
        // Nothing was learned yet, or not this time: whoever wants to may read with it, nobody has to.
        let classifier = self.classifier(net, before.last(), f32::NEG_INFINITY);
        self.queue.learned(self.run, classifier, false);
    }

    fn between(&mut self, _net: &Net) -> Flow {
        self.attend()
    }

    fn step(&mut self, point: StepPoint, now: Telemetry) {
        self.now = now;
        self.queue.events.step(self.run, point, now);
    }

    fn intervened(&mut self, intervention: Intervention) {
        // What led to it is shown before it.
        self.queue.events.flush(self.run, self.now);
        self.queue.events.send(Event::Intervened { run: self.run, intervention });
    }

    fn epoch(&mut self, record: &EpochRecord, net: &Net, digit_threshold: f32) {
        self.queue.events.flush(self.run, self.now);
        self.queue.events.send(Event::Epoch { run: self.run, record: *record });
        // After the first epoch the newest weights read by themselves, until somebody chooses another model.
        let classifier = self.classifier(net, Some(record), digit_threshold);
        self.queue.learned(self.run, classifier, record.epoch == self.before + 1);
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        self.writer.write(checkpoint);
    }
}
