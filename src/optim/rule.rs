//! What an update rule is, and which one an optimiser has.

use std::ops::{Add, Div, Mul, Sub};

use super::adafactor::Adafactor;
use super::adam::Adam;
use super::config::OptimizerConfig;
use super::langevin::{Psgld, Sgld};
use super::lion::Lion;
use super::sgd::Sgd;
use crate::run_config::OptimizerKind;

/// What a rule computes with: the number of one weight, or a tensor with the numbers of all.
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

/// Which step it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Counted from 1.
    pub number: u64,
    /// The learning rate.
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

/// What is done with a rule once it is known which one it is.
pub(super) trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<const SLOTS: usize>(self, rule: &impl Rule<SLOTS>) -> Self::Output;

    /// Does it with the one that is not written for single weights.
    fn visit_adafactor(self, rule: &Adafactor) -> Self::Output;
}

/// Hands `visitor` the rule of this optimiser at this step.
pub(super) fn dispatch<V: Visitor>(config: &OptimizerConfig, step: Step, visitor: V) -> V::Output {
    match config.kind {
        OptimizerKind::AdamW => visitor.visit(&Adam::new(true, step)),
        OptimizerKind::Sgd => visitor.visit(&Sgd::new(config, step)),
        OptimizerKind::Adam => visitor.visit(&Adam::new(false, step)),
        OptimizerKind::Adafactor => visitor.visit_adafactor(&Adafactor::new(step)),
        OptimizerKind::Lion => visitor.visit(&Lion::new(step)),
        OptimizerKind::Sgld => visitor.visit(&Sgld::new(config, step)),
        OptimizerKind::Psgld => visitor.visit(&Psgld::new(config, step)),
    }
}

/// How many slots an optimiser has.
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
