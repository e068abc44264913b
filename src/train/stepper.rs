//! Owns what happens between gradients and weights: loss scaling, clipping, the optimiser's step, the running average, and the way back
//! when numbers are numbers no more.
//! Must not know data, epochs or schedules.
//!
//! Whether a step went well is read off its loss and the norm of its gradients, which the optimiser's pass finds anyway. On a device both
//! are read for many steps at once, when somebody wants to see them: until then the device computes ahead, and what it computed from
//! numbers that are none is taken back.

use std::time::{Duration, Instant};

use candle_core::Tensor;
use serde::{Deserialize, Serialize};

use super::metrics::{MetricAccumulator, Metrics};
use super::rollback::{Attempts, Rollback, State, is_finite};
use crate::nn::Net;
use crate::optim::{Descent, LazyScalar, LossScale, OptimizerConfig};
use crate::problem::Problem;
use crate::records::Intervention;
use crate::run_config::{Precision, RunConfig};

/// All that stepper have come to: what an interrupted run needs to go on with them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// What a step changes.
    pub state: State,
    /// Steps back so far.
    pub attempts: Attempts,
    /// Steps skipped so far.
    pub skipped: u64,
}

/// The longest that steps on a device stay pending, and the most of them.
const UNREAD_FOR: Duration = Duration::from_millis(40);
const UNREAD: usize = 64;

/// A step that was taken.
#[derive(Clone, Copy, Debug)]
pub struct CompletedStep {
    /// Which, from 1.
    pub step: u64,
    /// At this learning rate.
    pub learning_rate: f32,
    /// Its loss and its right answers.
    pub metrics: Metrics,
}

/// What is known of steps that was not known before.
#[derive(Clone, Debug, Default)]
pub struct StepReport {
    /// Steps that count, oldest first.
    pub taken: Vec<CompletedStep>,
    /// What was done after them to come to a good end.
    pub intervention: Option<Intervention>,
}

impl StepReport {
    /// This, and what came after it.
    fn and(mut self, after: Self) -> Self {
        self.taken.extend(after.taken);
        Self { taken: self.taken, intervention: after.intervention.or(self.intervention) }
    }
}

/// A step on a device whose figures are not read yet: `[loss, correct, norm]`.
struct PendingStep {
    step: u64,
    learning_rate: f32,
    images: usize,
    figures: Tensor,
}

/// The way from gradients to weights.
pub struct Stepper {
    net: Net,
    descent: Descent,
    loss_scale: Option<LossScale>,
    clip_norm: Option<f64>,
    skipped: u64,
    rollback: Rollback,
    pending: Vec<PendingStep>,
    last_read: Instant,
}

impl Stepper {
    /// For this network, which learns from so many images in so many steps an epoch.
    pub fn new(config: &RunConfig, net: &Net, images: u64, steps_per_epoch: u64) -> Result<Self, Problem> {
        let descent = Descent::new(OptimizerConfig::of(config, images), net, config.weight_averaging)?;
        let loss_scale = (config.precision == Precision::F16).then(LossScale::default);
        let (memory, average) = descent.state()?;
        let start = State { step: 0, weights: net.weights()?, memory, average, loss_scale };
        Ok(Self {
            net: net.clone(),
            descent,
            loss_scale,
            clip_norm: config.clip_norm,
            skipped: 0,
            rollback: Rollback::new(start, Attempts::default(), steps_per_epoch),
            pending: Vec::new(),
            last_read: Instant::now(),
        })
    }

    /// Where an interrupted run can go on from, after so many steps.
    pub fn progress(&self, step: u64) -> Result<Progress, Problem> {
        Ok(Progress { state: self.state(step)?, attempts: self.rollback.attempts(), skipped: self.skipped })
    }

    /// Goes on from there.
    pub fn go_on(&mut self, progress: Progress, steps_per_epoch: u64) -> Result<(), Problem> {
        let Progress { state, attempts, skipped } = progress;
        self.load_state(&state)?;
        self.skipped = skipped;
        self.rollback = Rollback::new(state, attempts, steps_per_epoch);
        Ok(())
    }

    /// Adds the gradients of a part of the step's loss to those gathered.
    pub fn gather(&self, loss: &Tensor) -> candle_core::Result<()> {
        self.net.backward(loss, self.loss_scale.map_or(1.0, |scale| scale.scale()))
    }

