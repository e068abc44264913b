//! The training loop, to be read from top to bottom: epochs of batches, forward, loss, backward and
//! step; validation; and once, at the end, the test set.
//!
//! An optimizer step covers one batch (or several, with gradient accumulation), but is computed
//! over micro-batches whose gradients add up. Between any two of them the observer may recognize a
//! drawing, pause the run or stop it, so all of that takes effect within a few hundredths of a
//! second whatever the batch size. If memory runs out, micro-batches are made smaller. Every
//! image is seen once an epoch.

use std::sync::Arc;
use std::thread::Scope;

use candle_core::{Result as TensorResult, Tensor};

use super::batches::{Batch, Batches, EpochSteps, Shuffle};
use super::checkpoint::Checkpoint;
use super::gradient_noise::{next_factor, noise_scale, with_grown_batches};
use super::history::History;
use super::memory::MicroBatcher;
use super::metrics::{CompletedStep, MetricAccumulator, StepReport};
use super::observer::{EndRequest, RunObserver, RunStart};
use super::plan::{InitialState, check, plan, threads};
use super::progress::RunProgress;
use super::run_clock::RunClock;
use super::single_step::StepRecorder;
use super::stepper::Stepper;
use super::trained_model::{TrainOutcome, TrainedModel, calibrated_together, with_digit_detector};
use crate::data::{Dataset, Split, ValidationSplit};
use crate::infer::measure;
use crate::nn::{ComputeError, DeviceContext, Mode, Net};
use crate::optim::Schedule;
use crate::problem::Problem;
use crate::profiler;
use crate::progress::Cancelled;
use crate::records::{
    Calibration, EpochRecord, InitializationReport, Intervention, RunPlan, SEARCH_RATES,
    SEARCH_STEPS, SpanKind, SplitEvaluation, StepPoint, Telemetry, chance_loss, search_config,
};
use crate::run_config::{Classes, EvaluationSplit, RunConfig};

/// Trains as configured on this device, from the start or from a checkpoint, as if the run had not
/// been interrupted.
///
/// ```
/// use inkling::data::builtin;
/// use inkling::nn::{DeviceContext, Net};
/// use inkling::progress::Unwatched;
/// use inkling::run_config::{ModelKind, Preset, RunConfig};
/// use inkling::train::{EndRequest, RunObserver, TrainOutcome, train};
///
/// struct Quiet;
///
/// impl RunObserver for Quiet {
///     fn on_micro_batch(&mut self, _: &Net) -> Result<(), EndRequest> {
///         Ok(())
///     }
/// }
///
/// let data = builtin::generate(1, 600, 100, &mut Unwatched)?;
/// let config = RunConfig {
///     model: ModelKind::Linear,
///     epochs: 1,
///     ..RunConfig::preset(Preset::QuickLook)
/// };
/// let outcome = train(&config, &data, &DeviceContext::CPU, None, &mut Quiet)?;
/// assert!(matches!(outcome, TrainOutcome::Trained(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn train(
    config: &RunConfig,
    data: &Dataset,
    context: &DeviceContext,
    from: Option<Checkpoint>,
    observer: &mut dyn RunObserver,
) -> Result<TrainOutcome, Problem> {
    check(config)?;
    let start = InitialState::new(config, &data.train, &data.classes)?;
    train_from(config, data, start, context, from, observer)
}

/// The same from this start.
pub fn train_from(
    config: &RunConfig,
    data: &Dataset,
    start: InitialState,
    context: &DeviceContext,
    from: Option<Checkpoint>,
    observer: &mut dyn RunObserver,
) -> Result<TrainOutcome, Problem> {
    let images = (&data.train, Some(&data.test));
    run_on_threads(config, images, start, context, from, observer)
}

/// Trains for the validation accuracy of each epoch alone: no test images are read, and there is no
/// model. The epochs are the same as those of [`train`] with these settings.
pub fn validate(
    config: &RunConfig,
    train_split: &Split,
    classes: &Classes,
    context: &DeviceContext,
    observer: &mut dyn RunObserver,
) -> Result<TrainOutcome, Problem> {
    check(config)?;
    let start = InitialState::new(config, train_split, classes)?;
    run_on_threads(config, (train_split, None), start, context, None, observer)
}

