//! Dynamic loss scaling (Micikevicius et al. 2018): the factor that lifts small f16 gradients above
//! what the format rounds to zero.

use serde::{Deserialize, Serialize};

/// The first scale, the smallest, and the largest: 2^16, 1 and 2^24.
const FIRST: f32 = 65_536.0;
const MIN_SCALE: f32 = 1.0;
const MAX_SCALE: f32 = 16_777_216.0;
/// Steps in a row without an overflow after which the scale is doubled. `torch.amp.GradScaler`
/// waits for 2000; runs here have a few hundred steps an epoch.
const PATIENCE: u32 = 500;

/// The scale of a run's loss: halved when gradients overflow, doubled after 500 steps without.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LossScale {
    scale: f32,
    good_steps: u32,
}

impl Default for LossScale {
    fn default() -> Self {
        Self {
            scale: FIRST,
            good_steps: 0,
        }
    }
}

impl LossScale {
    /// What the loss is multiplied by.
    pub const fn scale(&self) -> f32 {
        self.scale
    }

    /// Gradients overflowed: their step is skipped. False when the scale cannot fall any further,
    /// so that the scale is not to blame.
    pub fn overflowed(&mut self) -> bool {
        let can_fall = self.scale > MIN_SCALE;
        *self = Self {
            scale: (self.scale / 2.0).max(MIN_SCALE),
            good_steps: 0,
        };
        can_fall
    }

    /// A step was taken.
    pub fn stepped(&mut self) {
        self.good_steps += 1;
        if self.good_steps == PATIENCE {
            *self = Self {
                scale: (self.scale * 2.0).min(MAX_SCALE),
                good_steps: 0,
            };
        }
    }
}
