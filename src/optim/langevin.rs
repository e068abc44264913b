//! Owns stochastic gradient Langevin dynamics (Welling & Teh 2011) and its preconditioned form (Li et al. 2016): steps with noise of
//! the size that makes the weights wander as samples from their posterior.
//! Must not know schedules.
//!
//! Both papers step by `ε/2` along the gradient of the log posterior, which is `N` times that of our mean loss, and add noise of
//! variance `ε`. With the learning rate `lr = εN/2` a step is the familiar `-lr·g`, and the noise has the variance `2·lr/N`. Weight decay
//! `λ` is the Gaussian prior of variance `1/(λN)`.

use super::chunks::Chunk;
use super::optimizer::{Rule, Step};
use crate::math::random::Random;

/// How slowly the running squares change, and what keeps the preconditioner finite (Li et al. 2016).
pub(super) const ALPHA: f32 = 0.99;
pub(super) const EPSILON: f32 = 1e-5;

/// `w ← w - lr·(g + λw) + √(2·lr/N)·η`, `η ~ N(0, 1)`. Preconditioned: `v ← αv + (1-α)g²`, `G = 1/(√v + 1e-5)`,
/// `w ← w - lr·G·(g + λw) + √(2·lr·G/N)·η` with `α = 0.99`; the drift by `G`'s own change is left out, as in the paper's experiments.
pub(super) struct Langevin {
    pub preconditioned: bool,
    /// Images the loss is a mean of over an epoch (`N`).
    pub images: u64,
    pub seed: u64,
}

/// Where the noise of a chunk comes from: a stream for each step and chunk, so that it does not depend on which thread draws it.
pub(super) fn noise(seed: u64, step: u64, chunk: u64) -> Random {
    Random::stream(seed, "langevin noise", step.wrapping_shl(32) | chunk)
}

impl Rule for Langevin {
    fn memories(&self) -> [bool; 2] {
        [self.preconditioned, false]
    }

    #[inline(always)]
    fn update(&self, chunk: &mut Chunk<'_>, decay: f32, step: &Step) {
        let Step { rate, scale, number } = *step;
        let variance = 2.0 * rate / self.images.max(1) as f32;
        let mut random = noise(self.seed, number, chunk.index);
        let numbers = chunk.weights.iter_mut().zip(&mut *chunk.gradient);
        if self.preconditioned {
            let numbers = numbers.zip(&mut *chunk.first);
            for ((w, g), v) in numbers {
                let gradient = scale * *g;
                *v = ALPHA * *v + (1.0 - ALPHA) * gradient * gradient;
                let conditioner = 1.0 / (v.sqrt() + EPSILON);
                *w += -rate * conditioner * (gradient + decay * *w) + (variance * conditioner).sqrt() * random.normal();
                *g = 0.0;
            }
        } else {
            let deviation = variance.sqrt();
            for (w, g) in numbers {
                *w += -rate * (scale * *g + decay * *w) + deviation * random.normal();
                *g = 0.0;
            }
        }
    }
}
