//! Stochastic gradient Langevin dynamics (Welling & Teh 2011) and its preconditioned form (Li et
//! al. 2016): steps with noise of the size that makes the weights wander as samples from their
//! posterior.
//!
//! Both papers step by `ε/2` along the gradient of the log posterior, which is `N` times that of
//! our mean loss, and add noise of variance `ε`. With the learning rate `lr = εN/2` a step is the
//! familiar `-lr·g`, and the noise has the variance `2·lr/N`. Weight decay `λ` is the Gaussian
//! prior of variance `1/(λN)`.

use super::config::OptimizerConfig;
use super::rule::{Element, Rule, Step};
use crate::math::random::Random;

/// How slowly the running squares change, and what keeps the preconditioner finite (Li et al.
/// 2016).
const ALPHA: f32 = 0.99;
const EPSILON: f32 = 1e-5;

/// `2·lr/N`.
fn variance(config: &OptimizerConfig, step: Step) -> f32 {
    2.0 * step.lr / config.images.max(1) as f32
}

/// The noise of a chunk of weights at a step: a random stream of its own, so that it does not
/// depend on which thread draws it.
pub(super) fn noise(seed: u64, step: u64, chunk: u64) -> Random {
    Random::stream(seed, "langevin noise", step.wrapping_shl(32) | chunk)
}

/// `w ← w - lr·(g + λw) + √(2·lr/N)·η`, `η ~ N(0, 1)`.
pub(super) struct Sgld {
    lr: f32,
    deviation: f32,
}

impl Sgld {
    pub fn new(config: &OptimizerConfig, step: Step) -> Self {
        Self {
            lr: step.lr,
            deviation: variance(config, step).sqrt(),
        }
    }
}

impl Rule<0> for Sgld {
    #[inline(always)]
    fn update<E: Element>(
        &self,
        w: E,
        grad: E,
        slots: [E; 0],
        decay: E,
        noise: impl FnOnce() -> E,
    ) -> (E, [E; 0]) {
        let drift = (grad + decay * w.clone()) * -self.lr;
        (w + (drift + noise() * self.deviation), slots)
    }
}

/// `v ← αv + (1-α)g²`, `G = 1/(√v + 1e-5)`, `w ← w - lr·G·(g + λw) + √(2·lr·G/N)·η` with
/// `α = 0.99`; the drift by `G`'s own change is left out, as in the paper's experiments.
pub(super) struct Psgld {
    lr: f32,
    variance: f32,
}

impl Psgld {
    pub fn new(config: &OptimizerConfig, step: Step) -> Self {
        Self {
            lr: step.lr,
            variance: variance(config, step),
        }
    }
}

impl Rule<1> for Psgld {
    #[inline(always)]
    fn update<E: Element>(
        &self,
        w: E,
        grad: E,
        [square_avg]: [E; 1],
        decay: E,
        noise: impl FnOnce() -> E,
    ) -> (E, [E; 1]) {
        let square_avg = square_avg * ALPHA + grad.clone() * (1.0 - ALPHA) * grad.clone();
        let preconditioner = (square_avg.clone().sqrt() + EPSILON).recip();
        let drift = preconditioner.clone() * -self.lr * (grad + decay * w.clone());
        (
            w + (drift + (preconditioner * self.variance).sqrt() * noise()),
            [square_avg],
        )
    }
}