/// Trains a fresh network on the training images, as a run with these settings would, but with
/// rates that grow from step to step. The observer ends it, with [`EndRequest::Interrupt`], once it
/// has seen enough. The test images are not looked at.
pub fn search_learning_rate(
    config: &RunConfig,
    data: &Dataset,
    context: &DeviceContext,
    observer: &mut dyn RunObserver,
) -> Result<(), Problem> {
    let config = search_config(config);
    check(&config)?;
    let start = InitialState {
        schedule: Some(Schedule::growing(SEARCH_RATES, SEARCH_STEPS)),
        ..InitialState::new(&config, &data.train, &data.classes)?
    };
    train_from(&config, data, start, context, None, observer).map(drop)
}

/// Without test images, the run ends with its last validation.
fn run_on_threads(
    config: &RunConfig,
    (train_images, test_images): (&Split, Option<&Split>),
    start: InitialState,
    context: &DeviceContext,
    from: Option<Checkpoint>,
    observer: &mut dyn RunObserver,
) -> Result<TrainOutcome, Problem> {
    let context = context.clone().with_autotuning(config.autotune);
    let context = &match config.memory_limit_bytes() {
        Some(bytes) => context.with_memory_limit(bytes),
        None => context,
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
            let images = (train_images, test_images);
            let mut run = Run::prepare(config, images, start, context, from, scope, observer)?;
            match run.epochs() {
                Err(Ended::Failed(error)) => Err(error),
                Err(Ended::Asked(request)) => run.finish(Some(request)),
                Ok(()) => run.finish(None),
            }
        })
    })
}

/// Why epochs end before the last one is complete.
enum Ended {
    Asked(EndRequest),
    Failed(Problem),
}

impl<E: Into<Problem>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

struct Run<'run, 'scope, 'env> {
    config: &'run RunConfig,
    context: &'run DeviceContext,
    scope: &'scope Scope<'scope, 'env>,
    train_images: &'env Split,
    test_images: Option<&'run Split>,
    /// The images for validation, and which of the training images to train on.
    split: ValidationSplit,
    classes: Classes,
    initialization: Option<InitializationReport>,
    schedule: Schedule,
    plan: RunPlan,
    net: Net,
    stepper: Stepper,
    batches: Batches,
    micro_batches: MicroBatcher<'run>,
    progress: RunProgress,
    history: History,
    clock: RunClock,
    /// When the epoch in progress started, in the clock's seconds.
    epoch_started: f64,
    observer: &'run mut dyn RunObserver,
}

impl<'run, 'scope, 'env> Run<'run, 'scope, 'env> {
    fn prepare(
        config: &'run RunConfig,
        (train_images, test_images): (&'env Split, Option<&'run Split>),
        start: InitialState,
        context: &'run DeviceContext,
        from: Option<Checkpoint>,
        scope: &'scope Scope<'scope, 'env>,
        observer: &'run mut dyn RunObserver,
    ) -> Result<Self, Problem> {
        let InitialState {
            net,
            initialization,
            classes,
            split,
            schedule,
        } = start;
        let test_count = test_images.map_or(0, Split::len);
        let images = [split.train.len(), split.validation.len(), test_count];
        let plan = plan(config, images, classes.clone(), threads(config))?;
        let net = net
            .into_device(context)?
            .with_activation_checkpointing(config.activation_checkpointing);
        let schedule = schedule.unwrap_or_else(|| {
            Schedule::new(config.schedule, config.learning_rate, plan.total_steps)
        });
        let mut stepper = Stepper::new(config, &net, plan.train_images, plan.steps_per_epoch)?;
        let mut progress = RunProgress::start(config);
        if let Some(checkpoint) = from {
            checkpoint.check(config, &plan, &net)?;
            let state;
            (progress, state) = RunProgress::resume(checkpoint);
            stepper.load_state(state, plan.steps_per_epoch)?;
        }
        observer.prepare(&RunStart {
            plan: &plan,
            net: &net,
            validation: &split.validation,
            train: (train_images, &split.train),
            before: &progress.epochs,
            curve: progress.curve.points(),
            position: progress.position(&plan),
        });
        if let Some(report) = &initialization {
            observer.initialized(report);
        }
        let bytes = observer.history_bytes();
        let history = History::new(config, &plan, &net, &split.validation, bytes);
        let clock = RunClock::start(&plan, config.epochs, &progress);
        let images = (train_images, &split.train[..]);
        let batches = start_batches(scope, config, images, context, &progress)?;
        let grown = with_grown_batches(config, progress.batch_factor);
        let micro_batches = MicroBatcher::new(&grown, context, &plan, observer)?;
        Ok(Self {
            config,
            context,
            scope,
            train_images,
            test_images,
            split,
            classes,
            initialization,
            schedule,
            plan,
            net,
            stepper,
            batches,
            micro_batches,
            progress,
            history,
            clock,
            epoch_started: 0.0,
            observer,
        })
    }

