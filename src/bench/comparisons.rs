//! Comparing settings by measurement: the training throughput of one configuration with every batch
//! size, or on every device at every precision, and which of them to recommend.

use super::budget::{BenchBudget, Listener};
use super::{digits, steps, workloads};
use crate::hardware::usable_cores;
use crate::nn::DeviceContext;
use crate::problem::Problem;
use crate::records::benchmark::{BATCH_SIZES, Effort, Measurement, StepConfig};
use crate::run_config::{ConfigError, DeviceChoice, Precision, RunConfig};

/// Seconds for each configuration.
const SECONDS: f64 = 2.0;
/// A configuration within this fraction of the highest rate counts as equally fast: figures scatter
/// that much.
const NEARLY_FASTEST: f64 = 0.95;

pub type Open<'a> = &'a dyn Fn(DeviceChoice) -> Result<DeviceContext, ConfigError>;

/// The configuration that these settings train on.
pub fn step_config_of(config: &RunConfig) -> StepConfig {
    let RunConfig {
        device,
        precision,
        threads,
        batch_size,
        ..
    } = *config;
    StepConfig {
        device: device.resolved(),
        precision,
        threads: threads.unwrap_or_else(usable_cores),
        batch_size,
    }
}

pub fn batch_sizes(config: &RunConfig) -> Vec<StepConfig> {
    BATCH_SIZES
        .map(|batch_size| StepConfig {
            batch_size,
            ..step_config_of(config)
        })
        .to_vec()
}

/// A configuration for each device, the CPU first, and each precision that may be used there. If
/// there is only the CPU, also one on half of the threads: small networks have too little work for
/// many.
pub fn devices(config: &RunConfig, usable: &[(DeviceChoice, Vec<Precision>)]) -> Vec<StepConfig> {
    let of = |(device, precisions): &(DeviceChoice, Vec<Precision>)| {
        let device = *device;
        precisions
            .iter()
            .map(move |&precision| StepConfig {
                device,
                precision,
                ..step_config_of(config)
            })
            .collect::<Vec<_>>()
    };
    let mut step_configs: Vec<StepConfig> = usable.iter().flat_map(of).collect();
    let all = step_config_of(config);
    if usable
        .iter()
        .all(|(device, _)| *device == DeviceChoice::Cpu)
        && all.threads > 1
    {
        step_configs.push(StepConfig {
            device: DeviceChoice::Cpu,
            threads: all.threads.div_ceil(2).min(all.threads - 1),
            ..all
        });
    }
    step_configs
}

/// The configurations that could not be measured, and why.
type NotMeasured = Vec<(StepConfig, Problem)>;

/// Measures the steps of `config` on every configuration, whose figures the listener gets: those
/// that could not be measured, and the fraction of the CPU that other programs used meanwhile, 0 to
/// 1.
pub fn compare(
    config: &RunConfig,
    step_configs: &[StepConfig],
    open: Open<'_>,
    listener: &mut dyn Listener,
) -> Result<(NotMeasured, f32), Problem> {
    let seconds = SECONDS * step_configs.len() as f64;
    let mut budget = BenchBudget::start(Effort::Full, seconds, listener);
    let data = digits(&mut budget)?;
    let size = workloads::USUAL_SIZE;
    let mut failed = Vec::new();
    for (step_config, row) in steps::steps(
        &mut budget,
        seconds,
        config,
        step_configs,
        &data,
        size,
        open,
    )? {
        match row {
            Ok(row) => budget.found(&row),
            Err(problem) => failed.push((step_config, problem)),
        }
    }
    Ok((failed, budget.background_load()))
}

/// Every configuration and its images per second.
pub fn rates(rows: &[Measurement]) -> impl Iterator<Item = (StepConfig, f64)> + Clone {
    rows.iter().filter_map(|row| match *row {
        Measurement::Step {
            device,
            precision,
            threads,
            batch_size,
            images_per_second,
            ..
        } => Some((
            StepConfig {
                device,
                precision,
                threads,
                batch_size,
            },
            images_per_second,
        )),
        _ => None,
    })
}

/// The smallest batch size that is as fast as any: a larger one only means fewer updates per epoch.
pub fn sweet_spot(rows: &[Measurement]) -> Option<u32> {
    nearly_fastest(rows)
        .map(|step_config| step_config.batch_size)
        .min()
}

/// The fastest configuration; of several that are equally fast the first, which is the simplest.
pub fn fastest(rows: &[Measurement]) -> Option<StepConfig> {
    nearly_fastest(rows).next()
}

/// The configurations that are as fast as any.
fn nearly_fastest(rows: &[Measurement]) -> impl Iterator<Item = StepConfig> {
    let highest = rates(rows).map(|(_, rate)| rate).fold(0.0, f64::max);
    rates(rows)
        .filter(move |&(_, rate)| rate >= NEARLY_FASTEST * highest)
        .map(|(step_config, _)| step_config)
}
