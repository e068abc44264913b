//! THE training loop, to be read top to bottom: batches, forward, loss, backward, update, validate, and at the end one look at the test
//! split. Must not know who watches, nor where the trained_model is kept.
//!
//! An optimiser step covers one batch (or several, with accumulation), but is computed over micro-batches whose gradients add up:
//! between any two of them the observer may read a drawing, hold the run or end it, so all of that takes effect within a few hundredths
//! of a second whatever the batch size. Where memory runs out, they are made smaller. Every image is seen once an epoch: a last short batch is kept, with its loss averaged over the
//! images it has.

use std::thread::Scope;

use super::TrainError;
use super::batches::Batches;
use super::best_checkpoint::{BestCheckpoint, BestEpoch};
use super::checkpoint::{Checkpoint, CheckpointCard};
use super::loader::Shuffle;
use super::metrics::{MetricAccumulator, Metrics};
use super::micro_batches::MicroBatcher;
use super::observer::Observer;
use super::pending::CompletedStep;
use super::plan::{check, first_net, plan, step_sizes, threads};
use super::run_clock::RunClock;
use super::stepper::{StepReport, Stepper};
use super::trained_model::TrainedModel;
use crate::data::ValidationSplit;
use crate::data::{DataSet, Split};
use crate::hardware::machine;
use crate::infer::{InferError, Measurement, measure};
use crate::math::random::Random;
use crate::nn::{ComputeError, DeviceContext, Mode, Net, flops};
use crate::optim::Schedule;
use crate::records::{EpochRecord, Evaluation, Intervention, RunSummary, StepPoint, Telemetry};
use crate::run_config::{ModelKind, RunConfig};

/// Images per forward and backward pass of a model: the time between two looks at the observer, and the most activations held
/// at once. As many as make a few hundredths of a second on two ordinary cores, and at most 128, beyond which nothing is gained.
pub fn micro_batch(model: ModelKind) -> usize {
    const FLOPS: u64 = 4_000_000_000;
    (FLOPS / flops(model).training.max(1)).clamp(16, 128) as usize
}