    fn epochs(&mut self) -> Result<(), Ended> {
        self.keep_snapshot()?;
        while self.progress.epoch() <= self.config.epochs
            && self.progress.stopped_early(self.config).is_none()
        {
            self.epoch_started = self.clock.seconds() - self.progress.current.seconds;
            self.grow_batches()?;
            self.train_epoch()?;
            self.validate_epoch()?;
        }
        Ok(())
    }

    /// Makes batches larger at the start of an epoch, if the settings ask for it and the
    /// gradient has become small enough.
    fn grow_batches(&mut self) -> Result<(), Ended> {
        let (config, epoch) = (self.config, self.progress.epoch());
        if !config.growing_batches || epoch == 1 || self.progress.current.steps > 0 {
            return Ok(());
        }
        let images = (self.train_images, &self.split.train[..]);
        let noise_scale =
            interruptibly(&self.net, &mut self.clock, self.observer, |mut progress| {
                noise_scale(&self.net, images, config, epoch, &mut progress)
            })?;
        let factor = next_factor(
            config,
            self.progress.batch_factor,
            noise_scale,
            self.plan.train_images,
            |config| self.micro_batches.fits(config, &self.plan),
        );
        if factor > self.progress.batch_factor {
            self.progress.batch_factor = factor;
            self.batches = start_batches(self.scope, config, images, self.context, &self.progress)?;
            self.observer.intervened(Intervention::LargerBatches {
                epoch,
                batch_size: with_grown_batches(config, factor).batch_size,
                noise_scale: noise_scale.map(|scale| scale as f32),
            });
        }
        Ok(())
    }

    fn train_epoch(&mut self) -> Result<(), Ended> {
        let grown = with_grown_batches(self.config, self.progress.batch_factor);
        let steps = EpochSteps::new(&grown, self.plan.train_images);
        for end_of_step in steps.ends_after(self.progress.current.images) {
            let telemetry = self.step(end_of_step)?;
            if self
                .clock
                .is_checkpoint_due(self.observer.checkpoint_interval())
            {
                let steps = self.stepper.read_pending()?;
                self.report(steps, telemetry);
                self.hand_over_checkpoint()?;
            }
        }
        Ok(())
    }

