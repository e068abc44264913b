//! The speed of training steps, measured in short runs of the real training loop.
//!
//! Other work can be timed between the steps, so that both meet the same conditions on a machine that is never quite idle: large matrix
//! products, for the share of the machine's peak rate that a step reaches, or the same steps in plain candle.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::BenchError;
use super::budget::BenchBudget;
use super::comparisons::Open;
use super::rounds::timed;
use crate::data::DataSet;
use crate::math::quantiles::median;
use crate::nn::backend::cpu::LargeProduct;
use crate::nn::{BackendKind, DeviceContext};
use crate::nn::{Net, flops};
use crate::progress::Cancelled;
use crate::records::benchmark::{Row, Side, Subject};
use crate::records::{EpochRecord, StepPoint, Telemetry};
use crate::run_config::{Augmentation, ModelKind, OptimizerKind, Precision, RunConfig};
use crate::train::{self, Checkpoint, Observer};

/// Steps at the start of each run that do not count while there is time: memory is allocated, threads wake up. The first never counts.
const WARM_UP: usize = 2;
/// Steps that are counted even if that takes longer than planned, unless it takes [`OVERTIME`] times as long.
const MIN_STEPS: usize = 3;
const OVERTIME: u32 = 4;
/// Steps between two large products.
const STEPS_PER_PRODUCT: u64 = 4;
/// Each side gets this many runs, in turn with the others.
const RUNS: u32 = 2;

/// The usual batch size of a model.
pub(super) const fn batch_size(model: ModelKind) -> u32 {
    match model {
        ModelKind::Speedrun => 256,
        _ => 128,
    }
}

/// The settings a model's steps are measured with: `AdamW` and no augmentation.
pub(super) fn config(model: ModelKind) -> RunConfig {
    RunConfig { model, optimizer: OptimizerKind::AdamW, augmentation: Augmentation::Off, ..RunConfig::default() }
}

/// `base` on one side, at a constant small learning rate, so that no network diverges, and without anything that only happens occasionally.
fn on_side(base: &RunConfig, side: Side) -> RunConfig {
    RunConfig {
        epochs: 1000,
        batch_size: side.batch_size,
        device: side.device,
        precision: side.precision,
        threads: Some(side.threads),
        learning_rate: 1e-5,
        clip_norm: None,
        accumulation: 1,
        weight_averaging: None,
        early_stopping: None,
        ..base.clone()
    }
}

/// A side, and its figures or why it could not be measured.
pub(super) type Measured = (Side, Result<Row, BenchError>);

/// Measures the steps of `base` on every side; `product_size` is the size of matrix product that is fastest here. A side that fails leaves
/// the others alone.
pub(super) fn steps(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    base: &RunConfig,
    sides: &[Side],
    data: &DataSet,
    product_size: usize,
    open: Open<'_>,
) -> Result<Vec<Measured>, BenchError> {
    let time = budget.start_part(Subject::Steps(base.model), seconds)?;
    let mut devices = HashMap::new();
    for side in sides {
        devices.entry(side.device).or_insert_with(|| open(side.device));
    }
    let time_per_run = time / (sides.len().max(1) as u32 * RUNS);
    let started = Instant::now();
    let mut all: Vec<(Side, Result<Samples, BenchError>)> = sides.iter().map(|&side| (side, Ok(Samples::default()))).collect();
    for round in 0..RUNS {
        // A model that is slow on this machine has to make do with its first run.
        if round > 0 && started.elapsed() >= time {
            break;
        }
        for (side, samples) in &mut all {
            let (Ok(so_far), Some(device)) = (samples.as_mut(), devices.get(&side.device)) else { continue };
            let context = match device {
                Ok(context) => context,
                Err(problem) => {
                    *samples = Err(problem.clone().into());
                    continue;
                }
            };
            let product = (context.backend.kind() == BackendKind::Cpu).then(|| Interleaved::product(product_size));
            match run(budget, time_per_run, base, *side, data, context, product) {
                Ok(new) => so_far.add(new),
                Err(BenchError::Cancelled(cancelled)) => return Err(cancelled.into()),
                Err(problem) => *samples = Err(problem),
            }
        }
    }
    Ok(all.into_iter().map(|(side, samples)| (side, samples.map(|samples| row(&samples, base.model, side, product_size)))).collect())
}

fn row(samples: &Samples, model: ModelKind, side: Side, product_size: usize) -> Row {
    let Side { device, precision, threads, batch_size } = side;
    let step = median(&samples.steps);
    let images_per_second = f64::from(batch_size) / step;
    let product_gflops =
        if samples.interleaved.is_empty() { 0.0 } else { LargeProduct::flops(product_size) as f64 / median(&samples.interleaved) / 1e9 };
    Row::Step {
        model,
        device,
        precision,
        batch_size,
        threads,
        milliseconds: step * 1e3,
        images_per_second,
        gflops: flops(model).training as f64 * images_per_second / 1e9,
        product_gflops,
    }
}

