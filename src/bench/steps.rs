//! Training steps, in the real training loop. They are timed by an observer of the run, and other
//! work in between: both meet the same conditions on a machine that is never quite idle.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::budget::{BenchBudget, Listener, timed};
use super::comparisons::{Open, step_config_of};
use super::digits;
use crate::data::Dataset;
use crate::math::statistics::median;
use crate::nn::backend::cpu::LargeProduct;
use crate::nn::{BackendKind, DeviceContext, Net, flops};
use crate::problem::{Code, Problem};
use crate::records::benchmark::{Effort, Measurement, StepConfig, Workload};
use crate::records::{Calibration, EpochRecord, StepPoint, Telemetry};
use crate::run_config::{Augmentation, ModelKind, OptimizerKind, Precision, RunConfig};
use crate::train::{self, Checkpoint, EndRequest, RunObserver};

/// Each configuration gets this many runs, in turn with the others.
const RUNS: u32 = 2;

/// Seconds for each configuration of which only an estimate is wanted.
const ESTIMATE: f64 = 0.4;

pub(super) const fn batch_size(model: ModelKind) -> u32 {
    match model {
        ModelKind::Speedrun => 256,
        _ => 128,
    }
}

/// The settings a model's steps are measured with: `AdamW` and no augmentation.
pub(super) fn config(model: ModelKind) -> RunConfig {
    RunConfig {
        model,
        optimizer: OptimizerKind::AdamW,
        augmentation: Augmentation::Off,
        ..RunConfig::default()
    }
}

/// `base` on one configuration, at a constant small learning rate, so that no network diverges, and
/// without anything that only happens occasionally.
fn with_step_config(base: &RunConfig, step_config: StepConfig) -> RunConfig {
    RunConfig {
        epochs: 1000,
        batch_size: step_config.batch_size,
        device: step_config.device,
        precision: step_config.precision,
        threads: Some(step_config.threads),
        learning_rate: 1e-5,
        clip_norm: None,
        accumulation: 1,
        weight_averaging: None,
        early_stopping: None,
        ..base.clone()
    }
}

/// A configuration, and its figures or why it could not be measured.
pub(super) type Measured = (StepConfig, Result<Measurement, Problem>);

/// Measures the steps of `base` on every configuration; `product_size` is the size of matrix
/// product that is fastest here. A configuration that fails leaves the others alone.
pub(super) fn steps(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    base: &RunConfig,
    step_configs: &[StepConfig],
    data: &Dataset,
    product_size: usize,
    open: Open<'_>,
) -> Result<Vec<Measured>, Problem> {
    let time = budget.start_part(Workload::Steps(base.model), seconds)?;
    let mut devices = HashMap::new();
    for step_config in step_configs {
        devices
            .entry(step_config.device)
            .or_insert_with(|| open(step_config.device));
    }
    let time_per_run = time / (step_configs.len().max(1) as u32 * RUNS);
    let started = Instant::now();
    let mut all: Vec<(StepConfig, Result<Samples, Problem>)> = step_configs
        .iter()
        .map(|&step_config| (step_config, Ok(Samples::default())))
        .collect();
    for round in 0..RUNS {
        // A model that is slow on this machine has to make do with its first run.
        if round > 0 && started.elapsed() >= time {
            break;
        }
        for (step_config, samples) in &mut all {
            let (Ok(so_far), Some(device)) = (samples.as_mut(), devices.get(&step_config.device))
            else {
                continue;
            };
            let context = match device {
                Ok(context) => context,
                Err(problem) => {
                    *samples = Err(problem.clone().into());
                    continue;
                }
            };
            let product = (context.backend.kind() == BackendKind::Cpu)
                .then(|| Interleaved::product(product_size));
            match run(
                budget,
                time_per_run,
                base,
                *step_config,
                data,
                context,
                product,
            ) {
                Ok(new) => so_far.add(new),
                Err(problem) if problem.code == Code::Cancelled => return Err(problem),
                Err(problem) => *samples = Err(problem),
            }
        }
    }
    Ok(all
        .into_iter()
        .map(|(step_config, samples)| {
            (
                step_config,
                samples.map(|samples| row(&samples, base.model, step_config, product_size)),
            )
        })
        .collect())
}

/// A quick measurement of each configuration as it is, on its own device: images per second, `None`
/// if it could not be trained; and the fraction of the CPU that other programs used meanwhile, 0 to
/// 1.
pub fn time_steps(
    configs: &[RunConfig],
    open: Open<'_>,
    listener: &mut dyn Listener,
) -> Result<(Vec<Option<f64>>, f32), Problem> {
    let mut budget = BenchBudget::start(Effort::Full, ESTIMATE * configs.len() as f64, listener);
    let data = digits(&mut budget)?;
    let mut devices = HashMap::new();
    let mut rates = Vec::new();
    for config in configs {
        let time = budget.start_part(Workload::Steps(config.model), ESTIMATE)?;
        let step_config = step_config_of(config);
        let samples = match devices
            .entry(step_config.device)
            .or_insert_with(|| open(step_config.device))
        {
            Ok(context) => run(&mut budget, time, config, step_config, &data, context, None),
            Err(problem) => Err(problem.clone().into()),
        };
        rates.push(match samples {
            Ok(samples) => Some(f64::from(step_config.batch_size) / median(&samples.steps)),
            Err(problem) if problem.code == Code::Cancelled => return Err(problem),
            Err(problem) => {
                tracing::warn!(%problem, model = %config.model, "steps could not be timed");
                None
            }
        });
    }
    Ok((rates, budget.background_load()))
}

