//! The peak rates of this machine: large matrix products and memory copies.

use std::time::Duration;

use rayon::prelude::*;

use super::BenchError;
use super::budget::BenchBudget;
use super::pools::Pool;
use super::rounds::{Case, interleave, timed};
use crate::math::statistics::median;
use crate::nn::backend::cpu::LargeProduct;
use crate::records::benchmark::{Row, Subject};
use crate::run_config::{DeviceChoice, Precision};

pub(super) const USUAL_SIZE: usize = 1024;

/// Rows and columns tried; the best one counts. All fit into any machine that trains.
const SIZES: [usize; 3] = [768, 1024, 1536];

/// Numbers copied at a time: 64 MiB read and as many written, more than a CPU's caches usually
/// hold.
const COPIED: usize = 16 << 20;
/// Numbers copied per task.
const CHUNK: usize = 1 << 16;

/// The best rate of a large product at every precision, on each pool.
pub(super) fn products(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    pools: &[Pool],
) -> Result<Vec<Row>, BenchError> {
    let time = budget.start_part(Subject::Products, seconds)? / SIZES.len() as u32;
    let mut best: Vec<Row> = Vec::new();
    for size in SIZES {
        for row in of_size(budget, time, pools, size)? {
            match best.iter_mut().find(|known| kind(known) == kind(&row)) {
                Some(known) if rate(known) < rate(&row) => *known = row,
                Some(_) => {}
                None => best.push(row),
            }
        }
    }
    Ok(best)
}

fn of_size(
    budget: &mut BenchBudget<'_>,
    time: Duration,
    pools: &[Pool],
    size: usize,
) -> Result<Vec<Row>, BenchError> {
    let cases: Vec<(Precision, &Pool)> = Precision::on(DeviceChoice::Cpu)
        .flat_map(|precision| pools.iter().map(move |pool| (precision, pool)))
        .collect();
    let mut sides: Vec<Case<'_>> = cases
        .iter()
        .map(|&(precision, pool)| {
            let mut product = LargeProduct::new(size, precision);
            Box::new(move || Ok(pool.pool.install(|| timed(|| product.run())))) as Case<'_>
        })
        .collect();
    let flops = LargeProduct::flops(size) as f64;
    let taken = interleave(budget, time, &mut sides)?;
    let row = |(&(precision, pool), seconds): (&(Precision, &Pool), &Vec<f64>)| Row::Product {
        precision,
        threads: pool.threads,
        size: size as u32,
        gflops: flops / median(seconds) / 1e9,
    };
    Ok(cases.iter().zip(&taken).map(row).collect())
}

/// What products of different sizes have in common: precision and threads.
const fn kind(row: &Row) -> Option<(Precision, u32)> {
    match *row {
        Row::Product {
            precision, threads, ..
        } => Some((precision, threads)),
        _ => None,
    }
}

const fn rate(row: &Row) -> f64 {
    match *row {
        Row::Product { gflops, .. } => gflops,
        _ => 0.0,
    }
}

/// How fast memory is copied, on each pool.
pub(super) fn memory(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    pools: &[Pool],
) -> Result<Vec<Row>, BenchError> {
    let time = budget.start_part(Subject::Memory, seconds)?;
    let from = vec![1.0_f32; COPIED];
    let to = std::cell::RefCell::new(vec![0.0_f32; COPIED]);
    let mut sides: Vec<Case<'_>> = pools
        .iter()
        .map(|pool| {
            let (from, to) = (&from, &to);
            Box::new(move || {
                let mut to = to.borrow_mut();
                let to = to.as_mut_slice();
                Ok(pool.pool.install(|| {
                    timed(|| {
                        to.par_chunks_mut(CHUNK)
                            .zip(from.par_chunks(CHUNK))
                            .for_each(|(to, from)| to.copy_from_slice(from))
                    })
                }))
            }) as Case<'_>
        })
        .collect();
    let taken = interleave(budget, time, &mut sides)?;
    let bytes = (2 * COPIED * size_of::<f32>()) as f64;
    let row = |(pool, seconds): (&Pool, &Vec<f64>)| Row::Memory {
        threads: pool.threads,
        gigabytes_per_second: bytes / median(seconds) / 1e9,
    };
    Ok(pools.iter().zip(&taken).map(row).collect())
}
