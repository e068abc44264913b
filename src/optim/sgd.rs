//! Owns stochastic gradient descent with momentum (Sutskever et al. 2013, in the form of `torch.optim.SGD`), with decoupled
//! weight decay. Must not know schedules.

use super::chunks::Chunk;
use super::optimizer::{Rule, Step};

/// `u ← μu + g`, then `w ← w - lr·λw - lr·u`, or with Nesterov's momentum `w ← w - lr·λw - lr·(g + μu)`.
pub(super) struct Sgd {
    pub momentum: f32,
    pub nesterov: bool,
}

impl Rule for Sgd {
    fn memories(&self) -> [bool; 2] {
        [true, false]
    }

    #[inline(always)]
    fn update(&self, chunk: &mut Chunk<'_>, decay: f32, step: &Step) {
        let Step { rate, scale, .. } = *step;
        let Self { momentum, nesterov } = *self;
        let keep = 1.0 - rate * decay;
        // What the velocity and the gradient count for in a move.
        let (by_velocity, by_gradient) = if nesterov { (momentum, scale) } else { (1.0, 0.0) };
        for ((w, g), u) in chunk.weights.iter_mut().zip(&mut *chunk.gradient).zip(&mut *chunk.first) {
            *u = momentum * *u + scale * *g;
            *w = keep * *w - rate * (by_gradient * *g + by_velocity * *u);
            *g = 0.0;
        }
    }
}
