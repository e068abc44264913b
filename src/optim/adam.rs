//! Owns Adam (Kingma & Ba 2015; `torch.optim.Adam`) and Adam with decoupled weight decay (Loshchilov & Hutter 2019, algorithm 2;
//! `torch.optim.AdamW`). Must not know schedules.

use super::chunks::Chunk;
use super::optimizer::{Rule, Step};

pub(super) const BETA1: f32 = 0.9;
pub(super) const BETA2: f32 = 0.999;
pub(super) const EPSILON: f32 = 1e-8;

/// `m ← β₁m + (1-β₁)g`, `v ← β₂v + (1-β₂)g²`, `w ← w - lr·m̂/(√v̂ + ε)` with `β = (0.9, 0.999)`, `ε = 1e-8`, and the moments `m̂`, `v̂`
/// corrected for their start at zero. Weight decay adds `λw` to `g`, or, decoupled, `-lr·λw` to the move.
pub(super) struct Adam {
    pub decoupled: bool,
}

impl Rule for Adam {
    fn memories(&self) -> [bool; 2] {
        [true, true]
    }

    #[inline(always)]
    fn update(&self, chunk: &mut Chunk<'_>, decay: f32, step: &Step) {
        let Step { rate, scale, number } = *step;
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        let (keep, decay) = if self.decoupled { (1.0 - rate * decay, 0.0) } else { (1.0, decay) };
        // Both corrections in one factor each, so that the loop below has one division and one root.
        let rate = (f64::from(rate) / (1.0 - f64::from(BETA1).powi(number))) as f32;
        let second_scale = (1.0 / (1.0 - f64::from(BETA2).powi(number))) as f32;
        let moments = chunk.first.iter_mut().zip(&mut *chunk.second);
        for ((w, g), (m, v)) in chunk.weights.iter_mut().zip(&mut *chunk.gradient).zip(moments) {
            let gradient = scale * *g + decay * *w;
            *m = BETA1 * *m + (1.0 - BETA1) * gradient;
            *v = BETA2 * *v + (1.0 - BETA2) * gradient * gradient;
            *w = keep * *w - rate * *m / ((*v * second_scale).sqrt() + EPSILON);
            *g = 0.0;
        }
    }
}
