//! From gradients to weights: loss scaling, clipping, the optimizer's step, the running average,
//! and the rollback when training diverges.
//!
//! Whether a step went well is seen from its loss and the norm of its gradients, which the
//! optimizer's pass finds anyway. A GPU computes ahead of what is read: when a step turns out to
//! have diverged, those after it are rolled back with it.

use std::sync::Arc;

use candle_core::Tensor;
use serde::{Deserialize, Serialize};

use super::metrics::{CompletedStep, MetricAccumulator, PendingSteps, StepReport};
use crate::math::packed;
use crate::nn::{Net, Parameter};
use crate::optim::{LossScale, Optimizer, OptimizerConfig, OptimizerState, WeightEma};
use crate::problem::Problem;
use crate::records::{Divergence, Intervention};
use crate::run_config::{Precision, RunConfig};
use crate::train::TrainError;

/// Takes the optimizer steps of a run.
pub struct Stepper {
    net: Net,
    optimizer: Optimizer,
    loss_scale: Option<LossScale>,
    clip_norm: Option<f64>,
    skipped: u64,
    rollback: Rollback,
    pending: PendingSteps,
}

impl Stepper {
    /// For this network, which is trained on this many images.
    pub fn new(
        config: &RunConfig,
        net: &Net,
        images: u64,
        steps_per_epoch: u64,
    ) -> Result<Self, Problem> {
        let optimizer = Optimizer::new(
            OptimizerConfig::new(config, images),
            net.parameters(),
            net.context(),
            config.weight_averaging,
        )?;
        let loss_scale = (config.precision == Precision::F16).then(LossScale::default);
        let (state, ema) = optimizer.state()?;
        let start = TrainState {
            step: 0,
            weights: net.weights()?,
            optimizer: state,
            ema,
            loss_scale,
        };
        Ok(Self {
            net: net.clone(),
            optimizer,
            loss_scale,
            clip_norm: config.clip_norm,
            skipped: 0,
            rollback: Rollback::new(Arc::new(start), RollbackBudget::default(), steps_per_epoch),
            pending: PendingSteps::new(),
        })
    }

    /// What an interrupted run can be resumed from, after this many steps, all of which were read;
    /// `None` if the weights are not finite, so that the next step will roll them back.
    pub fn state(&self, step: u64) -> Result<Option<StepperState>, Problem> {
        let state = self.train_state(step)?;
        let snapshot = Arc::clone(&self.rollback.snapshot);
        let budget = self.rollback.budget;
        let skipped = self.skipped;
        Ok(state.is_finite().then_some(StepperState {
            state,
            snapshot,
            budget,
            skipped,
        }))
    }

    pub fn load_state(&mut self, state: StepperState, steps_per_epoch: u64) -> Result<(), Problem> {
        let StepperState {
            state,
            snapshot,
            budget,
            skipped,
        } = state;
        self.load_train_state(&state)?;
        self.skipped = skipped;
        self.rollback = Rollback::new(snapshot, budget, steps_per_epoch);
        Ok(())
    }

    /// Adds the gradients of a micro-batch's loss to those accumulated.
    pub fn backward(&self, loss: &Tensor) -> candle_core::Result<()> {
        self.net
            .backward(loss, self.loss_scale.map_or(1.0, |scale| scale.scale()))
    }

    /// Takes the step from number `before` to number `step` with the accumulated gradients of the
    /// micro-batches in `metrics`, at `lr` times what rollbacks have made of it.
    pub fn step(
        &mut self,
        before: u64,
        step: u64,
        lr: f32,
        metrics: MetricAccumulator,
    ) -> Result<StepReport, Problem> {
        let lr = lr * self.rollback.budget.lr_factor;
        // An overflow of scaled gradients is ordinary and must not reach the weights; and a
        // snapshot must be good.
        if self.loss_scale.is_some() || self.rollback.is_due(before) {
            return self.checked_step(before, step, lr, metrics);
        }
        let norm = self.optimizer.step(lr, 1.0, self.clip_norm)?;
        self.pending.push(step, lr, metrics, norm)?;
        if self.pending.are_due() {
            self.read_pending()
        } else {
            Ok(StepReport::default())
        }
    }

    /// Makes sure that the weights after step number `step` are finite. Waits for the device.
    pub fn flush(&mut self, step: u64) -> Result<StepReport, Problem> {
        let report = self.read_pending()?;
        if report.intervention.is_some() || is_finite(&self.net)? {
            return Ok(report);
        }
        Ok(report.and(self.roll_back(step, Divergence::NotFinite)?))
    }

    /// Does this while the network has the average of its weights, if there is one.
    pub fn with_average<T, E: From<candle_core::Error>>(
        &mut self,
        work: impl FnOnce(&Net) -> Result<T, E>,
    ) -> Result<T, E> {
        self.optimizer.swap_ema()?;
        let done = work(&self.net);
        self.optimizer.swap_ema()?;
        done
    }