fn row(
    samples: &Samples,
    model: ModelKind,
    step_config: StepConfig,
    product_size: usize,
) -> Measurement {
    let StepConfig {
        device,
        precision,
        threads,
        batch_size,
    } = step_config;
    let step = median(&samples.steps);
    let images_per_second = f64::from(batch_size) / step;
    let product_gflops = if samples.interleaved.is_empty() {
        0.0
    } else {
        LargeProduct::flops(product_size) as f64 / median(&samples.interleaved) / 1e9
    };
    Measurement::Step {
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
    step_config: StepConfig,
    data: &Dataset,
    context: &DeviceContext,
    interleaved: Option<Interleaved<'_>>,
) -> Result<Samples, Problem> {
    let mut timer = StepTimer::new(budget, time, interleaved);
    let trained = train::train(
        &with_step_config(base, step_config),
        data,
        context,
        None,
        &mut timer,
    );
    if let Some(error) = timer.stopped {
        return Err(error);
    }
    trained?;
    Ok(timer.samples)
}

/// Steps at the start of each run that do not count while there is time: memory is allocated,
/// threads wake up. The first never counts.
const WARM_UP: usize = 2;
/// Steps that are counted even if that takes longer than planned, unless it takes [`OVERTIME`]
/// times as long.
const MIN_STEPS: usize = 3;
const OVERTIME: u32 = 4;
const STEPS_PER_PRODUCT: u64 = 4;

/// The seconds of steps, and of what was interleaved with them.
#[derive(Default)]
pub(super) struct Samples {
    pub steps: Vec<f64>,
    pub interleaved: Vec<f64>,
}

impl Samples {
    pub fn add(&mut self, other: Self) {
        self.steps.extend(other.steps);
        self.interleaved.extend(other.interleaved);
    }
}

/// Work that is timed between the steps of a run, on the CPU.
pub(super) struct Interleaved<'a> {
    pub work: Box<dyn FnMut() -> Result<(), Problem> + Send + 'a>,
    /// It follows the first step, and then every so many.
    pub every_steps: u64,
    pub at_least: usize,
}

impl Interleaved<'_> {
    pub fn product(size: usize) -> Self {
        let mut product = LargeProduct::new(size, Precision::F32);
        let work = Box::new(move || {
            product.run();
            Ok(())
        });
        Self {
            work,
            every_steps: STEPS_PER_PRODUCT,
            at_least: 1,
        }
    }
}

/// Times the steps of a run until there are enough.
///
/// A GPU reports its steps in bursts, when their losses are read back: the time of a burst is
/// shared equally among its steps. The CPU reports each step by itself.
pub(super) struct StepTimer<'a, 'b, 'i> {
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
    pub samples: Samples,
    /// Why the run was stopped early, unless there were enough steps.
    pub stopped: Option<Problem>,
}

impl<'a, 'b, 'i> StepTimer<'a, 'b, 'i> {
    pub fn new(
        budget: &'a mut BenchBudget<'b>,
        time: Duration,
        interleaved: Option<Interleaved<'i>>,
    ) -> Self {
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
        let missing = self
            .interleaved
            .as_ref()
            .is_some_and(|interleaved| self.samples.interleaved.len() < interleaved.at_least);
        (enough || too_late) && !missing
    }

    fn finish_burst(&mut self) {
        if self.burst_steps == 0 {
            return;
        }
        let is_warm = self.bursts >= WARM_UP || Instant::now() >= self.latest_end;
        self.samples.steps.extend(
            self.burst_seconds
                .filter(|_| is_warm)
                .map(|seconds| seconds / f64::from(self.burst_steps)),
        );
        (self.bursts, self.burst_steps, self.burst_seconds) = (self.bursts + 1, 0, None);
    }
}

impl RunObserver for StepTimer<'_, '_, '_> {
    fn on_micro_batch(&mut self, _net: &Net) -> Result<(), EndRequest> {
        self.finish_burst();
        if let Err(error) = self.budget.report() {
            self.stopped = Some(error);
        }
        if self.stopped.is_some() || self.is_done() {
            Err(EndRequest::Stop)
        } else {
            Ok(())
        }
    }

    fn step(&mut self, point: StepPoint, _now: Telemetry) {
        if self.burst_steps == 0 {
            self.burst_seconds = self
                .burst_started
                .map(|started| started.elapsed().as_secs_f64());
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

    fn epoch(&mut self, _record: &EpochRecord, _net: &Net, _calibration: Calibration) {
        self.finish_burst();
        self.burst_started = None;
    }

    fn checkpoint(&mut self, _: Checkpoint) {
        // A GPU starts the next epoch immediately. The CPU has to wake its threads first, so its
        // first step does not count.
        self.burst_started = self.interleaved.is_none().then(Instant::now);
    }
}
