//! Update rules: what one is, which one an optimizer has, and the formulas, each written once for
//! any [`Element`]. (Adafactor's, which looks at whole parameters, is in `adafactor`.)

use std::ops::{Add, Div, Mul, Sub};

use super::adafactor::Adafactor;
use super::optimizer::OptimizerConfig;
use crate::math::random::Random;
use crate::run_config::OptimizerKind;

/// The operand of a rule: the number of one weight, or a tensor with the numbers of all.
pub(super) trait Element:
    Clone
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f32, Output = Self>
    + Mul<f32, Output = Self>
{
    /// √x.
    fn sqrt(self) -> Self;

    /// 1/x.
    fn recip(self) -> Self;

    /// 1 above zero, -1 below, 0 at zero.
    fn sign(self) -> Self;
}

impl Element for f32 {
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }

    #[inline(always)]
    fn recip(self) -> Self {
        Self::recip(self)
    }

    #[inline(always)]
    fn sign(self) -> Self {
        f32::from(self > 0.0) - f32::from(self < 0.0)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Counted from 1.
    pub number: u64,
    pub lr: f32,
}

/// An update rule at one step. It keeps `SLOTS` numbers for each weight from step to step, which
/// are 0 before the first.
pub(super) trait Rule<const SLOTS: usize>: Sync {
    /// The new weight and slots, from the old ones, the gradient and the weight decay. `noise`
    /// draws from the normal distribution N(0, 1).
    ///
    /// Must be `#[inline(always)]`, so that it is compiled for the instructions the CPU's loop is
    /// dispatched to.
    fn update<E: Element>(
        &self,
        weight: E,
        grad: E,
        slots: [E; SLOTS],
        decay: E,
        noise: impl FnOnce() -> E,
    ) -> (E, [E; SLOTS]);
}

/// A computation with any rule.
pub(super) trait Visitor {
    type Output;

    fn visit<const SLOTS: usize>(self, rule: &impl Rule<SLOTS>) -> Self::Output;

    /// Does it with the one that is not written for single weights.
    fn visit_adafactor(self, rule: &Adafactor) -> Self::Output;
}

/// Hands `visitor` the rule of this optimizer at this step.
pub(super) fn dispatch<V: Visitor>(config: &OptimizerConfig, step: Step, visitor: V) -> V::Output {
    match config.kind {
        OptimizerKind::AdamW => visitor.visit(&Adam::new(true, step)),
        OptimizerKind::Sgd => visitor.visit(&Sgd {
            momentum: config.momentum,
            nesterov: config.nesterov,
            lr: step.lr,
        }),
        OptimizerKind::Adam => visitor.visit(&Adam::new(false, step)),
        OptimizerKind::Adafactor => visitor.visit_adafactor(&Adafactor::new(step)),
        OptimizerKind::Lion => visitor.visit(&Lion { lr: step.lr }),
        OptimizerKind::Sgld => visitor.visit(&Sgld {
            lr: step.lr,
            deviation: langevin_variance(config, step).sqrt(),
        }),
        OptimizerKind::Psgld => visitor.visit(&Psgld {
            lr: step.lr,
            variance: langevin_variance(config, step),
        }),
    }
}

pub(super) fn slots(config: &OptimizerConfig) -> usize {
    struct Count;

    impl Visitor for Count {
        type Output = usize;

        fn visit<const SLOTS: usize>(self, _: &impl Rule<SLOTS>) -> usize {
            SLOTS
        }

        fn visit_adafactor(self, _: &Adafactor) -> usize {
            2
        }
    }

    dispatch(config, Step { number: 1, lr: 0.0 }, Count)
}

/// Stochastic gradient descent with momentum (Sutskever et al. 2013, in the form of
/// `torch.optim.SGD`), with decoupled weight decay: `u ← μu + g`, then `w ← w - lr·λw - lr·u`, or
/// with Nesterov's momentum `w ← w - lr·λw - lr·(g + μu)`.
struct Sgd {
    momentum: f32,
    nesterov: bool,
    lr: f32,
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
        let kept = w * (decay * -self.lr + 1.0);
        (kept - direction * self.lr, [velocity])
    }
}

/// Adam (Kingma & Ba 2015; `torch.optim.Adam`) and Adam with decoupled weight decay (Loshchilov &
/// Hutter 2019, algorithm 2; `torch.optim.AdamW`): `m ← β₁m + (1-β₁)g`, `v ← β₂v + (1-β₂)g²`,
/// `w ← w - lr·m̂/(√v̂ + ε)` with `β = (0.9, 0.999)`, `ε = 1e-8`, and the moments `m̂`, `v̂`
/// corrected for their start at zero. Weight decay adds `λw` to `g`, or, decoupled, `-lr·λw` to the
/// update.
pub(super) struct Adam {
    decoupled: bool,
    lr: f32,
    /// `lr / (1 - β₁ᵗ)` and `1 / (1 - β₂ᵗ)`: both bias corrections as one factor each, so that a
    /// weight takes one division and one root.
    corrected_lr: f32,
    second_scale: f32,
}

