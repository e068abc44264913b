//! The training loop, to be read from top to bottom: batches, forward, loss, backward, step,
//! validation, and once, at the end, the test set.
//!
//! An optimiser step covers one batch (or several, with gradient accumulation), but is computed
//! over micro-batches whose gradients add up. Between any two of them the observer may recognise a
//! drawing, pause the run or stop it, so all of that takes effect within a few hundredths of a
//! second whatever the batch size. Where memory runs out, micro-batches are made smaller. Every
//! image is seen once an epoch.

use std::thread::Scope;

use super::TrainError;
use super::batch_growth::{grown, next_factor, noise_scale};
use super::batches::Batches;
use super::checkpoint::Checkpoint;
use super::digit_detector::with_digit_detector;
use super::epoch_steps::EpochSteps;
use super::loader::Shuffle;
use super::metrics::MetricAccumulator;
use super::micro_batches::MicroBatcher;
use super::observer::{EndRequest, Observer};
use super::plan::{check, first_net, plan, threads};
use super::posterior::calibrated_together;
use super::progress::RunProgress;
use super::reporting::{hand_over_checkpoint, interruptibly, report};
use super::run_clock::RunClock;
use super::stepper::Stepper;
use super::trained_model::{TrainOutcome, TrainedModel};
use crate::data::{DataSet, Split, ValidationSplit};
use crate::infer::measure;
use crate::nn::{ComputeError, DeviceContext, Mode, Net};
use crate::optim::Schedule;
use crate::profiler;
use crate::progress::Cancelled;
use crate::records::{
    Calibration, EpochRecord, InitializationReport, Intervention, SpanKind, SplitEvaluation,
    Telemetry, chance_loss,
};
use crate::run_config::{Classes, EvaluationSplit, RunConfig};

