//! Stochastic gradient descent with momentum (Sutskever et al. 2013, in the form of
//! `torch.optim.SGD`), with decoupled weight decay.

use super::config::OptimizerConfig;
use super::rule::{Element, Rule, Step};

/// `u ← μu + g`, then `w ← w - lr·λw - lr·u`, or with Nesterov's momentum
/// `w ← w - lr·λw - lr·(g + μu)`.
pub(super) struct Sgd {
    momentum: f32,
    nesterov: bool,
    lr: f32,
}

impl Sgd {
    pub const fn new(config: &OptimizerConfig, step: Step) -> Self {
        Self {
            momentum: config.momentum,
            nesterov: config.nesterov,
            lr: step.lr,
        }
    }
}

impl Rule<1> for Sgd {
    #[inline(always)]
    fn update<E: Element>(
        &self,
        w: E,
        grad: E,
        [velocity]: [E; 1],
        decay: E,
        _: impl FnOnce() -> E,
    ) -> (E, [E; 1]) {
        let velocity = velocity * self.momentum + grad.clone();
        let direction = if self.nesterov {
            grad + velocity.clone() * self.momentum
        } else {
            velocity.clone()
        };
        (
            w * (decay * -self.lr + 1.0) - direction * self.lr,
            [velocity],
        )
    }
}
