//! How long training takes to reach an accuracy.

use super::batches::EpochSteps;
use super::gradient_noise::GradientNoise;
use super::observer::{EndRequest, RunObserver, RunStart};
use super::session::validate;
use crate::data::{Split, ValidationSplit};
use crate::infer::measure;
use crate::math::random::Random;
use crate::nn::{DeviceContext, Net};
use crate::problem::{Code, Problem};
use crate::progress::{Cancelled, Progress, Unwatched};
use crate::records::{Intervention, Reached, StepPoint, Telemetry, TimeToAccuracy};
use crate::run_config::{Classes, RunConfig};

/// Validation images that the accuracy is measured on, at most.
const IMAGES: usize = 2000;
/// The accuracy is measured first after this many training images, and again each time they have
/// grown by this factor.
const FIRST: u64 = 1024;
const GROWTH: f64 = 1.12;
/// The gradient noise is measured with the first of every so many measurements of the accuracy.
const NOISE_EVERY: usize = 3;

/// The goal of a run.
#[derive(Debug)]
pub struct Target<'a> {
    /// The validation accuracy to reach, 0 to 1.
    pub accuracy: f64,
    /// Seconds of training after which it is given up.
    pub seconds: f64,
    /// Where the gradient noise on the way is added, if it is to be measured.
    pub noise: Option<&'a mut GradientNoise>,
}

/// Trains until the validation accuracy is reached or the time is over; `None` if `progress`
/// cancels it. It gets the fraction of the way to the accuracy or to the end of the time, whichever
/// is greater. No test images are read, and the time excludes every measurement.
pub fn time_to_accuracy(
    config: &RunConfig,
    train_split: &Split,
    classes: &Classes,
    context: &DeviceContext,
    target: Target<'_>,
    progress: &mut (dyn Progress + Send),
) -> Result<Option<TimeToAccuracy>, Problem> {
    let mut run = Run {
        config,
        train_split,
        target,
        progress,
        random: Random::stream(config.seed, "gradient noise", 0),
        indices: ValidationSplit::of_run(train_split, config).train,
        validation: Split::default(),
        next: FIRST,
        measurements: 0,
        epoch: EpochSteps::new(config, 0),
        telemetry: Telemetry::default(),
        fraction: 0.0,
        now: Measured::default(),
        before: Measured::default(),
        reached: None,
        best_accuracy: 0.0,
        diverged: false,
        error: None,
        cancelled: false,
    };
    match validate(config, train_split, classes, context, &mut run) {
        Err(problem) if problem.code == Code::Diverged => run.diverged = true,
        ended => drop(ended?),
    }
    run.error.map_or(Ok(()), Err)?;
    let Measured {
        images, seconds, ..
    } = run.now;
    let row = TimeToAccuracy {
        batch_size: config.batch_size,
        learning_rate: config.learning_rate,
        images_per_second: if seconds > 0.0 {
            images as f64 / seconds
        } else {
            0.0
        },
        reached: run.reached,
        best_accuracy: run.best_accuracy,
        seconds,
        diverged: run.diverged,
    };
    Ok((!run.cancelled).then_some(row))
}

/// The state of a run after a step.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    steps: u64,
    images: u64,
    seconds: f64,
    accuracy: f64,
}

struct Run<'a> {
    config: &'a RunConfig,
    train_split: &'a Split,
    target: Target<'a>,
    progress: &'a mut (dyn Progress + Send),
    random: Random,
    /// The training images without those for validation.
    indices: Vec<u32>,
    validation: Split,
    /// Images after which the accuracy is measured next.
    next: u64,
    measurements: usize,
    epoch: EpochSteps,
    telemetry: Telemetry,
    /// The last report.
    fraction: f32,
    now: Measured,
    before: Measured,
    reached: Option<Reached>,
    best_accuracy: f64,
    diverged: bool,
    error: Option<Problem>,
    cancelled: bool,
}

impl Run<'_> {
    fn is_over(&self) -> bool {
        self.cancelled
            || self.diverged
            || self.error.is_some()
            || self.reached.is_some()
            || self.now.seconds >= self.target.seconds
    }

    fn report(&mut self) {
        let time = self.now.seconds / self.target.seconds;
        let way = self.best_accuracy / self.target.accuracy;
        // The last few percent take most of the time.
        self.fraction = time.max(way.powi(8) * 0.9).clamp(0.0, 1.0) as f32;
        self.cancelled |= self.progress.report(self.fraction) == Err(Cancelled);
    }

    fn measure(&mut self, net: &Net) -> Result<(), Problem> {
        let mut cancelled = false;
        let (progress, fraction) = (&mut *self.progress, self.fraction);
        let measured = measure(net, 1.0, &self.validation, &mut |_: f32| {
            cancelled |= progress.report(fraction) == Err(Cancelled);
            if cancelled { Err(Cancelled) } else { Ok(()) }
        });
        self.cancelled |= cancelled;
        let accuracy = match measured {
            Err(_) if cancelled => return Ok(()),
            measured => measured?.evaluation.accuracy,
        };
        self.now.accuracy = accuracy;
        self.best_accuracy = self.best_accuracy.max(accuracy);
        if accuracy >= self.target.accuracy {
            self.reached = Some(self.crossing());
        } else if self.measurements.is_multiple_of(NOISE_EVERY)
            && let Some(noise) = &mut self.target.noise
        {
            noise.measure(
                net,
                (self.train_split, &self.indices),
                self.config,
                &mut self.random,
                &mut Unwatched,
            )?;
        }
        self.measurements += 1;
        self.before = self.now;
        Ok(())
    }

    /// Where the straight line from the measurement before to this one crosses the accuracy.
    fn crossing(&self) -> Reached {
        let (from, to) = (self.before, self.now);
        let share = ((self.target.accuracy - from.accuracy)
            / (to.accuracy - from.accuracy).max(f64::EPSILON))
        .clamp(0.0, 1.0);
        let between = |from: f64, to: f64| from + (to - from) * share;
        Reached {
            seconds: between(from.seconds, to.seconds),
            steps: between(from.steps as f64, to.steps as f64),
            images: between(from.images as f64, to.images as f64),
        }
    }
}

impl RunObserver for Run<'_> {
    fn prepare(&mut self, run: &RunStart<'_>) {
        self.validation = run.validation.first(IMAGES);
        self.epoch = EpochSteps::new(self.config, run.plan.train_images);
    }

    fn on_micro_batch(&mut self, net: &Net) -> Result<(), EndRequest> {
        self.report();
        if !self.is_over() && self.now.images >= self.next {
            self.next = (self.now.images as f64 * GROWTH) as u64;
            self.error = self.measure(net).err();
        }
        if self.is_over() {
            Err(EndRequest::Interrupt)
        } else {
            Ok(())
        }
    }

    fn step(&mut self, point: StepPoint, now: Telemetry) {
        let images = self.epoch.images_of(point.step);
        let Measured { seconds, steps, .. } = self.now;
        // Between two epochs is a validation: the step after it counts as much as those before it
        // took on average.
        let took = if now.epoch == self.telemetry.epoch || steps == 0 {
            f64::from(now.elapsed_seconds - self.telemetry.elapsed_seconds)
        } else {
            seconds / steps as f64
        };
        self.now = Measured {
            steps: point.step,
            images,
            seconds: seconds + took,
            ..self.now
        };
        self.telemetry = now;
    }

    fn intervened(&mut self, intervention: Intervention) {
        // Steps are taken back, and those that follow have a lower learning rate: the time would
        // not be that of this one.
        self.diverged |= matches!(intervention, Intervention::RolledBack { .. });
    }
}