    /// Takes the step that ends after this many images of the epoch.
    fn step(&mut self, end_of_step: u64) -> Result<Telemetry, Ended> {
        let images = (end_of_step - self.progress.current.images) as usize;
        let request = self.observer.step_request();
        let mut recorder =
            request.map(|request| StepRecorder::new(request, &self.progress.dropout));
        let (metrics, mut end) = self.add_gradients(images, recorder.as_mut())?;
        let lr = self.learning_rate();
        let mut loss = 0.0;
        if let Some(recorder) = &mut recorder {
            loss = metrics.clone().read()?.loss as f32;
            let scale = self.stepper.loss_scale().unwrap_or(1.0);
            recorder.note_gradients(&self.net, scale)?;
        }
        // Progress is counted in steps of batches that have not grown.
        let steps = EpochSteps::new(self.config, self.plan.train_images).completed(end_of_step)
            - self.progress.current.steps;
        let (before, step) = (self.progress.step, self.progress.step + steps);
        let taken = profiler::span(
            SpanKind::Optimizer,
            || "".into(),
            || self.stepper.step(before, step, lr, metrics),
            |_| 0,
        )?;
        self.progress.add_step(steps, images);
        let telemetry = Telemetry {
            loss_scale: self.stepper.loss_scale(),
            skipped_steps: self.stepper.skipped(),
            ..self.clock.step(step, self.progress.epoch(), images)
        };
        self.report(taken, telemetry);
        self.keep_snapshot()?;
        self.progress.current.seconds = self.clock.seconds() - self.epoch_started;
        if let Some(recorder) = recorder {
            let steps = self.stepper.read_pending()?;
            self.report(steps, telemetry);
            let (net, config, observer) = (&self.net, self.config, &mut *self.observer);
            self.clock.pause(|| {
                observer.single_step(recorder.finish(net, config, (step, lr, loss))?);
                end = end.or_else(|| observer.on_micro_batch(net).err());
                Ok::<_, ComputeError>(())
            })?;
        }
        end.map_or(Ok(telemetry), |request| Err(Ended::Asked(request)))
    }

    /// The learning rate of the next step, before what rollbacks have made of it.
    fn learning_rate(&mut self) -> f32 {
        let factor = self.observer.rate_factor();
        if let Some(change) = factor.and_then(|factor| self.progress.change_rate(factor)) {
            self.observer.rate_changed(change);
        }
        let batches = f64::from(self.progress.batch_factor);
        let of_batches = self.config.optimizer.rate_factor(batches) as f32;
        self.schedule.lr(self.progress.step) * of_batches * self.progress.rate_factor()
    }

    /// Keeps the network as it is now, if that is due. At the end of an epoch, it is kept once it
    /// is validated.
    fn keep_snapshot(&mut self) -> Result<(), Problem> {
        let ends_epoch = self.progress.current.steps == self.plan.steps_per_epoch;
        if ends_epoch || !self.progress.is_snapshot_due(&self.history) {
            return Ok(());
        }
        let (history, step) = (&self.history, self.progress.step);
        let kept = self
            .stepper
            .with_average(|net| history.take(net, step, None))?;
        self.progress.snapshots.extend(kept.map(Arc::new));
        Ok(())
    }

    /// Adds up the gradients of a step over this many images. An interrupted step is completed
    /// first, as half of it is in gradients and running statistics already: its end is given.
    fn add_gradients(
        &mut self,
        images: usize,
        mut recorder: Option<&mut StepRecorder>,
    ) -> Result<(MetricAccumulator, Option<EndRequest>), Ended> {
        let mut metrics = MetricAccumulator::new(self.context.backend.kind());
        let mut end = None;
        while metrics.images < images {
            let next = || self.batches.next_batch();
            let batch = profiler::span(SpanKind::Data, || "".into(), next, |_| 0)?;
            let mut start = 0;
            while start < batch.len() {
                let micro_batch = batch.narrow(start, self.micro_batches.size)?;
                let (computed, count) = (self.backward(&micro_batch, images), micro_batch.len());
                let step = self.progress.step + 1;
                let loss = self
                    .micro_batches
                    .retry_on_oom(computed, count, step, self.observer)?;
                if let Some(loss) = loss {
                    metrics.add(&loss, count)?;
                    start += count;
                    if let Some(recorder) = &mut recorder {
                        recorder.add(micro_batch);
                    }
                }
                if end.is_none() {
                    end = self
                        .clock
                        .pause(|| self.observer.on_micro_batch(&self.net))
                        .err();
                }
                // A first epoch that is stopped can be resumed, like one that is interrupted.
                if end == Some(EndRequest::Stop) && !self.progress.epochs.is_empty() {
                    return Err(Ended::Asked(EndRequest::Stop));
                }
            }
        }
        Ok((metrics, end))
    }

