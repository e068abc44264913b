//! The training loop, to be read from top to bottom: batches, forward, loss, backward, step, validation, and once, at the end, the test set.
//!
//! An optimiser step covers one batch (or several, with gradient accumulation), but is computed over micro-batches whose gradients add
//! up. Between any two of them the observer may recognise a drawing, pause the run or stop it, so all of that takes effect within a few
//! hundredths of a second whatever the batch size. Where memory runs out, micro-batches are made smaller. Every image is seen once an
//! epoch: the last batch may be smaller, and its loss is the mean over the images it has.

use std::thread::Scope;

use super::TrainError;
use super::batches::Batches;
use super::best_checkpoint::{BestCheckpoint, BestEpoch};
use super::checkpoint::{Checkpoint, CheckpointCard};
use super::loader::Shuffle;
use super::metrics::{MetricAccumulator, Metrics};
use super::micro_batches::MicroBatcher;
use super::observer::Observer;
use super::plan::{check, first_net, plan, step_sizes, threads};
use super::run_clock::RunClock;
use super::step_report::{CompletedStep, StepReport};
use super::stepper::Stepper;
use super::trained_model::TrainedModel;
use crate::data::{DataSet, Split, ValidationSplit};
use crate::hardware::machine;
use crate::infer::{InferError, Measurement, measure};
use crate::math::random::Random;
use crate::nn::{ComputeError, DeviceContext, Mode, Net};
use crate::optim::Schedule;
use crate::records::{EpochRecord, Evaluation, Intervention, RunSummary, StepPoint, Telemetry};
use crate::run_config::RunConfig;

/// Trains as configured on this device, from the start or from a checkpoint, as if the run had not been interrupted. `None` when the
/// observer stopped it before the first epoch was completed.
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
    // The loop itself is one of the pool's threads, so that the run computes on exactly as many as configured. The thread that prepares
    // batches is extra: it has little to do.
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
    let ValidationSplit { train: indices, validation } = ValidationSplit::new(&data.train, config.seed);
    let plan = plan(config, indices.len(), validation.len(), data.test.len(), threads(config))?;
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
    let mut batches = Batches::start(scope, config, &data.train, Shuffle::new(indices, config.seed, done), context)?;
    let mut micro_batcher = MicroBatcher::new(config, context, &plan, observer)?;
    let early_stop = |best: &BestCheckpoint, epoch| best.patience_exhausted(epoch).filter(|_| epoch < config.epochs);
    let mut stopped_early = early_stop(&best, done);

    'run: for epoch in done + 1..=config.epochs {
        if stopped_early.is_some() {
            break;
        }
        let started = clock.seconds();
        let mut epoch_metrics = Metrics::default();

        for images in step_sizes(config, plan.train_images) {
            let mut metrics = MetricAccumulator::new(context.backend.kind());
            while metrics.images < images {
                let batch = batches.next_batch()?;
                let mut start = 0;
                while start < batch.len() {
                    let micro_batch = batch.narrow(start, micro_batcher.size)?;
                    let computed = net
                        .forward(&micro_batch.images, Mode::Train { dropout: &mut dropout, precision: config.precision })
                        .and_then(|logits| net.loss(&logits, &micro_batch.labels, images, config.label_smoothing as f32))
                        .and_then(|loss| stepper.backward(&loss).map(|()| loss));
                    if let Some(loss) = micro_batcher.retry_on_oom(computed, micro_batch.len(), step + 1, observer)? {
                        metrics.add(&loss, micro_batch.len())?;
                        start += micro_batch.len();
                    }
                    if clock.pause(|| observer.between(&net)).is_err() {
                        break 'run;
                    }
                }
            }
            let lr = schedule.lr(step);
            step += 1;
            let steps = stepper.step(step, lr, metrics)?;
            let telemetry = clock.step(step, epoch, images);
            let telemetry = Telemetry { loss_scale: stepper.loss_scale(), skipped_steps: stepper.skipped(), ..telemetry };
            report(steps, telemetry, &mut epoch_metrics, observer);
        }

        // The epoch ends when the device has computed all of it.
        let steps = stepper.flush(step)?;
        let trained = clock.seconds();
        report(steps, clock.now(step, epoch), &mut epoch_metrics, observer);
        stepper.swap_ema()?;
        let Some(measured) = measure_interruptibly(&net, &validation, &mut clock, observer)? else { break 'run };
        clock.measured(trained, validation.len());
        let record = EpochRecord {
            epoch,
            step,
            train_loss: epoch_metrics.mean_loss(),
            train_accuracy: epoch_metrics.accuracy(),
            validation_loss: measured.evaluation.loss as f32,
            validation_accuracy: measured.evaluation.accuracy as f32,
            seconds: (trained - started) as f32,
        };
        let digit_threshold = measured.digit_threshold();
        best.offer(&record, &net, digit_threshold)?;
        epochs.push(record);
        clock.pause(|| observer.epoch(&record, &net, digit_threshold));
        stepper.swap_ema()?;
        stopped_early = early_stop(&best, epoch);
        if let Some(best_epoch) = stopped_early {
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

    // The model has the weights that the last record measured, not those of the steps after it.
    let Some(BestEpoch { record, weights, digit_threshold }) = best.into_best() else { return Ok(None) };
    net.set_weights(&weights)?;
    let stopped_early = stopped_early.is_some();
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

fn report(steps: StepReport, telemetry: Telemetry, epoch: &mut Metrics, observer: &mut dyn Observer) {
    for CompletedStep { step, learning_rate, metrics } in steps.completed {
        epoch.add_step(&metrics);
        observer.step(StepPoint { step, loss: metrics.loss as f32, accuracy: metrics.accuracy(), learning_rate }, telemetry);
    }
    if let Some(intervention) = steps.intervention {
        observer.intervened(intervention);
    }
}

/// Evaluates the model on the test set; `None` where there is none, or when the observer stopped the run.
fn test_once(net: &Net, test: &Split, clock: &mut RunClock, observer: &mut dyn Observer) -> Result<Option<Evaluation>, TrainError> {
    if test.is_empty() {
        return Ok(None);
    }
    Ok(measure_interruptibly(net, test, clock, observer)?.map(|measured| measured.evaluation))
}

/// Measures the model, calling the observer between batches; `None` when it stops the run.
fn measure_interruptibly(
    net: &Net,
    split: &Split,
    clock: &mut RunClock,
    observer: &mut dyn Observer,
) -> Result<Option<Measurement>, TrainError> {
    match measure(net, split, &mut |_: f32| clock.pause(|| observer.between(net))) {
        Ok(measured) => Ok(Some(measured)),
        Err(InferError::Cancelled(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