    /// The loss scale, in f16.
    pub fn loss_scale(&self) -> Option<f32> {
        self.loss_scale.map(|scale| scale.scale())
    }

    pub const fn skipped(&self) -> u64 {
        self.skipped
    }

    /// A step that looks at its loss and gradients before it changes the weights, and takes a
    /// snapshot if one is due.
    fn checked_step(
        &mut self,
        before: u64,
        step: u64,
        learning_rate: f32,
        metrics: MetricAccumulator,
    ) -> Result<StepReport, Problem> {
        let earlier = self.read_pending()?;
        if earlier.intervention.is_some() {
            // These gradients were computed with weights that have been rolled back.
            return Ok(earlier);
        }
        let grad_scale = self.loss_scale.map_or(1.0, |scale| 1.0 / scale.scale());
        let completed = CompletedStep {
            step,
            learning_rate,
            metrics: metrics.read()?,
        };
        let norm = self.optimizer.gradient_norm()? * f64::from(grad_scale);
        if divergence_of_step(completed.metrics.loss, norm).is_none() {
            if self.rollback.is_due(before)
                && Rollback::is_good(completed.metrics.loss, self.net.classes())
            {
                self.rollback.offer(self.train_state(before)?);
            }
            self.optimizer
                .step(learning_rate, grad_scale, self.clip_norm)?;
        }
        Ok(earlier.and(self.judge(completed, norm)?))
    }

    /// Reads the figures of steps that were taken without waiting for them, up to the first that
    /// diverged: those after it are rolled back with it. Waits for the device.
    pub fn read_pending(&mut self) -> Result<StepReport, Problem> {
        let mut report = StepReport::default();
        for (completed, norm) in self.pending.read()? {
            report = report.and(self.judge(completed, norm)?);
            if report.intervention.is_some() {
                break;
            }
        }
        Ok(report)
    }

    /// Reports a step whose gradients had this norm, and intervenes if it did not go well.
    fn judge(&mut self, completed: CompletedStep, norm: f64) -> Result<StepReport, Problem> {
        let Some(cause) = divergence_of_step(completed.metrics.loss, norm) else {
            if let Some(scale) = &mut self.loss_scale {
                scale.stepped();
            }
            return Ok(StepReport {
                completed: vec![completed],
                intervention: None,
            });
        };
        // A lower loss scale prevents an overflow of gradients. It does not help if the loss
        // itself has diverged.
        if divergence_of_step(completed.metrics.loss, 0.0).is_none()
            && let Some(scale) = &mut self.loss_scale
            && scale.overflowed()
        {
            self.optimizer.zero_grad();
            self.skipped += 1;
            let intervention = Intervention::SkippedStep {
                step: completed.step,
                loss_scale: scale.scale(),
            };
            // The step counts: its loss shows how well the network does.
            return Ok(StepReport {
                completed: vec![completed],
                intervention: Some(intervention),
            });
        }
        self.roll_back(completed.step, cause)
    }

    fn roll_back(&mut self, step: u64, cause: Divergence) -> Result<StepReport, Problem> {
        let good = self
            .rollback
            .rollback()
            .ok_or(TrainError::Diverged { step, cause })?;
        self.load_train_state(&good)?;
        let (lr_factor, left) = (self.rollback.budget.lr_factor, self.rollback.budget.left);
        let intervention = Some(Intervention::RolledBack {
            step,
            to_step: good.step,
            lr_factor,
            left,
            cause,
        });
        Ok(StepReport {
            completed: Vec::new(),
            intervention,
        })
    }

    fn load_train_state(&mut self, state: &TrainState) -> Result<(), Problem> {
        let TrainState {
            step: _,
            weights,
            optimizer,
            ema,
            loss_scale,
        } = state;
        self.net.set_weights(weights)?;
        self.optimizer.load_state(optimizer.clone(), ema.clone())?;
        self.pending.clear();
        self.loss_scale = *loss_scale;
        Ok(())
    }

    fn train_state(&self, step: u64) -> Result<TrainState, Problem> {
        let (optimizer, ema) = self.optimizer.state()?;
        Ok(TrainState {
            step,
            weights: self.net.weights()?,
            optimizer,
            ema,
            loss_scale: self.loss_scale,
        })
    }
}

/// True when every weight of the network is finite.
fn is_finite(net: &Net) -> candle_core::Result<bool> {
    // A finite number times zero is zero; NaN and infinity become NaN.
    let sums = net
        .parameters()
        .iter()
        .map(|parameter| (parameter.tensor() * 0.0)?.sum_all());
    Ok(
        Tensor::stack(&sums.collect::<candle_core::Result<Vec<_>>>()?, 0)?
            .sum_all()?
            .to_scalar::<f32>()?
            == 0.0,
    )
}