    /// The loss of a micro-batch of a step over this many images, whose gradients are added to
    /// those accumulated.
    fn backward(&mut self, micro_batch: &Batch, images: usize) -> TensorResult<Tensor> {
        let mode = Mode::Train {
            dropout: &mut self.progress.dropout,
            precision: self.config.precision,
        };
        let logits = self.net.forward(&micro_batch.images, mode)?;
        let smoothing = self.config.label_smoothing as f32;
        let loss = self
            .net
            .loss(&logits, &micro_batch.labels, images, smoothing)?;
        self.stepper.backward(&loss)?;
        Ok(loss)
    }

    fn validate_epoch(&mut self) -> Result<(), Ended> {
        let epoch = self.progress.epoch();
        // The epoch ends when the device has computed all of it.
        let steps = self.stepper.flush(self.progress.step)?;
        let trained = self.clock.seconds();
        let now = self.clock.now(self.progress.step, epoch);
        self.report(steps, now);
        self.progress.current.seconds = trained - self.epoch_started;
        let Self {
            config,
            split,
            progress,
            history,
            clock,
            observer,
            ..
        } = self;
        self.stepper.with_average(|net| {
            // The loss is computed from the raw logits: a temperature fitted on the same images
            // would flatter it.
            let measured = interruptibly(net, clock, *observer, |mut progress| {
                let temperature = Calibration::NONE.temperature;
                measure(net, temperature, &split.validation, &mut progress)
            })?;
            clock.measured(trained, split.validation.len());
            let record = EpochRecord {
                epoch,
                step: progress.step,
                train_loss: progress.current.metrics.mean_loss(),
                train_accuracy: progress.current.metrics.accuracy(),
                validation_loss: measured.evaluation.loss as f32,
                validation_accuracy: measured.evaluation.accuracy as f32,
                seconds: progress.current.seconds as f32,
            };
            let calibration = measured.calibration(&split.validation.labels);
            if progress.is_snapshot_due(history) {
                let images = split.validation.len() as u64;
                let measured = Some((&record, images, calibration));
                let kept = history.take(net, record.step, measured)?;
                progress.snapshots.extend(kept.map(Arc::new));
            }
            progress.complete_epoch(config, record, net, calibration)?;
            clock.pause(|| observer.epoch(&record, net, calibration));
            Ok::<_, Ended>(())
        })?;
        if let Some(best_epoch) = self.progress.stopped_early(self.config) {
            let stopped = Intervention::StoppedEarly { epoch, best_epoch };
            self.observer.intervened(stopped);
        }
        Ok(self.hand_over_checkpoint()?)
    }

