//! The speed of training steps, measured in short runs of the real training loop.
//!
//! Other work can be timed between the steps, so that both meet the same conditions on a machine
//! that is never quite idle: large matrix products, for the share of the machine's peak rate that a
//! step reaches, or the same steps in plain candle.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::BenchError;
use super::budget::{BenchBudget, Listener};
use super::comparisons::{Open, side_of};
use super::digits;
use super::step_timer::{Interleaved, Samples, StepTimer};
use crate::data::DataSet;
use crate::math::statistics::median;
use crate::nn::backend::cpu::LargeProduct;
use crate::nn::{BackendKind, DeviceContext, flops};
use crate::records::benchmark::{Extent, Row, Side, Subject};
use crate::run_config::{Augmentation, ModelKind, OptimizerKind, RunConfig};
use crate::train;

/// Each side gets this many runs, in turn with the others.
const RUNS: u32 = 2;

/// Seconds for each configuration of which only an estimate is wanted.
const ESTIMATE: f64 = 0.4;

/// The usual batch size of a model.
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

/// `base` on one side, at a constant small learning rate, so that no network diverges, and without
/// anything that only happens occasionally.
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

/// Measures the steps of `base` on every side; `product_size` is the size of matrix product that is
/// fastest here. A side that fails leaves the others alone.
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
        devices
            .entry(side.device)
            .or_insert_with(|| open(side.device));
    }
    let time_per_run = time / (sides.len().max(1) as u32 * RUNS);
    let started = Instant::now();
    let mut all: Vec<(Side, Result<Samples, BenchError>)> = sides
        .iter()
        .map(|&side| (side, Ok(Samples::default())))
        .collect();
    for round in 0..RUNS {
        // A model that is slow on this machine has to make do with its first run.
        if round > 0 && started.elapsed() >= time {
            break;
        }
        for (side, samples) in &mut all {
            let (Ok(so_far), Some(device)) = (samples.as_mut(), devices.get(&side.device)) else {
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
            match run(budget, time_per_run, base, *side, data, context, product) {
                Ok(new) => so_far.add(new),
                Err(BenchError::Cancelled(cancelled)) => return Err(cancelled.into()),
                Err(problem) => *samples = Err(problem),
            }
        }
    }
    Ok(all
        .into_iter()
        .map(|(side, samples)| {
            (
                side,
                samples.map(|samples| row(&samples, base.model, side, product_size)),
            )
        })
        .collect())
}

/// A quick measurement of each configuration as it is, on its own device: images per second, `None`
/// where it could not be trained; and the share of the CPU that other programs used meanwhile, 0 to
/// 1.
pub fn time_steps(
    configs: &[RunConfig],
    open: Open<'_>,
    listener: &mut dyn Listener,
) -> Result<(Vec<Option<f64>>, f32), BenchError> {
    let mut budget = BenchBudget::start(Extent::Full, ESTIMATE * configs.len() as f64, listener);
    let data = digits(&mut budget)?;
    let mut devices = HashMap::new();
    let mut rates = Vec::new();
    for config in configs {
        let time = budget.start_part(Subject::Steps(config.model), ESTIMATE)?;
        let side = side_of(config);
        let samples = match devices
            .entry(side.device)
            .or_insert_with(|| open(side.device))
        {
            Ok(context) => run(&mut budget, time, config, side, &data, context, None),
            Err(problem) => Err(problem.clone().into()),
        };
        rates.push(match samples {
            Ok(samples) => Some(f64::from(side.batch_size) / median(&samples.steps)),
            Err(BenchError::Cancelled(cancelled)) => return Err(cancelled.into()),
            Err(problem) => {
                tracing::warn!(%problem, model = %config.model, "steps could not be timed");
                None
            }
        });
    }
    Ok((rates, budget.background_load()))
}

fn row(samples: &Samples, model: ModelKind, side: Side, product_size: usize) -> Row {
    let Side {
        device,
        precision,
        threads,
        batch_size,
    } = side;
    let step = median(&samples.steps);
    let images_per_second = f64::from(batch_size) / step;
    let product_gflops = if samples.interleaved.is_empty() {
        0.0
    } else {
        LargeProduct::flops(product_size) as f64 / median(&samples.interleaved) / 1e9
    };
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
