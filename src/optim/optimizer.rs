//! The optimizer of a network, on whatever device its parameters are: its settings, the running
//! average of the weights (Polyak & Juditsky 1992, exponentially weighted), and its state as
//! checkpoints store it.

use candle_core::{Result, Tensor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::adafactor;
use super::cpu::CpuBuffers;
use super::device::DeviceBuffers;
use super::rule::{Step, slots};
use crate::math::packed;
use crate::nn::{BackendKind, DeviceContext, Parameter};
use crate::run_config::{OptimizerKind, RunConfig};

/// Updates parameters by their gradients, and averages them if asked to.
///
/// ```
/// use candle_core::{Device, Tensor};
/// use inkling::nn::{DeviceContext, Parameter};
/// use inkling::optim::{Optimizer, OptimizerConfig};
/// use inkling::run_config::{OptimizerKind, Preset, RunConfig};
///
/// let config = RunConfig {
///     optimizer: OptimizerKind::Sgd,
///     momentum: 0.0,
///     ..RunConfig::preset(Preset::QuickLook)
/// };
/// let weight = Parameter::new("weight", vec![1.0, 2.0], &[2])?;
/// let mut optimizer = Optimizer::new(
///     OptimizerConfig::new(&config, 60_000),
///     std::slice::from_ref(&weight),
///     &DeviceContext::CPU,
///     None,
/// )?;
///
/// weight.set_grad(Some(Tensor::new(&[4.0_f32, -4.0], &Device::Cpu)?));
/// optimizer.step(0.25, 1.0, None)?;
/// assert_eq!(weight.values()?, [0.0, 3.0]);
/// # candle_core::Result::Ok(())
/// ```
pub struct Optimizer {
    config: OptimizerConfig,
    steps: u64,
    /// Without its values, which are in the buffers.
    ema: Option<WeightEma>,
    buffers: Box<dyn Buffers>,
}

pub(super) struct Update {
    pub step: Step,
    pub grad_scale: f32,
    /// The norm that scaled gradients are clipped to.
    pub clip: Option<f64>,
    /// The weight of the updated parameters in their average.
    pub ema_weight: Option<f32>,
}

pub(super) struct Snapshot {
    pub slots: [Vec<Vec<f32>>; MAX_SLOTS],
    pub ema: Option<Vec<Vec<f32>>>,
}

/// The numbers an optimizer keeps for its parameters, next to these, and the step over them.
pub(super) trait Buffers: Send {
    /// See [`Optimizer::gradient_norm`].
    fn gradient_norm(&self) -> Result<LazyScalar>;

    /// Updates parameters, slots and average, and leaves gradients at zero. See
    /// [`Optimizer::step`].
    fn step(&mut self, config: &OptimizerConfig, update: &Update) -> Result<LazyScalar>;

    fn zero_grad(&self);

    /// Exchanges the parameters with their average; nothing if there is none.
    fn swap_ema(&mut self) -> Result<()>;

    /// A copy of slots and average.
    fn read(&self) -> Result<Snapshot>;

    /// Puts back what `read` gave.
    fn write(&mut self, snapshot: Snapshot) -> Result<()>;
}

impl Optimizer {
    /// The optimizer of these parameters, which are all on this device, before its first step. With
    /// `ema_decay` it keeps a running average of them. Parameters that are not trainable are
    /// averaged, but not updated.
    pub fn new(
        config: OptimizerConfig,
        parameters: &[Parameter],
        context: &DeviceContext,
        ema_decay: Option<f64>,
    ) -> Result<Self> {
        let weights = || {
            parameters
                .iter()
                .map(Parameter::values)
                .collect::<Result<_>>()
        };
        let values = ema_decay.map(|_| weights()).transpose()?;
        let buffers: Box<dyn Buffers> = match context.backend.kind() {
            BackendKind::Cpu => Box::new(CpuBuffers::new(&config, parameters, values)),
            BackendKind::Cuda | BackendKind::Composed => {
                Box::new(DeviceBuffers::new(&config, parameters, values, context)?)
            }
        };
        Ok(Self {
            config,
            steps: 0,
            ema: ema_decay.map(|decay| WeightEma::new(decay, Vec::new())),
            buffers,
        })
    }

    /// The L2 norm of all accumulated gradients together; not finite if one of them is not.
    pub fn gradient_norm(&self) -> Result<f64> {
        self.buffers.gradient_norm()?.read()
    }

    /// Updates every parameter with its gradient, which is multiplied by `grad_scale` and clipped
    /// to the global norm `clip`. Leaves gradients at zero. Returns the norm of the scaled
    /// gradients, before clipping: if it is not finite, neither are the weights any more.
    pub fn step(&mut self, lr: f32, grad_scale: f32, clip: Option<f64>) -> Result<LazyScalar> {
        self.steps += 1;
        let step = Step {
            number: self.steps,
            lr,
        };
        let ema_weight = self.ema.as_mut().map(WeightEma::next_weight);
        self.buffers.step(
            &self.config,
            &Update {
                step,
                grad_scale,
                clip,
                ema_weight,
            },
        )
    }

    pub fn zero_grad(&self) {
        self.buffers.zero_grad();
    }

    /// Exchanges the parameters with their average, if there is one; the next call puts them back.
    pub fn swap_ema(&mut self) -> Result<()> {
        self.buffers.swap_ema()
    }

    /// A copy of its state, and of the average.
    pub fn state(&self) -> Result<(OptimizerState, Option<WeightEma>)> {
        let Snapshot { slots, ema } = self.buffers.read()?;
        Ok((
            OptimizerState {
                steps: self.steps,
                slots,
            },
            self.ema
                .as_ref()
                .zip(ema)
                .map(|(ema, values)| ema.with_values(values)),
        ))
    }

    /// Puts back what `state` gave; accumulated gradients are discarded.
    pub fn load_state(&mut self, state: OptimizerState, mut ema: Option<WeightEma>) -> Result<()> {
        self.zero_grad();
        self.steps = state.steps;
        self.buffers.write(Snapshot {
            slots: state.slots,
            ema: ema.as_mut().map(WeightEma::take_values),
        })?;
        self.ema = ema;
        Ok(())
    }
}

/// An optimizer's hyperparameters, but for the learning rate, which a schedule sets at each step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OptimizerConfig {
    pub kind: OptimizerKind,
    /// λ, for parameters that decay.
    pub weight_decay: f32,
    /// μ, for SGD.
    pub momentum: f32,
    /// Whether SGD's momentum is Nesterov's.
    pub nesterov: bool,
    /// Training images, which the noise of Langevin dynamics depends on.
    pub images: u64,
    pub seed: u64,
}

