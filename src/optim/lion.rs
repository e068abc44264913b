//! Lion, evolved sign momentum (Chen et al. 2023): every weight moves by the same amount, and only
//! one number is kept for each.

use super::rule::{Element, Rule, Step};

/// The paper's constants: of the direction, and of the momentum.
const BETA1: f32 = 0.9;
const BETA2: f32 = 0.99;

/// `w ← w - lr·(sign(β₁m + (1-β₁)g) + λw)`, then `m ← β₂m + (1-β₂)g`.
pub(super) struct Lion {
    lr: f32,
}

impl Lion {
    pub const fn new(step: Step) -> Self {
        Self { lr: step.lr }
    }
}

impl Rule<1> for Lion {
    #[inline(always)]
    fn update<E: Element>(
        &self,
        w: E,
        grad: E,
        [momentum]: [E; 1],
        decay: E,
        _: impl FnOnce() -> E,
    ) -> (E, [E; 1]) {
        let direction = (momentum.clone() * BETA1 + grad.clone() * (1.0 - BETA1)).sign();
        let momentum = momentum * BETA2 + grad * (1.0 - BETA2);
        (
            w * (decay * -self.lr + 1.0) - direction * self.lr,
            [momentum],
        )
    }
}