    /// Takes step number `step` with the gathered gradients of the loss in `sums`, at `rate` times `rate_factor`.
    pub fn step(&mut self, step: u64, rate: f32, sums: MetricAccumulator) -> Result<StepReport, Problem> {
        let learning_rate = rate * self.rate_factor();
        let scale = self.loss_scale.map_or(1.0, |scale| 1.0 / scale.scale());
        let due = self.rollback.is_due(step - 1);
        // Most steps find their norm in passing. These have to know it before anything moves.
        if due || self.loss_scale.is_some() {
            let before = self.read()?;
            if before.intervention.is_some() {
                // These gradients were computed from weights that are no more.
                return Ok(before);
            }
            let metrics = sums.read()?;
            let norm = self.descent.gradient_norm()? * f64::from(scale);
            if norm.is_finite() && metrics.loss.is_finite() {
                if due && Rollback::is_good(metrics.loss) {
                    self.keep(step - 1)?;
                }
                self.descent.step(learning_rate, scale, self.clip_norm)?;
            }
            return Ok(before.and(self.judge(CompletedStep { step, learning_rate, metrics }, norm)?));
        }
        let images = sums.images;
        let there = sums.there().cloned();
        match (self.descent.step(learning_rate, scale, self.clip_norm)?, there) {
            (LazyScalar::There(norm), Some(sums)) => {
                let figures = Tensor::cat(&[sums, norm.reshape(1)?], 0)?;
                self.pending.push(PendingStep { step, learning_rate, images, figures });
                if self.pending.len() < UNREAD && self.last_read.elapsed() < UNREAD_FOR { Ok(StepReport::default()) } else { self.read() }
            }
            (norm, _) => self.judge(CompletedStep { step, learning_rate, metrics: sums.read()? }, norm.read()?),
        }
    }

    /// Makes sure that the weights are numbers after step number `step`.
    pub fn flush(&mut self, step: u64) -> Result<StepReport, Problem> {
        let before = self.read()?;
        if before.intervention.is_some() || is_finite(&self.net)? {
            return Ok(before);
        }
        let intervention = Some(self.rollback(step)?);
        Ok(before.and(StepReport { taken: Vec::new(), intervention }))
    }

    /// Reads what steps on a device came to. After one that went astray the ones behind it are taken back with it.
    fn read(&mut self) -> Result<StepReport, Problem> {
        self.last_read = Instant::now();
        let pending = std::mem::take(&mut self.pending);
        let mut report = StepReport::default();
        if pending.is_empty() {
            return Ok(report);
        }
        let figures = Tensor::stack(&pending.iter().map(|pending| &pending.figures).collect::<Vec<_>>(), 0)?.to_vec2::<f32>()?;
        for (PendingStep { step, learning_rate, images, .. }, figures) in pending.into_iter().zip(figures) {
            let [loss, correct, norm] = figures.as_slice() else { continue };
            let metrics = Metrics { loss: f64::from(*loss), correct: f64::from(*correct), images, steps: 0 };
            report = report.and(self.judge(CompletedStep { step, learning_rate, metrics }, f64::from(*norm))?);
            if report.intervention.is_some() {
                break;
            }
        }
        Ok(report)
    }

    /// Whether a step whose gradients had this norm went well, and what is done where it did not.
    fn judge(&mut self, taken: CompletedStep, norm: f64) -> Result<StepReport, Problem> {
        if norm.is_finite() && taken.metrics.loss.is_finite() {
            if let Some(scale) = &mut self.loss_scale {
                scale.stepped();
            }
            return Ok(StepReport { taken: vec![taken], intervention: None });
        }
        let intervention = self.repair(taken.step, taken.metrics.loss)?;
        // What is skipped was computed, and tells what the network makes of its images.
        let counts = matches!(intervention, Intervention::SkippedStep { .. });
        Ok(StepReport { taken: if counts { vec![taken] } else { Vec::new() }, intervention: Some(intervention) })
    }

    /// Puts the averaged weights in the place of the last ones, if an average is kept; the next call puts them back.
    pub fn swap_ema(&mut self) -> Result<(), Problem> {
        Ok(self.descent.swap_ema()?)
    }

    /// What every learning rate is multiplied by.
    pub const fn rate_factor(&self) -> f32 {
        self.rollback.rate_factor()
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
            self.descent.zero_grad();
            self.skipped += 1;
            return Ok(Intervention::SkippedStep { step, loss_scale: scale.scale() });
        }
        self.rollback(step)
    }

    fn rollback(&mut self, step: u64) -> Result<Intervention, Problem> {
        let good = self.rollback.rollback().ok_or(Problem::NotFinite { step })?.clone();
        self.load_state(&good)?;
        Ok(Intervention::SteppedBack { step, to_step: good.step, rate_factor: self.rollback.rate_factor(), left: self.rollback.left() })
    }

    fn load_state(&mut self, state: &State) -> Result<(), Problem> {
        let State { step: _, weights, memory, average, loss_scale } = state;
        self.net.set_weights(weights)?;
        self.descent.load_state(memory, average)?;
        self.pending.clear();
        self.loss_scale = *loss_scale;
        Ok(())
    }

    fn keep(&mut self, step: u64) -> Result<(), Problem> {
        let state = self.state(step)?;
        // Infinite weights can have finite gradients: behind a ReLU that they have killed.
        if state.is_finite() {
            self.rollback.keep(state);
        }
        Ok(())
    }

    fn state(&self, step: u64) -> Result<State, Problem> {
        let (memory, average) = self.descent.state()?;
        Ok(State { step, weights: self.net.weights()?, memory, average, loss_scale: self.loss_scale })
    }
}