impl OptimizerConfig {
    /// The optimizer of a run on this many training images.
    pub const fn new(config: &RunConfig, images: u64) -> Self {
        Self {
            kind: config.optimizer,
            weight_decay: config.weight_decay as f32,
            momentum: config.momentum as f32,
            nesterov: config.nesterov,
            images,
            seed: config.seed,
        }
    }

    /// How many numbers it keeps for each weight from step to step: 2 for Adam; 0 for Adafactor,
    /// which keeps next to none.
    pub fn numbers_per_weight(&self) -> usize {
        if self.kind == OptimizerKind::Adafactor {
            0
        } else {
            slots(self)
        }
    }

    /// How many numbers each slot has for a parameter of these dimensions.
    pub(super) fn slot_lens(&self, dims: &[usize]) -> [usize; MAX_SLOTS] {
        if self.kind == OptimizerKind::Adafactor {
            return adafactor::slot_lens(dims);
        }
        let used = slots(self);
        std::array::from_fn(|slot| {
            if slot < used {
                dims.iter().product()
            } else {
                0
            }
        })
    }
}

/// The most numbers an optimizer keeps for each weight, or each row and column.
pub(super) const MAX_SLOTS: usize = 2;

/// The state of an optimizer between steps.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Stored")]
pub struct OptimizerState {
    pub(super) steps: u64,
    /// Each slot's numbers for each parameter; empty for slots the optimizer does not have and for
    /// parameters it does not update.
    pub(super) slots: [Vec<Vec<f32>>; MAX_SLOTS],
}

