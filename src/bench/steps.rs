//! Owns measuring training steps: short runs of the real training loop, watched. Must not compute a step itself.
//!
//! Between its steps a watched run computes large products, so that the share of the machine's rate that a step reaches is
//! formed from figures of the same moments.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::BenchError;
use super::clock::{Clock, Ended};
use super::comparisons::Open;
use super::rounds::timed;
use crate::data::DataSet;
use crate::device::{Kernels, Place};
use crate::math::quantiles::median;
use crate::nn::ops::LargeProduct;
use crate::nn::{Net, flops};
use crate::records::benchmark::{Row, Side, Subject};
use crate::records::{EpochRecord, StepPoint, Telemetry};
use crate::run_config::{Augmentation, ConfigProblem, ModelKind, OptimizerKind, Precision, RunConfig};
use crate::train::{self, Checkpoint, Flow, Observer};

/// Steps of each run that are not counted while there is time: buffers are made, pages touched, threads woken. The first never counts.
const WARM_UP: usize = 2;
/// Steps counted even where the time is over before.
const LEAST: usize = 3;
/// Steps between two large products.
const STEPS_PER_PRODUCT: usize = 4;
/// Each side gets this many runs, in turn with the others.
const RUNS: u32 = 2;
/// A run ends with fewer steps when its time was over several times.
const PATIENCE: u32 = 4;

/// Images per step that a model is usually trained with.
pub(super) const fn batch_size(model: ModelKind) -> u32 {
    match model {
        ModelKind::Speedrun => 256,
        _ => 128,
    }
}

/// The configuration that a model's steps are measured in: `AdamW`, pictures as they are.
pub(super) fn config(model: ModelKind) -> RunConfig {
    RunConfig { model, optimizer: OptimizerKind::AdamW, augmentation: Augmentation::Off, ..RunConfig::default() }
}