/// Trains as configured on this device, from the start or from a checkpoint, as if the run had not
/// been interrupted.
pub fn train(
    config: &RunConfig,
    data: &DataSet,
    context: &DeviceContext,
    from: Option<Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<TrainOutcome, TrainError> {
    check(config)?;
    train_from(
        config,
        data,
        Start::new(config, &data.train, &data.classes)?,
        context,
        from,
        observer,
    )
}

/// Trains for the validation accuracy of each epoch alone: no test images are read, and there is no
/// model. The epochs are those of [`train`] with the same settings.
pub fn validate(
    config: &RunConfig,
    train_split: &Split,
    classes: &Classes,
    context: &DeviceContext,
    observer: &mut dyn Observer,
) -> Result<TrainOutcome, TrainError> {
    check(config)?;
    let start = Start::new(config, train_split, classes)?;
    run_on_threads(config, train_split, None, start, context, None, observer)
}

/// What a run starts from.
#[derive(Clone, Debug)]
pub struct Start {
    /// The network before the first step.
    pub net: Net,
    /// What was found by an initialisation that depends on the training images; `None` for random
    /// or given weights.
    pub initialization: Option<InitializationReport>,
    /// What the classes of its images stand for.
    pub classes: Classes,
    /// The images for validation, and which of the training images to train on.
    pub split: ValidationSplit,
    /// The learning rates of its steps, where they are not those that the settings say.
    pub schedule: Option<Schedule>,
}

impl Start {
    /// Of a run with these settings on these training images of these classes.
    pub fn new(
        config: &RunConfig,
        train_split: &Split,
        classes: &Classes,
    ) -> Result<Self, TrainError> {
        let split = ValidationSplit::new(train_split, config.seed);
        let (net, initialization) = first_net(config, train_split, &split.train, classes)?;
        Ok(Self {
            net,
            initialization,
            classes: classes.clone(),
            split,
            schedule: None,
        })
    }
}

/// The same from this start.
pub fn train_from(
    config: &RunConfig,
    data: &DataSet,
    start: Start,
    context: &DeviceContext,
    from: Option<Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<TrainOutcome, TrainError> {
    run_on_threads(
        config,
        &data.train,
        Some(&data.test),
        start,
        context,
        from,
        observer,
    )
}

fn run_on_threads(
    config: &RunConfig,
    train_split: &Split,
    test: Option<&Split>,
    start: Start,
    context: &DeviceContext,
    from: Option<Checkpoint>,
    observer: &mut dyn Observer,
) -> Result<TrainOutcome, TrainError> {
    let context = &match config.memory_limit_bytes() {
        Some(bytes) => context.clone().with_memory_limit(bytes),
        None => context.clone(),
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads(config))
        .thread_name(|index| format!("train-{index}"))
        .build()
        .map_err(|error| ComputeError::no_thread(&error))?;
    // The loop itself is one of the pool's threads, so that the run computes on exactly as many as
    // configured. The thread that prepares batches is extra: it has little to do.
    pool.install(|| {
        std::thread::scope(|scope| {
            run(
                config,
                train_split,
                test,
                start,
                context,
                from,
                scope,
                observer,
            )
        })
    })
}

/// Without a test split, the run ends with its last validation.
#[expect(clippy::too_many_arguments, reason = "the whole of a run, called once")]
fn run<'scope, 'env>(
    config: &RunConfig,
    train_split: &'env Split,
    test: Option<&Split>,
    Start {
        net,
        initialization,
        classes,
        split,
        schedule,
    }: Start,
    context: &DeviceContext,
    from: Option<Checkpoint>,
    scope: &'scope Scope<'scope, 'env>,
    observer: &mut dyn Observer,
) -> Result<TrainOutcome, TrainError> {
    let ValidationSplit {
        train: indices,
        validation,
    } = split;
    let images = [indices.len(), validation.len(), test.map_or(0, Split::len)];
    let plan = plan(config, images, classes.clone(), threads(config))?;
    let context = &context.clone().with_autotuning(config.autotune);
    let net = net
        .into_device(context)?
        .with_activation_checkpointing(config.activation_checkpointing);
    let schedule = schedule
        .unwrap_or_else(|| Schedule::new(config.schedule, config.learning_rate, plan.total_steps));
    let mut stepper = Stepper::new(config, &net, plan.train_images, plan.steps_per_epoch)?;
    // Progress is counted in steps of batches that have not grown.
    let steps_of_epoch = EpochSteps::new(config, plan.train_images);
    let mut progress = RunProgress::start(config);
    if let Some(checkpoint) = from {
        checkpoint.check(config, &plan, &net)?;
        let state;
        (progress, state) = RunProgress::resume(config, checkpoint);
        stepper.load_state(state, plan.steps_per_epoch)?;
    }
    observer.prepare(
        &plan,
        &net,
        &validation,
        &progress.epochs,
        progress.curve.points(),
        progress.position(&plan),
    );
    if let Some(report) = &initialization {
        observer.initialized(report);
    }

    let mut clock = RunClock::start(&plan, config.epochs, &progress);
    let start_batches = |progress: &RunProgress| {
        let shuffle = Shuffle::new(indices.clone(), config.seed, progress.epochs.len() as u32)
            .skip(progress.current.images as usize);
        Batches::start(
            scope,
            &grown(config, progress.batch_factor),
            train_split,
            shuffle,
            context,
        )
    };
    let mut batches = start_batches(&progress)?;
    let mut micro_batcher = MicroBatcher::new(
        &grown(config, progress.batch_factor),
        context,
        &plan,
        observer,
    )?;
    let mut end = None;

    'run: while progress.epoch() <= config.epochs && progress.stopped_early(config).is_none() {
        let epoch = progress.epoch();
        let started = clock.seconds() - progress.current.seconds;
        if config.growing_batches && epoch > 1 && progress.current.steps == 0 {
            let noise_scale = match interruptibly(&net, &mut clock, observer, |mut progress| {
                noise_scale(&net, (train_split, &indices), config, epoch, &mut progress)
            })? {
                Ok(noise_scale) => noise_scale,
                Err(request) => {
                    end = Some(request);
                    break 'run;
                }
            };
            let fits = |config: &RunConfig| micro_batcher.fits(config, &plan);
            let factor = next_factor(
                config,
                progress.batch_factor,
                noise_scale,
                plan.train_images,
                fits,
            );
            if factor > progress.batch_factor {
                progress.batch_factor = factor;
                batches = start_batches(&progress)?;
                let batch_size = grown(config, factor).batch_size;
                observer.intervened(Intervention::LargerBatches {
                    epoch,
                    batch_size,
                    noise_scale: noise_scale.map(|scale| scale as f32),
                });
            }
        }
        let grown = grown(config, progress.batch_factor);
        let rate_factor = config.optimizer.rate_factor(progress.batch_factor.into()) as f32;

        for end_of_step in
            EpochSteps::new(&grown, plan.train_images).ends_after(progress.current.images)
        {
            let images = (end_of_step - progress.current.images) as usize;
            let mut metrics = MetricAccumulator::new(context.backend.kind());
            while metrics.images < images {
                let batch =
                    profiler::span(SpanKind::Data, || "".into(), || batches.next_batch(), |_| 0)?;
                let mut start = 0;
                while start < batch.len() {
                    let micro_batch = batch.narrow(start, micro_batcher.size)?;
                    let dropout = &mut progress.dropout;
                    let computed = net
                        .forward(
                            &micro_batch.images,
                            Mode::Train {
                                dropout,
                                precision: config.precision,
                            },
                        )
                        .and_then(|logits| {
                            net.loss(
                                &logits,
                                &micro_batch.labels,
                                images,
                                config.label_smoothing as f32,
                            )
                        })
                        .and_then(|loss| stepper.backward(&loss).map(|()| loss));
                    if let Some(loss) = micro_batcher.retry_on_oom(
                        computed,
                        micro_batch.len(),
                        progress.step + 1,
                        observer,
                    )? {
                        metrics.add(&loss, micro_batch.len())?;
                        start += micro_batch.len();
                    }
                    // An interrupted step is completed first: half of it is in gradients and
                    // running statistics already.
                    if end.is_none() {
                        end = clock.pause(|| observer.between(&net)).err();
                    }
                    // A first epoch that is stopped can be resumed, like one that is interrupted.
                    if end == Some(EndRequest::Stop) && !progress.epochs.is_empty() {
                        break 'run;
                    }
                }
            }
            let lr = schedule.lr(progress.step) * rate_factor;
            let steps = steps_of_epoch.completed(end_of_step) - progress.current.steps;
            let (before, step) = (progress.step, progress.step + steps);
            let taken = profiler::span(
                SpanKind::Optimizer,
                || "".into(),
                || stepper.step(before, step, lr, metrics),
                |_| 0,
            )?;
            progress.add_step(steps, images);
            let telemetry = clock.step(progress.step, epoch, images);
            let telemetry = Telemetry {
                loss_scale: stepper.loss_scale(),
                skipped_steps: stepper.skipped(),
                ..telemetry
            };
            report(taken, telemetry, &mut progress, observer);
            progress.current.seconds = clock.seconds() - started;
            if end.is_some() {
                break 'run;
            }
            if clock.is_checkpoint_due(observer.checkpoint_interval()) {
                report(stepper.read_pending()?, telemetry, &mut progress, observer);
                hand_over_checkpoint(config, &plan, &progress, &stepper, &mut clock, observer)?;
            }
        }

        // The epoch ends when the device has computed all of it.
        let steps = stepper.flush(progress.step)?;
        let trained = clock.seconds();
        report(
            steps,
            clock.now(progress.step, epoch),
            &mut progress,
            observer,
        );
        progress.current.seconds = trained - started;
        stepper.swap_ema()?;
        // The loss is that of the logits as they are: a temperature fitted on the same images would
        // flatter it.
        let temperature = Calibration::NONE.temperature;
        let measured = match interruptibly(&net, &mut clock, observer, |mut progress| {
            measure(&net, temperature, &validation, &mut progress)
        })? {
            Ok(measured) => measured,
            Err(request) => {
                end = Some(request);
                stepper.swap_ema()?;
                break 'run;
            }
        };
        clock.measured(trained, validation.len());
        let record = EpochRecord {
            epoch,
            step: progress.step,
            train_loss: progress.current.metrics.mean_loss(),
            train_accuracy: progress.current.metrics.accuracy(),
            validation_loss: measured.evaluation.loss as f32,
            validation_accuracy: measured.evaluation.accuracy as f32,
            seconds: progress.current.seconds as f32,
        };
        let calibration = measured.calibration(&validation.labels);
        progress.complete_epoch(config, record, &net, calibration)?;
        clock.pause(|| observer.epoch(&record, &net, calibration));
        stepper.swap_ema()?;
        if let Some(best_epoch) = progress.stopped_early(config) {
            observer.intervened(Intervention::StoppedEarly { epoch, best_epoch });
        }
        hand_over_checkpoint(config, &plan, &progress, &stepper, &mut clock, observer)?;
    }

    // The model has the weights that the last record measured, not those of the steps after it.
    let (Some(best), false) = (progress.best.best(), end == Some(EndRequest::Interrupt)) else {
        let now = clock.now(progress.step, progress.epoch());
        report(stepper.read_pending()?, now, &mut progress, observer);
        hand_over_checkpoint(config, &plan, &progress, &stepper, &mut clock, observer)?;
        return Ok(if end == Some(EndRequest::Interrupt) {
            TrainOutcome::Interrupted
        } else {
            TrainOutcome::Unfinished
        });
    };
    let Some(test_images) = test else {
        drop((batches, stepper));
        context.release_memory()?;
        return Ok(TrainOutcome::Validated);
    };
    // A run that is stopped gets these and its test accuracy as well: that takes a second or two. A
    // second request ends the test.
    let mut between = |_: f32| {
        if end.is_none() {
            end = clock.pause(|| observer.between(&net)).err();
        }
        if end == Some(EndRequest::Interrupt) {
            Err(Cancelled)
        } else {
            Ok(())
        }
    };
    if !progress.posterior.is_empty() {
        let Some(samples) = calibrated_together(
            std::mem::take(&mut progress.posterior),
            &net,
            &validation,
            &mut between,
        ) else {
            return Ok(TrainOutcome::Interrupted);
        };
        progress.posterior = samples;
    }
    net.set_weights(&best.weights)?;
    let Some((net, calibration)) = with_digit_detector(
        &net,
        best.calibration,
        config,
        &classes,
        train_split,
        &validation,
        &mut between,
    ) else {
        return Ok(TrainOutcome::Interrupted);
    };
    let mut test = None;
    if !test_images.is_empty() {
        test = match interruptibly(&net, &mut clock, observer, |mut progress| {
            measure(&net, calibration.temperature, test_images, &mut progress)
        })? {
            Ok(measured) => {
                let (data, split) = (config.data.tested(), EvaluationSplit::Test);
                Some(SplitEvaluation {
                    data,
                    split,
                    evaluation: measured.evaluation,
                })
            }
            Err(EndRequest::Stop) => None,
            Err(EndRequest::Interrupt) => return Ok(TrainOutcome::Interrupted),
        };
    }
    if best.record.is_worse_than_chance(classes.len()) {
        let validation_loss = best.record.validation_loss;
        observer.intervened(Intervention::WorseThanChance {
            validation_loss,
            chance_loss: chance_loss(classes.len()),
        });
    }
    drop((batches, stepper));
    context.release_memory()?;
    let mut trained = TrainedModel::new(config, plan, progress, &best, net, calibration, test);
    trained.summary.initialization = initialization;
    Ok(TrainOutcome::Trained(Box::new(trained)))
}