impl OptimizerState {
    /// True when it can be the state of this optimizer of these parameters.
    pub fn fits(&self, config: &OptimizerConfig, parameters: &[Parameter]) -> bool {
        self.slots.iter().enumerate().all(|(slot, numbers)| {
            numbers.iter().map(Vec::len).eq(parameters
                .iter()
                .map(|parameter| slot_lens(config, parameter)[slot]))
        })
    }
}

/// How many numbers each slot has for a parameter.
pub(super) fn slot_lens(config: &OptimizerConfig, parameter: &Parameter) -> [usize; MAX_SLOTS] {
    if parameter.role().is_trainable() {
        config.slot_lens(parameter.dims())
    } else {
        [0; MAX_SLOTS]
    }
}

/// The slots' names in files.
#[derive(Deserialize)]
struct Stored {
    steps: u64,
    #[serde(with = "packed")]
    first: Vec<Vec<f32>>,
    #[serde(with = "packed")]
    second: Vec<Vec<f32>>,
}

impl From<Stored> for OptimizerState {
    fn from(
        Stored {
            steps,
            first,
            second,
        }: Stored,
    ) -> Self {
        Self {
            steps,
            slots: [first, second],
        }
    }
}

// Not through `Stored`: that would copy what is as large as the model.
impl Serialize for OptimizerState {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let [first, second] = &self.slots;
        let mut state = serializer.serialize_struct("OptimizerState", 3)?;
        state.serialize_field("steps", &self.steps)?;
        state.serialize_field("first", &packed::Rows(first))?;
        state.serialize_field("second", &packed::Rows(second))?;
        state.end()
    }
}

/// `a ← d·a + (1-d)·w` after every step, with `d = min(decay, t/(t+9))` at step `t`: the average
/// forgets the start fast while there is little to average (as `tf.train.ExponentialMovingAverage`
/// with its step count), so it is not biased towards the first weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WeightEma {
    decay: f64,
    steps: u64,
    /// The average of each parameter, in the order of the optimizer's.
    #[serde(with = "packed")]
    values: Vec<Vec<f32>>,
}

impl WeightEma {
    /// The average of these weights alone.
    pub const fn new(decay: f64, weights: Vec<Vec<f32>>) -> Self {
        Self {
            decay,
            steps: 0,
            values: weights,
        }
    }

    pub fn values(&self) -> &[Vec<f32>] {
        &self.values
    }

    /// The averaged weights, without which it still counts its steps.
    pub(super) fn take_values(&mut self) -> Vec<Vec<f32>> {
        std::mem::take(&mut self.values)
    }

    pub(super) fn with_values(&self, values: Vec<Vec<f32>>) -> Self {
        Self {
            decay: self.decay,
            steps: self.steps,
            values,
        }
    }

    /// Counts a step; returns the weight of its parameters in the average (`1 - d`).
    pub(super) fn next_weight(&mut self) -> f32 {
        self.steps += 1;
        let steps = self.steps as f64;
        (1.0 - self.decay.min(steps / (steps + 9.0))) as f32
    }
}

/// A number that is known, or a scalar on a device that computes asynchronously.
#[derive(Clone, Debug)]
pub enum LazyScalar {
    Known(f64),
    /// A scalar on a device; reading it waits for the device.
    OnDevice(Tensor),
}

impl LazyScalar {
    /// The number. Waits for the device.
    pub fn read(&self) -> Result<f64> {
        match self {
            Self::Known(value) => Ok(*value),
            Self::OnDevice(tensor) => Ok(f64::from(tensor.to_scalar::<f32>()?)),
        }
    }
}