/// Trains as configured, in this place, from the start or from a checkpoint of an interrupted run, as if it had not been interrupted. `None`
/// when the observer stopped the run before its first epoch was complete.
pub fn train(
    config: &RunConfig,
    data: &DataSet,
    context: &DeviceContext,
    from: Option<Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<Option<TrainedModel>, TrainError> {
    check(config)?;
    let context = &match config.memory_limit_bytes() {
        Some(bytes) => context.clone().with_memory_limit(bytes),
        None => context.clone(),
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads(config))
        .thread_name(|index| format!("train-{index}"))
        .build()
        .map_err(|error| ComputeError::failed(&error))?;
    // The loop itself is one of the pool's threads, so that the run computes on exactly as many as it was given. The thread that
    // gathers batches comes on top: it has little to do, and something only while the others do.
    pool.install(|| std::thread::scope(|scope| run(config, data, context, from, scope, observer)))
}

fn run<'scope, 'env>(
    config: &RunConfig,
    data: &'env DataSet,
    context: &DeviceContext,
    from: Option<Checkpoint>,
    scope: &'scope Scope<'scope, 'env>,
    observer: &mut dyn Observer,
) -> Result<Option<TrainedModel>, TrainError> {
    let ValidationSplit { train: order, validation } = ValidationSplit::new(&data.train, config.seed);
    let plan = plan(config, order.len(), validation.len(), data.test.len(), threads(config))?;
    let net = first_net(config)?.into_device(context)?;
    let schedule = Schedule::new(config.schedule, config.learning_rate, plan.total_steps);
    let mut stepper = Stepper::new(config, &net, plan.train_images, plan.steps_per_epoch)?;
    let mut dropout = Random::stream(config.seed, "dropout", 0);
    let mut best = BestCheckpoint::new(config.early_stopping, None);
    let mut epochs: Vec<EpochRecord> = Vec::new();
    let mut step = 0;
    if let Some(checkpoint) = from {
        checkpoint.check(config, &plan, &net)?;
        step = checkpoint.progress.state.step;
        stepper.load_state(checkpoint.progress, plan.steps_per_epoch)?;
        best = BestCheckpoint::new(config.early_stopping, Some(checkpoint.kept));
        (dropout, epochs) = (checkpoint.dropout, checkpoint.card.epochs);
    }
    let done = epochs.len() as u32;
    observer.prepare(&plan, &net, &epochs);

    let mut clock = RunClock::start(&plan, config.epochs, &epochs);
    let mut batches = Batches::start(scope, config, &data.train, Shuffle::new(order, config.seed, done), context)?;
    let mut parts = MicroBatcher::new(config, context, &plan, observer)?;
    let ended_early = |best: &BestCheckpoint, epoch| best.patience_exhausted(epoch).filter(|_| epoch < config.epochs);
    let mut waited = ended_early(&best, done);

    'run: for epoch in done + 1..=config.epochs {
        if waited.is_some() {
            break;
        }
        let began = clock.seconds();
        let mut seen = Metrics::default();

        for images in step_sizes(config, plan.train_images) {
            let mut sums = MetricAccumulator::new(context.backend.kind());
            while sums.images < images {
                let batch = batches.next_batch()?;
                let mut start = 0;
                while start < batch.len() {
                    let part = batch.narrow(start, parts.most)?;
                    let learned = net
                        .forward(&part.images, Mode::Train { dropout: &mut dropout, precision: config.precision })
                        .and_then(|logits| net.loss(&logits, &part.labels, images, config.label_smoothing as f32))
                        .and_then(|loss| stepper.backward(&loss).map(|()| loss));
                    if let Some(loss) = parts.retry_on_oom(learned, part.len(), step + 1, observer)? {
                        sums.add(&loss, part.len())?;
                        start += part.len();
                    }
                    if clock.pause(|| observer.between(&net)).is_err() {
                        break 'run;
                    }
                }
            }
            let rate = schedule.rate(step);
            step += 1;
            let report = stepper.step(step, rate, sums)?;
            let now = clock.step(step, epoch, images);
            let now = Telemetry { loss_scale: stepper.loss_scale(), skipped_steps: stepper.skipped(), ..now };
            tell(report, now, &mut seen, observer);
        }

        // Which waits for what a device has yet to compute of the epoch: only then is it over.
        let report = stepper.flush(step)?;
        let validating = clock.seconds();
        tell(report, clock.now(step, epoch), &mut seen, observer);
        stepper.swap_ema()?;
        let Some(measured) = measure_between(&net, &validation, &mut clock, observer)? else { break 'run };
        clock.measured(validating, validation.len());
        let record = EpochRecord {
            epoch,
            step,
            train_loss: seen.mean_loss(),
            train_accuracy: seen.accuracy(),
            validation_loss: measured.evaluation.loss as f32,
            validation_accuracy: measured.evaluation.accuracy as f32,
            seconds: (validating - began) as f32,
        };
        let digit_threshold = measured.digit_threshold();
        best.offer(&record, &net, digit_threshold)?;
        epochs.push(record);
        clock.pause(|| observer.epoch(&record, &net, digit_threshold));
        stepper.swap_ema()?;
        waited = ended_early(&best, epoch);
        if let Some(best_epoch) = waited {
            observer.intervened(Intervention::StoppedEarly { epoch, best_epoch });
        }
        if let Some(kept) = best.best() {
            let card = CheckpointCard {
                config: config.clone(),
                train_images: plan.train_images,
                epochs: epochs.clone(),
                made_at: jiff::Timestamp::now().to_string(),
            };
            let checkpoint = Checkpoint { card, progress: stepper.state(step)?, dropout: dropout.clone(), kept: kept.clone() };
            clock.pause(|| observer.checkpoint(checkpoint));
        }
    }

    // What is kept is what a record measured, not the steps after it.
    let Some(BestEpoch { record, weights, digit_threshold }) = best.into_best() else { return Ok(None) };
    net.set_weights(&weights)?;
    let stopped_early = waited.is_some();
    let stopped = epochs.len() < config.epochs as usize && !stopped_early;
    let test = if stopped { None } else { test_once(&net, &data.test, &mut clock, observer)? };
    drop((batches, stepper));
    context.release_memory()?;
    let train_seconds: f64 = epochs.iter().map(|epoch| f64::from(epoch.seconds)).sum();
    let images_per_second = plan.train_images as f64 * epochs.len() as f64 / train_seconds.max(1e-9);
    let summary = RunSummary {
        config: config.clone(),
        plan,
        folder: std::path::PathBuf::new(),
        model_path: std::path::PathBuf::new(),
        finished_at: jiff::Timestamp::now().to_string(),
        stopped,
        stopped_early,
        kept_epoch: Some(record.epoch),
        epochs,
        train_seconds,
        images_per_second,
        test,
        machine: machine(),
        imported: None,
    };
    Ok(Some(TrainedModel { summary, net, digit_threshold }))
}

fn tell(report: StepReport, now: Telemetry, seen: &mut Metrics, observer: &mut dyn Observer) {
    for CompletedStep { step, learning_rate, metrics } in report.completed {
        seen.add_step(&metrics);
        observer.step(StepPoint { step, loss: metrics.loss as f32, accuracy: metrics.accuracy(), learning_rate }, now);
    }
    if let Some(intervention) = report.intervention {
        observer.intervened(intervention);
    }
}

/// The test split's figures; `None` where there is none, or when the observer broke the reading off.
fn test_once(net: &Net, test: &Split, clock: &mut RunClock, observer: &mut dyn Observer) -> Result<Option<Evaluation>, TrainError> {
    if test.is_empty() {
        return Ok(None);
    }
    Ok(measure_between(net, test, clock, observer)?.map(|measured| measured.evaluation))
}

/// Measures, asking the observer between parts; `None` when it stops the run.
fn measure_between(net: &Net, split: &Split, clock: &mut RunClock, observer: &mut dyn Observer) -> Result<Option<Measurement>, TrainError> {
    match measure(net, split, &mut |_: f32| clock.pause(|| observer.between(net))) {
        Ok(measured) => Ok(Some(measured)),
        Err(InferError::Cancelled(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
