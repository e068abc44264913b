//! Owns comparing settings by measurement: how many images a second the steps of one configuration learn from with every batch size, or on
//! every device in every number format; and which of them is enough. Must not know what a person makes of it.

use super::BenchError;
use super::clock::{Clock, Ended, Listener};
use super::{pictures, products, steps, unless_broken_off};
use crate::device::Place;
use crate::hardware::usable_cores;
use crate::records::benchmark::{Extent, Row, Side};
use crate::run_config::{ConfigProblem, DeviceChoice, Precision, RunConfig};

/// The batch sizes compared.
pub const BATCH_SIZES: [u32; 6] = [32, 64, 128, 256, 512, 1024];

/// Seconds for each side.
const SECONDS: f64 = 2.0;
/// The share of the highest rate that is as good as it: within what figures scatter.
const ENOUGH: f64 = 0.95;

/// Opens a device.
pub type Open<'a> = &'a dyn Fn(DeviceChoice) -> Result<Place, ConfigProblem>;

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// A figure for each side that could be measured.
    pub rows: Vec<Row>,
    /// The others, and why not.
    pub failed: Vec<(Side, BenchError)>,
}

/// The side that these settings train on.
pub fn side_of(config: &RunConfig) -> Side {
    let RunConfig { device, precision, threads, batch_size, .. } = *config;
    Side { device: device.resolved(), precision, threads: threads.unwrap_or_else(usable_cores), batch_size }
}

/// A side for each batch size.
pub fn batch_sizes(config: &RunConfig) -> Vec<Side> {
    BATCH_SIZES.map(|batch_size| Side { batch_size, ..side_of(config) }).to_vec()
}

/// A side for each device, the processor first, and number format that may be used there. With the processor alone also one on half of the
/// threads: small networks have little for many to do.
pub fn devices(config: &RunConfig, usable: &[(DeviceChoice, Vec<Precision>)]) -> Vec<Side> {
    let of = |(device, precisions): &(DeviceChoice, Vec<Precision>)| {
        let device = *device;
        precisions.iter().map(move |&precision| Side { device, precision, ..side_of(config) }).collect::<Vec<_>>()
    };
    let mut sides: Vec<Side> = usable.iter().flat_map(of).collect();
    let all = side_of(config);
    if usable.iter().all(|(device, _)| *device == DeviceChoice::Cpu) && all.threads > 1 {
        sides.push(Side { device: DeviceChoice::Cpu, threads: all.threads.div_ceil(2).min(all.threads - 1), ..all });
    }
    sides
}

/// Measures the steps of `config` on every side; `None` when the listener broke it off.
pub fn compare(config: &RunConfig, sides: &[Side], open: Open<'_>, listener: &mut dyn Listener) -> Result<Option<Compared>, BenchError> {
    unless_broken_off(measured(config, sides, open, listener))
}

fn measured(config: &RunConfig, sides: &[Side], open: Open<'_>, listener: &mut dyn Listener) -> Result<Compared, Ended> {
    let seconds = SECONDS * sides.len() as f64;
    let mut clock = Clock::start(Extent::Full, seconds, listener);
    let data = pictures(&mut clock)?;
    let mut compared = Compared { rows: Vec::new(), failed: Vec::new() };
    for (side, row) in steps::steps(&mut clock, seconds, config, sides, &data, products::USUAL_SIZE, open)? {
        match row {
            Ok(row) => {
                clock.found(&row);
                compared.rows.push(row);
            }
            Err(problem) => compared.failed.push((side, problem)),
        }
    }
    Ok(compared)
}

/// Every side and its images a second.
pub fn rates(rows: &[Row]) -> impl Iterator<Item = (Side, f64)> + Clone {
    rows.iter().filter_map(|row| match *row {
        Row::Step { device, precision, threads, batch_size, images_per_second, .. } => {
            Some((Side { device, precision, threads, batch_size }, images_per_second))
        }
        _ => None,
    })
}

/// The smallest batch whose rate is as good as the highest: a larger one only makes fewer corrections of the same pictures.
pub fn sweet_spot(rows: &[Row]) -> Option<u32> {
    enough(rows).map(|side| side.batch_size).min()
}

/// The side that is fastest; among those that are as good as it the first, which is the simplest.
pub fn fastest(rows: &[Row]) -> Option<Side> {
    enough(rows).next()
}

/// Sides whose rate is as good as the highest.
fn enough(rows: &[Row]) -> impl Iterator<Item = Side> {
    let highest = rates(rows).map(|(_, rate)| rate).fold(0.0, f64::max);
    rates(rows).filter(move |&(_, rate)| rate >= ENOUGH * highest).map(|(side, _)| side)
}