    /// The result of the run, whose end may have been asked for.
    fn finish(mut self, mut end: Option<EndRequest>) -> Result<TrainOutcome, Problem> {
        // The model has the weights that the last record measured, not the ones after further
        // steps.
        let (Some(best), false) = (
            self.progress.best.clone(),
            end == Some(EndRequest::Interrupt),
        ) else {
            let now = self.clock.now(self.progress.step, self.progress.epoch());
            let steps = self.stepper.read_pending()?;
            self.report(steps, now);
            self.hand_over_checkpoint()?;
            return Ok(match end {
                Some(EndRequest::Interrupt) => TrainOutcome::Interrupted,
                _ => TrainOutcome::Unfinished,
            });
        };
        let Self {
            config,
            context,
            classes,
            net,
            mut progress,
            mut clock,
            observer,
            ..
        } = self;
        let validation = &self.split.validation;
        let Some(test_images) = self.test_images else {
            drop((self.batches, self.stepper));
            context.release_memory()?;
            return Ok(TrainOutcome::Validated);
        };
        // A run that is stopped gets these and its test accuracy as well: that takes a second or
        // two. A second request ends the test.
        let mut between = |_: f32| {
            if end.is_none() {
                end = clock.pause(|| observer.on_micro_batch(&net)).err();
            }
            if end == Some(EndRequest::Interrupt) {
                Err(Cancelled)
            } else {
                Ok(())
            }
        };
        if !progress.posterior.is_empty() {
            let samples = std::mem::take(&mut progress.posterior);
            match calibrated_together(samples, &net, validation, &mut between) {
                Some(samples) => progress.posterior = samples,
                None => return Ok(TrainOutcome::Interrupted),
            }
        }
        net.set_weights(&best.weights)?;
        let images = (self.train_images, validation);
        let Some((net, calibration)) = with_digit_detector(
            &net,
            best.calibration,
            config,
            &classes,
            images,
            &mut between,
        ) else {
            return Ok(TrainOutcome::Interrupted);
        };
        let mut test = None;
        if !test_images.is_empty() {
            let measured = interruptibly(&net, &mut clock, observer, |mut progress| {
                measure(&net, calibration.temperature, test_images, &mut progress)
            });
            test = match measured {
                Ok(measured) => Some(SplitEvaluation {
                    data: config.data.tested(),
                    split: EvaluationSplit::Test,
                    evaluation: measured.evaluation,
                }),
                Err(Ended::Asked(EndRequest::Stop)) => None,
                Err(Ended::Asked(EndRequest::Interrupt)) => return Ok(TrainOutcome::Interrupted),
                Err(Ended::Failed(error)) => return Err(error),
            };
        }
        if best.record.is_worse_than_chance(classes.len()) {
            observer.intervened(Intervention::WorseThanChance {
                validation_loss: best.record.validation_loss,
                chance_loss: chance_loss(classes.len()),
            });
        }
        drop((self.batches, self.stepper));
        context.release_memory()?;
        let mut trained =
            TrainedModel::new(config, self.plan, progress, &best, net, calibration, test);
        trained.summary.initialization = self.initialization;
        Ok(TrainOutcome::Trained(Box::new(trained)))
    }

    /// Reports steps, and adds them to the run's curve and the metrics of their epoch.
    fn report(&mut self, steps: StepReport, telemetry: Telemetry) {
        for CompletedStep {
            step,
            learning_rate,
            metrics,
        } in steps.completed
        {
            self.progress.current.metrics.add_step(&metrics);
            let point = StepPoint {
                step,
                loss: metrics.loss as f32,
                accuracy: metrics.accuracy(),
                learning_rate,
            };
            self.progress.curve.add(point);
            self.observer.step(point, telemetry);
        }
        if let Some(intervention) = steps.intervention {
            self.observer.intervened(intervention);
        }
    }

    /// Hands over a checkpoint. All steps must have been read.
    fn hand_over_checkpoint(&mut self) -> Result<(), Problem> {
        if let Some(state) = self.stepper.state(self.progress.step)? {
            let checkpoint = self.progress.checkpoint(self.config, &self.plan, state);
            self.clock.pause(|| self.observer.checkpoint(checkpoint));
        }
        self.clock.checkpoint_taken();
        Ok(())
    }
}

fn start_batches<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    config: &RunConfig,
    (images, indices): (&'env Split, &[u32]),
    context: &DeviceContext,
    progress: &RunProgress,
) -> Result<Batches, Problem> {
    let shuffle = Shuffle::new(indices.to_vec(), config.seed, progress.epochs.len() as u32)
        .skip(progress.current.images as usize);
    Batches::start(
        scope,
        &with_grown_batches(config, progress.batch_factor),
        images,
        shuffle,
        context,
    )
}

/// Does this work with the network, calling the observer whenever it reports progress.
fn interruptibly<T, E: Into<Problem>>(
    net: &Net,
    clock: &mut RunClock,
    observer: &mut dyn RunObserver,
    work: impl FnOnce(&mut dyn FnMut(f32) -> Result<(), Cancelled>) -> Result<T, E>,
) -> Result<T, Ended> {
    let mut end = None;
    let done = work(&mut |_: f32| {
        clock
            .pause(|| observer.on_micro_batch(net))
            .map_err(|request| {
                end = Some(request);
                Cancelled
            })
    });
    match end {
        Some(request) => Err(Ended::Asked(request)),
        None => Ok(done?),
    }
}
