//! Owns comparing batch sizes: how many images a second the steps of one configuration learn from, size by size, and which size is enough.
//! Must not know what a person makes of it.

use super::clock::{Clock, Ended, Listener};
use super::report::{Extent, Row};
use super::{keep, pictures, products, steps, unless_broken_off};
use crate::hardware;
use crate::problem::Problem;
use crate::run_config::RunConfig;

/// The sizes compared.
pub const BATCH_SIZES: [u32; 6] = [32, 64, 128, 256, 512, 1024];

/// Seconds for all of them together.
const SECONDS: f64 = 12.0;
/// The share of the highest rate that is as good as it: within what figures scatter.
const ENOUGH: f64 = 0.95;

/// Measures the steps of `config` with every batch size, a row each; `None` when the listener broke it off.
pub fn compare_batch_sizes(config: &RunConfig, listener: &mut dyn Listener) -> Result<Option<Vec<Row>>, Problem> {
    unless_broken_off(compare(config, listener))
}

fn compare(config: &RunConfig, listener: &mut dyn Listener) -> Result<Vec<Row>, Ended> {
    let mut clock = Clock::start(Extent::Full, SECONDS, listener);
    let threads = config.threads.unwrap_or_else(hardware::usable_cores);
    let sides = BATCH_SIZES.map(|batch_size| steps::Side { precision: config.precision, threads, batch_size });
    let data = pictures(&mut clock)?;
    let found = steps::steps(&mut clock, SECONDS, config, &sides, &data, products::USUAL_SIZE)?;
    let mut rows = Vec::new();
    keep(&mut clock, &mut rows, found);
    Ok(rows)
}

/// Every batch size and its images a second.
pub fn rates(rows: &[Row]) -> impl Iterator<Item = (u32, f64)> + Clone {
    rows.iter().filter_map(|row| match *row {
        Row::Step { batch_size, images_per_second, .. } => Some((batch_size, images_per_second)),
        _ => None,
    })
}

/// The smallest batch whose rate is as good as the highest: a larger one only makes fewer corrections of the same pictures.
pub fn sweet_spot(rows: &[Row]) -> Option<u32> {
    let highest = rates(rows).map(|(_, rate)| rate).fold(0.0, f64::max);
    rates(rows).filter(|&(_, rate)| rate >= ENOUGH * highest).map(|(batch_size, _)| batch_size).min()
}
