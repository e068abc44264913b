//! How the learning rate changes over a run, and the scale of its loss (Micikevicius et al. 2018):
//! the factor that lifts small f16 gradients above what the format rounds to zero.

use serde::{Deserialize, Serialize};

use crate::run_config::ScheduleKind;

/// Fraction of the steps that a cosine schedule warms up over.
const WARM_UP: f64 = 0.05;
/// Fraction of the steps that a one-cycle schedule rises over, and how far below its peak it starts
/// and ends (`torch.optim.lr_scheduler.OneCycleLR`'s defaults).
const RISE: f64 = 0.3;
const START: f64 = 1.0 / 25.0;
const END: f64 = START / 1e4;

/// The learning rate of every step of a run.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    shape: Shape,
    peak: f64,
    steps: u64,
}

/// How the rate goes from step to step.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Of(ScheduleKind),
    /// From this fraction of the peak at the first step, by the same factor from each to the next,
    /// up to the peak at the last.
    Growing {
        from: f64,
    },
}

impl Schedule {
    /// The schedule of a run of `steps` steps whose highest learning rate is `peak`.
    pub const fn new(kind: ScheduleKind, peak: f64, steps: u64) -> Self {
        Self {
            shape: Shape::Of(kind),
            peak,
            steps,
        }
    }

    /// The schedule of `steps` steps whose rate grows exponentially from the first of these rates
    /// to the second.
    pub fn growing([first, last]: [f64; 2], steps: u64) -> Self {
        Self {
            shape: Shape::Growing { from: first / last },
            peak: last,
            steps,
        }
    }

    /// The learning rate of a step, counted from 0; steps past the end have the last one's.
    pub fn lr(&self, step: u64) -> f32 {
        let last = self.steps.saturating_sub(1);
        let factor = match self.shape {
            Shape::Of(ScheduleKind::Constant) => 1.0,
            Shape::Of(ScheduleKind::Step) => step_down(step.min(last), self.steps),
            Shape::Of(ScheduleKind::Cosine) => cosine(step.min(last), self.steps),
            Shape::Of(ScheduleKind::OneCycle) => one_cycle(step.min(last), last),
            Shape::Growing { from } => from.powf(1.0 - step.min(last) as f64 / last.max(1) as f64),
        };
        (self.peak * factor) as f32
    }
}

/// A tenth after half of the steps, a hundredth after three quarters (in the proportions of He et
/// al. 2016, who trained on CIFAR-10 so).
const fn step_down(step: u64, steps: u64) -> f64 {
    if step >= (steps * 3).div_ceil(4) {
        0.01
    } else if step >= steps.div_ceil(2) {
        0.1
    } else {
        1.0
    }
}

/// From 1 at `progress` 0 to 0 at 1 along half a cosine.
fn half_cosine(progress: f64) -> f64 {
    0.5 * (1.0 + (std::f64::consts::PI * progress).cos())
}

/// Up in a line over the first 5% of the steps, the last of which has the peak; then down to 0,
/// which the step after the last would have, so that no step is wasted at a rate of 0.
fn cosine(step: u64, steps: u64) -> f64 {
    let warm_up = (steps as f64 * WARM_UP).floor() as u64;
    if step < warm_up {
        (step + 1) as f64 / warm_up as f64
    } else {
        half_cosine((step - warm_up) as f64 / (steps - warm_up).max(1) as f64)
    }
}

/// Along half cosines from 1/25 up to 1 at 30% of the run, then down to 1/250,000 at the last
/// step.
fn one_cycle(step: u64, last: u64) -> f64 {
    let peak = last as f64 * RISE;
    let step = step as f64;
    if step < peak {
        1.0 + (START - 1.0) * half_cosine(step / peak)
    } else {
        let fall = (last as f64 - peak).max(1.0);
        END + (1.0 - END) * half_cosine((step - peak) / fall)
    }
}

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