/// `base` on one side, at a constant small rate, so that no network goes astray, and with nothing that only happens now and then.
pub(super) fn on(base: &RunConfig, side: Side) -> RunConfig {
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

/// A side, and its steps or why there are none.
pub(super) type Measured = (Side, Result<Row, BenchError>);

/// The steps of `base` on every side; `product_size` is the size of product that is fastest here. A side that fails leaves the others alone.
pub(super) fn steps(
    clock: &mut Clock<'_>,
    seconds: f64,
    base: &RunConfig,
    sides: &[Side],
    data: &DataSet,
    product_size: usize,
    open: Open<'_>,
) -> Result<Vec<Measured>, Ended> {
    let whole = clock.part(Subject::Steps(base.model), seconds)?;
    let mut places = HashMap::new();
    for side in sides {
        places.entry(side.device).or_insert_with(|| open(side.device));
    }
    let time = whole / (sides.len().max(1) as u32 * RUNS);
    let began = Instant::now();
    let mut taken: Vec<(Side, Result<Taken, BenchError>)> = sides.iter().map(|&side| (side, Ok(Taken::default()))).collect();
    for round in 0..RUNS {
        // A model that is slow here has to make do with what was found.
        if round > 0 && began.elapsed() >= whole {
            break;
        }
        for (side, taken) in &mut taken {
            if let Ok(so_far) = taken
                && let Some(place) = places.get(&side.device)
                && let Err(problem) = run(clock, time, &on(base, *side), data, product_size, place, so_far)?
            {
                *taken = Err(problem);
            }
        }
    }
    Ok(taken.into_iter().map(|(side, taken)| (side, taken.map(|taken| taken.row(base.model, side, product_size)))).collect())
}

/// One run, watched; what comes of it is added to what was taken before.
fn run(
    clock: &mut Clock<'_>,
    time: Duration,
    config: &RunConfig,
    data: &DataSet,
    product_size: usize,
    place: &Result<Place, ConfigProblem>,
    taken: &mut Taken,
) -> Result<Result<(), BenchError>, Ended> {
    let place = match place {
        Ok(place) => place,
        Err(problem) => return Ok(Err(problem.clone().into())),
    };
    let mut watch = Watch::new(clock, time, (place.kernels == Kernels::Ours).then_some(product_size));
    let trained = train::train(config, data, place, None, &mut watch);
    let Watch { taken: new, broken_off, .. } = watch;
    if let Some(ended) = broken_off {
        return Err(ended);
    }
    taken.steps.extend(new.steps);
    taken.products.extend(new.products);
    Ok(trained.map(drop).map_err(BenchError::from))
}

/// Seconds of steps, and of large products in between.
#[derive(Default)]
struct Taken {
    steps: Vec<f64>,
    products: Vec<f64>,
}

impl Taken {
    fn row(&self, model: ModelKind, side: Side, product_size: usize) -> Row {
        let Side { device, precision, threads, batch_size } = side;
        let step = median(&self.steps);
        let images_per_second = f64::from(batch_size) / step;
        let product_gflops =
            if self.products.is_empty() { 0.0 } else { LargeProduct::flops(product_size) as f64 / median(&self.products) / 1e9 };
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
}

/// Watches a run until it made enough steps.
///
/// A device tells of its steps in bursts, when their figures are read: the time of a burst is shared among its steps. The processor tells of
/// each.
struct Watch<'a, 'c> {
    clock: &'a mut Clock<'c>,
    until: Instant,
    at_last: Instant,
    /// Computed between steps, on the processor.
    product: Option<LargeProduct>,
    bursts: usize,
    /// When the steps under way began; `None` when something else came in between.
    since: Option<Instant>,
    /// Steps of the newest burst, and the seconds it took.
    told: u32,
    took: Option<f64>,
    taken: Taken,
    broken_off: Option<Ended>,
}

impl<'a, 'c> Watch<'a, 'c> {
    fn new(clock: &'a mut Clock<'c>, time: Duration, product_size: Option<usize>) -> Self {
        let product = product_size.map(|size| LargeProduct::new(size, Precision::F32));
        let now = Instant::now();
        let (until, at_last) = (now + time, now + time * PATIENCE);
        let taken = Taken::default();
        Self { clock, until, at_last, product, bursts: 0, since: None, told: 0, took: None, taken, broken_off: None }
    }

    fn done(&self) -> bool {
        let now = Instant::now();
        let enough = self.taken.steps.len() >= LEAST && now >= self.until;
        let late = !self.taken.steps.is_empty() && now >= self.at_last;
        (enough || late) && (self.product.is_none() || !self.taken.products.is_empty())
    }

    /// Counts the newest burst.
    fn settle(&mut self) {
        if self.told == 0 {
            return;
        }
        let warm = self.bursts >= WARM_UP || Instant::now() >= self.at_last;
        self.taken.steps.extend(self.took.filter(|_| warm).map(|seconds| seconds / f64::from(self.told)));
        (self.bursts, self.told, self.took) = (self.bursts + 1, 0, None);
    }

    /// Something else than steps is over. A device begins on the next at once; the processor has to wake its threads first.
    fn begin(&mut self) {
        self.since = self.product.is_none().then(Instant::now);
    }
}

impl Observer for Watch<'_, '_> {
    fn between(&mut self, _net: &Net) -> Flow {
        self.settle();
        if let Err(ended) = self.clock.attend() {
            self.broken_off = Some(ended);
        }
        if self.broken_off.is_some() || self.done() { Flow::Stop } else { Flow::Continue }
    }

    fn step(&mut self, point: StepPoint, _now: Telemetry) {
        if self.told == 0 {
            self.took = self.since.map(|since| since.elapsed().as_secs_f64());
        }
        self.told += 1;
        if let Some(product) = &mut self.product
            && (point.step == 1 || point.step.is_multiple_of(STEPS_PER_PRODUCT as u64))
        {
            self.taken.products.push(timed(|| product.run()));
        }
        self.since = Some(Instant::now());
    }

    fn epoch(&mut self, _record: &EpochRecord, _net: &Net, _digit_threshold: f32) {
        self.settle();
        self.since = None;
    }

    fn checkpoint(&mut self, _: Checkpoint) {
        self.begin();
    }
}