/// One run of the training loop that ends after `time`.
pub(super) fn run(
    budget: &mut BenchBudget<'_>,
    time: Duration,
    base: &RunConfig,
    side: Side,
    data: &DataSet,
    context: &DeviceContext,
    interleaved: Option<Interleaved<'_>>,
) -> Result<Samples, BenchError> {
    let mut timer = StepTimer::new(budget, time, interleaved);
    let trained = train::train(&on_side(base, side), data, context, None, &mut timer);
    if let Some(error) = timer.stopped {
        return Err(error);
    }
    trained?;
    Ok(timer.samples)
}

/// The seconds of steps, and of what was interleaved with them.
#[derive(Default)]
pub(super) struct Samples {
    pub steps: Vec<f64>,
    pub interleaved: Vec<f64>,
}

impl Samples {
    fn add(&mut self, other: Self) {
        self.steps.extend(other.steps);
        self.interleaved.extend(other.interleaved);
    }
}

/// Work that is timed between the steps of a run, on the CPU.
pub(super) struct Interleaved<'a> {
    /// Does it once.
    pub work: Box<dyn FnMut() -> Result<(), BenchError> + Send + 'a>,
    /// It follows the first step, and then every so many.
    pub every_steps: u64,
    /// How often it is done at least.
    pub at_least: usize,
}

impl Interleaved<'_> {
    fn product(size: usize) -> Self {
        let mut product = LargeProduct::new(size, Precision::F32);
        let work = Box::new(move || {
            product.run();
            Ok(())
        });
        Self { work, every_steps: STEPS_PER_PRODUCT, at_least: 1 }
    }
}

/// Times the steps of a run until there are enough.
///
/// A GPU reports its steps in bursts, when their losses are read back: the time of a burst is shared equally among its steps. The CPU
/// reports each step by itself.
struct StepTimer<'a, 'b, 'i> {
    budget: &'a mut BenchBudget<'b>,
    planned_end: Instant,
    latest_end: Instant,
    interleaved: Option<Interleaved<'i>>,
    bursts: usize,
    /// When the current steps began; `None` after anything other than a step.
    burst_started: Option<Instant>,
    /// Steps of the newest burst, and the seconds it took.
    burst_steps: u32,
    burst_seconds: Option<f64>,
    samples: Samples,
    stopped: Option<BenchError>,
}

impl<'a, 'b, 'i> StepTimer<'a, 'b, 'i> {
    fn new(budget: &'a mut BenchBudget<'b>, time: Duration, interleaved: Option<Interleaved<'i>>) -> Self {
        let now = Instant::now();
        Self {
            budget,
            planned_end: now + time,
            latest_end: now + time * OVERTIME,
            interleaved,
            bursts: 0,
            burst_started: None,
            burst_steps: 0,
            burst_seconds: None,
            samples: Samples::default(),
            stopped: None,
        }
    }

    fn is_done(&self) -> bool {
        let now = Instant::now();
        let enough = self.samples.steps.len() >= MIN_STEPS && now >= self.planned_end;
        let too_late = !self.samples.steps.is_empty() && now >= self.latest_end;
        let missing = self.interleaved.as_ref().is_some_and(|interleaved| self.samples.interleaved.len() < interleaved.at_least);
        (enough || too_late) && !missing
    }

    /// Counts the steps of the newest burst.
    fn finish_burst(&mut self) {
        if self.burst_steps == 0 {
            return;
        }
        let is_warm = self.bursts >= WARM_UP || Instant::now() >= self.latest_end;
        self.samples.steps.extend(self.burst_seconds.filter(|_| is_warm).map(|seconds| seconds / f64::from(self.burst_steps)));
        (self.bursts, self.burst_steps, self.burst_seconds) = (self.bursts + 1, 0, None);
    }
}

impl Observer for StepTimer<'_, '_, '_> {
    fn between(&mut self, _net: &Net) -> Result<(), Cancelled> {
        self.finish_burst();
        if let Err(error) = self.budget.report() {
            self.stopped = Some(error);
        }
        if self.stopped.is_some() || self.is_done() { Err(Cancelled) } else { Ok(()) }
    }

    fn step(&mut self, point: StepPoint, _now: Telemetry) {
        if self.burst_steps == 0 {
            self.burst_seconds = self.burst_started.map(|started| started.elapsed().as_secs_f64());
        }
        self.burst_steps += 1;
        if let Some(interleaved) = &mut self.interleaved
            && (point.step == 1 || point.step.is_multiple_of(interleaved.every_steps))
        {
            let mut done = Ok(());
            let seconds = timed(|| done = (interleaved.work)());
            match done {
                Ok(()) => self.samples.interleaved.push(seconds),
                Err(problem) => self.stopped = Some(problem),
            }
        }
        self.burst_started = Some(Instant::now());
    }

    fn epoch(&mut self, _record: &EpochRecord, _net: &Net, _digit_threshold: f32) {
        self.finish_burst();
        self.burst_started = None;
    }

    fn checkpoint(&mut self, _: Checkpoint) {
        // A GPU starts the next epoch at once. The CPU has to wake its threads first, so its first step does not count.
        self.burst_started = self.interleaved.is_none().then(Instant::now);
    }
}
