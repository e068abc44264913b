//! Owns measuring training steps: short runs of the real training loop, watched. Must not compute a step itself.
//!
//! Between its steps a watched run computes large products, so that the share of the machine's rate that a step reaches is
//! formed from figures of the same moments.

use std::time::{Duration, Instant};

use super::clock::{Clock, Ended};
use super::report::{Row, Subject};
use super::rounds::{median, timed};
use crate::data::DataSet;
use crate::device::open_device;
use crate::nn::ops::LargeProduct;
use crate::nn::{Net, flops};
use crate::protocol::{EpochRecord, StepPoint, Telemetry};
use crate::run_config::{Augmentation, ModelKind, OptimizerKind, Precision, RunConfig};
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

/// What is measured of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Side {
    pub precision: Precision,
    pub threads: u32,
    pub batch_size: u32,
}

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

/// The steps of `base` on every side; `product_size` is the size of product that is fastest here.
pub(super) fn steps(
    clock: &mut Clock<'_>,
    seconds: f64,
    base: &RunConfig,
    sides: &[Side],
    data: &DataSet,
    product_size: usize,
) -> Result<Vec<Row>, Ended> {
    let model = base.model;
    let place = open_device(base.device)?;
    let whole = clock.part(Subject::Steps(model), seconds)?;
    let time = whole / (sides.len().max(1) as u32 * RUNS);
    let began = Instant::now();
    let mut taken = vec![(Vec::new(), Vec::new()); sides.len()];
    for round in 0..RUNS {
        // A model that is slow here has to make do with what was found.
        if round > 0 && began.elapsed() >= whole {
            break;
        }
        for (&side, (steps, products)) in sides.iter().zip(&mut taken) {
            let mut watch = Watch::new(clock, time, product_size);
            train::train(&on(base, side), data, &place, None, &mut watch)?;
            let Watch { steps: new_steps, products: new_products, broken_off, .. } = watch;
            if let Some(ended) = broken_off {
                return Err(ended);
            }
            steps.extend(new_steps);
            products.extend(new_products);
        }
    }
    let flops_per_image = flops(model).training as f64;
    let row = |(&Side { precision, threads, batch_size }, (steps, products)): (&Side, &(Vec<f64>, Vec<f64>))| {
        let (step, product) = (median(steps), median(products));
        let images_per_second = f64::from(batch_size) / step;
        Row::Step {
            model,
            precision,
            batch_size,
            threads,
            milliseconds: step * 1e3,
            images_per_second,
            gflops: flops_per_image * images_per_second / 1e9,
            product_gflops: LargeProduct::flops(product_size) as f64 / product / 1e9,
        }
    };
    Ok(sides.iter().zip(&taken).map(row).collect())
}

/// Watches a run until it made enough steps.
struct Watch<'a, 'c> {
    clock: &'a mut Clock<'c>,
    until: Instant,
    at_last: Instant,
    product: LargeProduct,
    seen: usize,
    /// When the step under way began; `None` when something else came in between.
    since: Option<Instant>,
    steps: Vec<f64>,
    products: Vec<f64>,
    broken_off: Option<Ended>,
}

impl<'a, 'c> Watch<'a, 'c> {
    fn new(clock: &'a mut Clock<'c>, time: Duration, product_size: usize) -> Self {
        let product = LargeProduct::new(product_size, Precision::F32);
        let now = Instant::now();
        let (until, at_last) = (now + time, now + time * PATIENCE);
        Self { clock, until, at_last, product, seen: 0, since: None, steps: Vec::new(), products: Vec::new(), broken_off: None }
    }

    fn done(&self) -> bool {
        let now = Instant::now();
        let enough = self.steps.len() >= LEAST && now >= self.until;
        let late = !self.steps.is_empty() && now >= self.at_last;
        (enough || late) && !self.products.is_empty()
    }
}

impl Observer for Watch<'_, '_> {
    fn between(&mut self, _net: &Net) -> Flow {
        if let Err(ended) = self.clock.attend() {
            self.broken_off = Some(ended);
        }
        if self.broken_off.is_some() || self.done() { Flow::Stop } else { Flow::Continue }
    }

    fn step(&mut self, point: StepPoint, _now: Telemetry) {
        let warm = self.seen >= WARM_UP || Instant::now() >= self.at_last;
        if let Some(since) = self.since.filter(|_| warm) {
            self.steps.push(since.elapsed().as_secs_f64());
        }
        self.seen += 1;
        if point.step == 1 || point.step.is_multiple_of(STEPS_PER_PRODUCT as u64) {
            self.products.push(timed(|| self.product.run()));
        }
        self.since = Some(Instant::now());
    }

    fn epoch(&mut self, _record: &EpochRecord, _net: &Net, _digit_threshold: f32) {
        self.since = None;
    }

    fn checkpoint(&mut self, _: Checkpoint) {
        self.since = None;
    }
}