impl Adam {
    pub const BETA1: f32 = 0.9;
    pub const BETA2: f32 = 0.999;
    pub const EPSILON: f32 = 1e-8;

    fn new(decoupled: bool, Step { number, lr }: Step) -> Self {
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        Self {
            decoupled,
            lr,
            corrected_lr: (f64::from(lr) / (1.0 - f64::from(Self::BETA1).powi(number))) as f32,
            second_scale: (1.0 / (1.0 - f64::from(Self::BETA2).powi(number))) as f32,
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
        let exp_avg = exp_avg * Self::BETA1 + grad.clone() * (1.0 - Self::BETA1);
        let exp_avg_sq = exp_avg_sq * Self::BETA2 + grad.clone() * (1.0 - Self::BETA2) * grad;
        let denominator = (exp_avg_sq.clone() * self.second_scale).sqrt() + Self::EPSILON;
        let update = exp_avg.clone() * self.corrected_lr / denominator;
        (w - update, [exp_avg, exp_avg_sq])
    }
}

/// Lion, evolved sign momentum (Chen et al. 2023): every weight moves by the same amount, and only
/// one number is kept for each. `w ← w - lr·(sign(β₁m + (1-β₁)g) + λw)`, then `m ← β₂m + (1-β₂)g`.
struct Lion {
    lr: f32,
}

impl Lion {
    /// The paper's constants: of the direction, and of the momentum.
    const BETA1: f32 = 0.9;
    const BETA2: f32 = 0.99;
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
        let direction = momentum.clone() * Self::BETA1 + grad.clone() * (1.0 - Self::BETA1);
        let momentum = momentum * Self::BETA2 + grad * (1.0 - Self::BETA2);
        let kept = w * (decay * -self.lr + 1.0);
        (kept - direction.sign() * self.lr, [momentum])
    }
}

/// Stochastic gradient Langevin dynamics (Welling & Teh 2011): steps with noise of the size that
/// makes the weights wander as samples from their posterior,
/// `w ← w - lr·(g + λw) + √(2·lr/N)·η`, `η ~ N(0, 1)`.
///
/// The papers step by `ε/2` along the gradient of the log posterior, which is `N` times that of our
/// mean loss, and add noise of variance `ε`. With the learning rate `lr = εN/2` a step is the
/// familiar `-lr·g`, and the noise has the variance `2·lr/N`. Weight decay `λ` is the Gaussian
/// prior of variance `1/(λN)`.
struct Sgld {
    lr: f32,
    deviation: f32,
}

/// `2·lr/N`.
fn langevin_variance(config: &OptimizerConfig, step: Step) -> f32 {
    2.0 * step.lr / config.images.max(1) as f32
}

/// The noise of a chunk of weights at a step: a separate random stream, so that it does not
/// depend on which thread draws it.
pub(super) fn langevin_noise(seed: u64, step: u64, chunk: u64) -> Random {
    Random::stream(seed, "langevin noise", step.wrapping_shl(32) | chunk)
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

/// Preconditioned Langevin dynamics (Li et al. 2016): `v ← αv + (1-α)g²`, `G = 1/(√v + 1e-5)`,
/// `w ← w - lr·G·(g + λw) + √(2·lr·G/N)·η` with `α = 0.99`; the drift by `G`'s own change is left
/// out, as in the paper's experiments.
struct Psgld {
    lr: f32,
    variance: f32,
}

impl Psgld {
    /// How slowly the running squares change, and what keeps the preconditioner finite.
    const ALPHA: f32 = 0.99;
    const EPSILON: f32 = 1e-5;
}

impl Rule<1> for Psgld {
    #[inline(always)]
    fn update<E: Element>(
        &self,
        w: E,
        grad: E,
        [squares]: [E; 1],
        decay: E,
        noise: impl FnOnce() -> E,
    ) -> (E, [E; 1]) {
        let squares = squares * Self::ALPHA + grad.clone() * (1.0 - Self::ALPHA) * grad.clone();
        let preconditioner = (squares.clone().sqrt() + Self::EPSILON).recip();
        let drift = preconditioner.clone() * -self.lr * (grad + decay * w.clone());
        let deviation = (preconditioner * self.variance).sqrt();
        (w + (drift + deviation * noise()), [squares])
    }
}
