//! Repeated measurements of things that are compared. Each is measured once per round, so that
//! whatever slows the machine down for a moment slows all of them.

use std::time::{Duration, Instant};

use super::BenchError;
use super::budget::BenchBudget;

/// Does the work of one thing compared, once, and returns the seconds it took.
pub(super) type Case<'a> = Box<dyn FnMut() -> Result<f64, BenchError> + 'a>;

/// Rounds measured even if that takes longer than planned, unless it takes [`OVERTIME`] times as
/// long.
const MIN_ROUNDS: usize = 3;
const OVERTIME: u32 = 4;

/// The seconds each case took, a list per case: one round to warm up, which does not count, then as
/// many rounds as fit into `time`.
pub(super) fn interleave(
    budget: &mut BenchBudget<'_>,
    time: Duration,
    cases: &mut [Case<'_>],
) -> Result<Vec<Vec<f64>>, BenchError> {
    let started = Instant::now();
    let mut samples = vec![Vec::new(); cases.len()];
    for round in 0.. {
        let enough = round > MIN_ROUNDS && started.elapsed() >= time;
        let too_late = round > 1 && started.elapsed() >= time * OVERTIME;
        if enough || too_late {
            break;
        }
        for (case, samples) in cases.iter_mut().zip(&mut samples) {
            let seconds = case()?;
            if round > 0 {
                samples.push(seconds);
            }
            budget.report()?;
        }
    }
    Ok(samples)
}

/// The seconds that `work` takes.
pub(super) fn timed(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}
