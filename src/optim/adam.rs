//! Adam (Kingma & Ba 2015; `torch.optim.Adam`) and Adam with decoupled weight decay (Loshchilov &
//! Hutter 2019, algorithm 2; `torch.optim.AdamW`).

use super::rule::{Element, Rule, Step};

pub(super) const BETA1: f32 = 0.9;
pub(super) const BETA2: f32 = 0.999;
pub(super) const EPSILON: f32 = 1e-8;

/// `m ← β₁m + (1-β₁)g`, `v ← β₂v + (1-β₂)g²`, `w ← w - lr·m̂/(√v̂ + ε)` with `β = (0.9, 0.999)`,
/// `ε = 1e-8`, and the moments `m̂`, `v̂` corrected for their start at zero. Weight decay adds `λw`
/// to `g`, or, decoupled, `-lr·λw` to the update.
pub(super) struct Adam {
    decoupled: bool,
    lr: f32,
    /// `lr / (1 - β₁ᵗ)` and `1 / (1 - β₂ᵗ)`: both bias corrections as one factor each, so that a
    /// weight takes one division and one root.
    corrected_lr: f32,
    second_scale: f32,
}

impl Adam {
    pub fn new(decoupled: bool, Step { number, lr }: Step) -> Self {
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        Self {
            decoupled,
            lr,
            corrected_lr: (f64::from(lr) / (1.0 - f64::from(BETA1).powi(number))) as f32,
            second_scale: (1.0 / (1.0 - f64::from(BETA2).powi(number))) as f32,
        }
    }
}

impl Rule<2> for Adam {
    #[inline(always)]
    fn update<E: Element>(
        &self,
        w: E,
        grad: E,
        [exp_avg, exp_avg_sq]: [E; 2],
        decay: E,
        _: impl FnOnce() -> E,
    ) -> (E, [E; 2]) {
        let (w, grad) = if self.decoupled {
            (w * (decay * -self.lr + 1.0), grad)
        } else {
            (w.clone(), grad + decay * w)
        };
        let exp_avg = exp_avg * BETA1 + grad.clone() * (1.0 - BETA1);
        let exp_avg_sq = exp_avg_sq * BETA2 + grad.clone() * (1.0 - BETA2) * grad;
        let denominator = (exp_avg_sq.clone() * self.second_scale).sqrt() + EPSILON;
        (
            w - exp_avg.clone() * self.corrected_lr / denominator,
            [exp_avg, exp_avg_sq],
        )
    }
}
