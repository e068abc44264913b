//! Owns what happens between gradients and weights: loss scaling, clipping, the optimiser's step, the running average, and the way back
//! when numbers are numbers no more.
//! Must not know data, epochs or schedules.
//!
//! Whether a step went well is read off the norm of its gradients, which the optimiser's pass finds anyway: one number a step, which
//! holds for a device as well, instead of a loss that somebody would have to wait for.

use candle_core::Tensor;
use serde::{Deserialize, Serialize};

use super::recovery::{Attempts, Recovery, State, is_finite};
use crate::nn::Net;
use crate::optim::{Average, LossScale, Optimizer, Settings};
use crate::problem::Problem;
use crate::protocol::Intervention;
use crate::run_config::{Precision, RunConfig};

/// All that updates have come to: what an interrupted run needs to go on with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// What a step changes.
    pub state: State,
    /// Steps back so far.
    pub attempts: Attempts,
    /// Steps skipped so far.
    pub skipped: u64,
}

/// The way from gradients to weights.
pub struct Updates {
    net: Net,
    optimizer: Optimizer,
    average: Option<Average>,
    loss_scale: Option<LossScale>,
    clip_norm: Option<f64>,
    skipped: u64,
    recovery: Recovery,
}

impl Updates {
    /// For this network, which learns from so many images in so many steps an epoch.
    pub fn new(config: &RunConfig, net: &Net, images: u64, steps_per_epoch: u64) -> Result<Self, Problem> {
        let optimizer = Optimizer::new(Settings::of(config, images), net.parameters());
        let weights = net.weights()?;
        let average = config.weight_averaging.map(|decay| Average::new(decay, weights.clone()));
        let loss_scale = (config.precision == Precision::F16).then(LossScale::default);
        let start = State { step: 0, weights, memory: optimizer.memory().clone(), average: average.clone(), loss_scale };
        Ok(Self {
            net: net.clone(),
            optimizer,
            average,
            loss_scale,
            clip_norm: config.clip_norm,
            skipped: 0,
            recovery: Recovery::new(start, Attempts::default(), steps_per_epoch),
        })
    }

    /// Where an interrupted run can go on from, after so many steps.
    pub fn progress(&self, step: u64) -> Result<Progress, Problem> {
        Ok(Progress { state: self.state(step)?, attempts: self.recovery.attempts(), skipped: self.skipped })
    }

    /// Goes on from there.
    pub fn go_on(&mut self, progress: Progress, steps_per_epoch: u64) -> Result<(), Problem> {
        let Progress { state, attempts, skipped } = progress;
        self.take_back(&state)?;
        self.skipped = skipped;
        self.recovery = Recovery::new(state, attempts, steps_per_epoch);
        Ok(())
    }

    /// Adds the gradients of a part of the step's loss to those gathered.
    pub fn gather(&self, loss: &Tensor) -> Result<(), Problem> {
        self.net.backward(loss, self.loss_scale.map_or(1.0, |scale| scale.scale()))?;
        Ok(())
    }

    /// Takes step number `step` with the gathered gradients of `loss`, at `rate` times `rate_factor`; gives what was done instead if it
    /// could not be.
    pub fn step(&mut self, step: u64, rate: f32, loss: f64) -> Result<Option<Intervention>, Problem> {
        let mut scale = self.loss_scale.map_or(1.0, |scale| 1.0 / scale.scale());
        let due = self.recovery.is_due(step - 1, loss);
        // Most steps find their norm in passing. These have to know it before anything moves.
        if due || self.loss_scale.is_some() || self.clip_norm.is_some() {
            let norm = self.optimizer.gradient_norm() * f64::from(scale);
            if !norm.is_finite() || !loss.is_finite() {
                return self.repair(step, loss).map(Some);
            }
            if due {
                self.keep(step - 1)?;
            }
            if let Some(most) = self.clip_norm.filter(|most| norm > *most) {
                scale *= (most / norm) as f32;
            }
        }
        let norm = self.optimizer.step(rate * self.rate_factor(), scale, self.average.as_mut())?;
        if !norm.is_finite() || !loss.is_finite() {
            return self.repair(step, loss).map(Some);
        }
        if let Some(scale) = &mut self.loss_scale {
            scale.stepped();
        }
        Ok(None)
    }

    /// Makes sure that the weights are numbers after step number `step`, whose gradients were.
    pub fn settle(&mut self, step: u64) -> Result<Option<Intervention>, Problem> {
        if is_finite(&self.net)? { Ok(None) } else { self.step_back(step).map(Some) }
    }

    /// Puts the averaged weights in the place of the last ones, if an average is kept; the next call puts them back.
    pub fn exchange_average(&mut self) -> Result<(), Problem> {
        Ok(self.average.as_mut().map_or(Ok(()), |average| average.exchange(self.net.parameters()))?)
    }

    /// What every learning rate is multiplied by.
    pub const fn rate_factor(&self) -> f32 {
        self.recovery.rate_factor()
    }

    /// What the loss is multiplied by, in f16.
    pub fn loss_scale(&self) -> Option<f32> {
        self.loss_scale.map(|scale| scale.scale())
    }

    /// Steps skipped so far.
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// An overflow that a lower loss scale prevents costs its step; anything else leads back.
    fn repair(&mut self, step: u64, loss: f64) -> Result<Intervention, Problem> {
        if loss.is_finite()
            && let Some(scale) = &mut self.loss_scale
            && scale.overflowed()
        {
            self.optimizer.forget_gradients();
            self.skipped += 1;
            return Ok(Intervention::SkippedStep { step, loss_scale: scale.scale() });
        }
        self.step_back(step)
    }

    fn step_back(&mut self, step: u64) -> Result<Intervention, Problem> {
        let good = self.recovery.step_back().ok_or(Problem::NotFinite { step })?.clone();
        self.take_back(&good)?;
        Ok(Intervention::SteppedBack { step, to_step: good.step, rate_factor: self.recovery.rate_factor(), left: self.recovery.left() })
    }

    fn take_back(&mut self, state: &State) -> Result<(), Problem> {
        let State { step: _, weights, memory, average, loss_scale } = state;
        self.net.set_weights(weights)?;
        self.optimizer.forget_gradients();
        self.optimizer.remember(memory);
        self.average.clone_from(average);
        self.loss_scale = *loss_scale;
        Ok(())
    }

    fn keep(&mut self, step: u64) -> Result<(), Problem> {
        let state = self.state(step)?;
        // Infinite weights can have finite gradients: behind a ReLU that they have killed.
        if state.is_finite() {
            self.recovery.keep(state);
        }
        Ok(())
    }

    fn state(&self, step: u64) -> Result<State, Problem> {
        let Self { net, optimizer, average, loss_scale, .. } = self;
        let memory = optimizer.memory().clone();
        Ok(State { step, weights: net.weights()?, memory, average: average.clone(), loss_scale: *loss_scale })
    }
}