/// The weights and all that decides how the next step changes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainState {
    pub step: u64,
    #[serde(with = "packed")]
    pub weights: Vec<Vec<f32>>,
    pub optimizer: OptimizerState,
    pub ema: Option<WeightEma>,
    pub loss_scale: Option<LossScale>,
}

impl TrainState {
    /// True when it can be the state of this network with this optimizer, and is finite.
    pub fn fits(&self, config: &RunConfig, optimizer: &OptimizerConfig, net: &Net) -> bool {
        let averaged = self.ema.as_ref().map(|ema| have_lens_of(ema.values(), net));
        have_lens_of(&self.weights, net)
            && self.optimizer.fits(optimizer, net.parameters())
            && averaged == config.weight_averaging.map(|_| true)
            && self.is_finite()
    }

    /// True when every weight and every averaged one is finite.
    pub fn is_finite(&self) -> bool {
        let averaged = self.ema.iter().flat_map(WeightEma::values);
        self.weights
            .iter()
            .chain(averaged)
            .flatten()
            .all(|value| value.is_finite())
    }
}

/// The state that an interrupted run needs for its next step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepperState {
    pub state: TrainState,
    pub snapshot: Arc<TrainState>,
    pub budget: RollbackBudget,
    /// Steps skipped so far because a gradient overflowed.
    pub skipped: u64,
}

/// True when these can be the weights of this network.
pub fn have_lens_of(weights: &[Vec<f32>], net: &Net) -> bool {
    weights
        .iter()
        .map(Vec::len)
        .eq(net.parameters().iter().map(Parameter::len))
}

/// Rollbacks after which a run gives up.
const MAX_ROLLBACKS: u32 = 3;
const SNAPSHOT_EVERY: u64 = 200;
/// A run whose loss is more than this many times the loss of guessing is about to diverge: it is
/// not a state to go back to, though it is still finite.
const MAX_LOSS: f64 = 2.0;

/// No step of a run that learns has such a loss. The first ones at a high learning rate, or with
/// pSGLD's noise, may reach a million.
const EXPLODED_LOSS: f64 = 1e12;

/// How a step diverged that had this loss and gradients of this norm; `None` for one that did not.
pub fn divergence_of_step(loss: f64, gradient_norm: f64) -> Option<Divergence> {
    if !loss.is_finite() || !gradient_norm.is_finite() {
        Some(Divergence::NotFinite)
    } else {
        (loss > EXPLODED_LOSS).then_some(Divergence::Exploded)
    }
}

/// The rollbacks a run has left, and how much they have lowered its learning rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RollbackBudget {
    left: u32,
    /// The factor of rollbacks on every learning rate.
    lr_factor: f32,
}

impl Default for RollbackBudget {
    fn default() -> Self {
        Self {
            left: MAX_ROLLBACKS,
            lr_factor: 1.0,
        }
    }
}

#[derive(Debug)]
pub struct Rollback {
    snapshot: Arc<TrainState>,
    snapshot_every: u64,
    budget: RollbackBudget,
}

impl Rollback {
    /// Starts with a good state: a new run's, or the one a resumed run had.
    pub fn new(snapshot: Arc<TrainState>, budget: RollbackBudget, steps_per_epoch: u64) -> Self {
        Self {
            snapshot,
            snapshot_every: SNAPSHOT_EVERY.min(steps_per_epoch.max(1)),
            budget,
        }
    }

    /// True when the state after `steps_done` steps should become the snapshot, if it is good.
    pub fn is_due(&self, steps_done: u64) -> bool {
        steps_done >= self.snapshot.step + self.snapshot_every
    }

    /// True when a state with this loss is good for a network with this many classes, as long as
    /// its weights are finite.
    pub fn is_good(loss: f64, classes: usize) -> bool {
        loss < MAX_LOSS * (classes as f64).ln()
    }

    /// Takes a state with a good loss as the new snapshot.
    pub fn offer(&mut self, state: TrainState) {
        // Weights may be infinite though gradients are finite: behind a ReLU that is dead because
        // of them.
        if state.is_finite() {
            self.snapshot = Arc::new(state);
        }
    }

    /// The state to go back to, from where the run trains at half its learning rate; `None` when no
    /// rollback is left.
    pub fn rollback(&mut self) -> Option<Arc<TrainState>> {
        let RollbackBudget { left, lr_factor } = self.budget;
        self.budget = RollbackBudget {
            left: left.checked_sub(1)?,
            lr_factor: lr_factor / 2.0,
        };
        Some(Arc::clone(&self.snapshot))
    }
}
