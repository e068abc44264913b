//! Comparing settings by measurement: the training throughput of one configuration with every batch
//! size, or on every device at every precision, and which of them to recommend.

use super::BenchError;
use super::budget::{BenchBudget, Listener};
use super::{digits, products, steps};
use crate::hardware::usable_cores;
use crate::nn::DeviceContext;
use crate::records::benchmark::{BATCH_SIZES, Extent, Row, Side};
use crate::run_config::{ConfigProblem, DeviceChoice, Precision, RunConfig};

/// Seconds for each side.
const SECONDS: f64 = 2.0;
/// A side within this share of the highest rate counts as equally fast: figures scatter that much.
const NEARLY_FASTEST: f64 = 0.95;

pub type Open<'a> = &'a dyn Fn(DeviceChoice) -> Result<DeviceContext, ConfigProblem>;

#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// A figure for each side that could be measured.
    pub rows: Vec<Row>,
    /// The sides that could not be measured, and why.
    pub failed: Vec<(Side, BenchError)>,
    /// The share of the CPU that other programs used meanwhile, 0 to 1.
    pub background_load: f32,
}

/// The side that these settings train on.
pub fn side_of(config: &RunConfig) -> Side {
    let RunConfig {
        device,
        precision,
        threads,
        batch_size,
        ..
    } = *config;
    Side {
        device: device.resolved(),
        precision,
        threads: threads.unwrap_or_else(usable_cores),
        batch_size,
    }
}

pub fn batch_sizes(config: &RunConfig) -> Vec<Side> {
    BATCH_SIZES
        .map(|batch_size| Side {
            batch_size,
            ..side_of(config)
        })
        .to_vec()
}

/// A side for each device, the CPU first, and each precision that may be used there. If there is
/// only the CPU, also a side on half of the threads: small networks have too little work for many.
pub fn devices(config: &RunConfig, usable: &[(DeviceChoice, Vec<Precision>)]) -> Vec<Side> {
    let of = |(device, precisions): &(DeviceChoice, Vec<Precision>)| {
        let device = *device;
        precisions
            .iter()
            .map(move |&precision| Side {
                device,
                precision,
                ..side_of(config)
            })
            .collect::<Vec<_>>()
    };
    let mut sides: Vec<Side> = usable.iter().flat_map(of).collect();
    let all = side_of(config);
    if usable
        .iter()
        .all(|(device, _)| *device == DeviceChoice::Cpu)
        && all.threads > 1
    {
        sides.push(Side {
            device: DeviceChoice::Cpu,
            threads: all.threads.div_ceil(2).min(all.threads - 1),
            ..all
        });
    }
    sides
}

/// Measures the steps of `config` on every side.
pub fn compare(
    config: &RunConfig,
    sides: &[Side],
    open: Open<'_>,
    listener: &mut dyn Listener,
) -> Result<Compared, BenchError> {
    let seconds = SECONDS * sides.len() as f64;
    let mut budget = BenchBudget::start(Extent::Full, seconds, listener);
    let data = digits(&mut budget)?;
    let mut compared = Compared {
        rows: Vec::new(),
        failed: Vec::new(),
        background_load: 0.0,
    };
    for (side, row) in steps::steps(
        &mut budget,
        seconds,
        config,
        sides,
        &data,
        products::USUAL_SIZE,
        open,
    )? {
        match row {
            Ok(row) => {
                budget.found(&row);
                compared.rows.push(row);
            }
            Err(problem) => compared.failed.push((side, problem)),
        }
    }
    compared.background_load = budget.background_load();
    Ok(compared)
}

/// Every side and its images per second.
pub fn rates(rows: &[Row]) -> impl Iterator<Item = (Side, f64)> + Clone {
    rows.iter().filter_map(|row| match *row {
        Row::Step {
            device,
            precision,
            threads,
            batch_size,
            images_per_second,
            ..
        } => Some((
            Side {
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
pub fn sweet_spot(rows: &[Row]) -> Option<u32> {
    nearly_fastest(rows).map(|side| side.batch_size).min()
}

/// The fastest side; of several that are equally fast the first, which is the simplest.
pub fn fastest(rows: &[Row]) -> Option<Side> {
    nearly_fastest(rows).next()
}

/// The sides that are as fast as any.
fn nearly_fastest(rows: &[Row]) -> impl Iterator<Item = Side> {
    let highest = rates(rows).map(|(_, rate)| rate).fold(0.0, f64::max);
    rates(rows)
        .filter(move |&(_, rate)| rate >= NEARLY_FASTEST * highest)
        .map(|(side, _)| side)
}
