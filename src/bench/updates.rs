//! The speed of optimisers: updating all weights of a model by their gradients.

use super::budget::BenchBudget;
use super::pools::Pool;
use super::rounds::{Case, interleave, timed};
use super::{BenchError, CLASSES};
use crate::math::statistics::median;
use crate::nn::{Net, parameter_count};
use crate::optim::{Optimizer, OptimizerConfig};
use crate::records::benchmark::{Row, Subject};
use crate::run_config::{Activation, ModelKind, OptimizerKind, RunConfig};

/// The network whose weights are updated: the one with the most of them.
const MODEL: ModelKind = ModelKind::ConvNet;

/// Images that Langevin dynamics' noise is scaled by, as many as MNIST trains on.
const IMAGES: u64 = 60_000;

/// How long an update by each optimiser takes on all threads.
pub(super) fn updates(
    budget: &mut BenchBudget<'_>,
    seconds: f64,
    pools: &[Pool],
) -> Result<Vec<Row>, BenchError> {
    let time = budget.start_part(Subject::Updates, seconds)?;
    let Some(all) = pools.last() else {
        return Ok(Vec::new());
    };
    let nets = OptimizerKind::ALL
        .iter()
        .map(|_| Net::new(MODEL, Activation::default(), CLASSES, 1))
        .collect::<Result<Vec<_>, _>>()?;
    let mut cases: Vec<Case<'_>> = Vec::new();
    for (&kind, net) in OptimizerKind::ALL.iter().zip(&nets) {
        let config = RunConfig {
            optimizer: kind,
            weight_decay: 0.01,
            ..RunConfig::default()
        };
        let mut optimizer = Optimizer::new(
            OptimizerConfig::new(&config, IMAGES),
            &net.trainable(),
            net.context(),
            None,
        )?;
        cases.push(Box::new(move || {
            let mut updated = Ok(());
            let took = all
                .pool
                .install(|| timed(|| updated = optimizer.step(1e-6, 1.0, None).map(drop)));
            updated?;
            Ok(took)
        }));
    }
    let taken = interleave(budget, time, &mut cases)?;
    let row = |(&optimizer, seconds): (&OptimizerKind, &Vec<f64>)| Row::Update {
        optimizer,
        parameters: parameter_count(MODEL, CLASSES),
        threads: all.threads,
        microseconds: median(seconds) * 1e6,
    };
    Ok(OptimizerKind::ALL.iter().zip(&taken).map(row).collect())
}
