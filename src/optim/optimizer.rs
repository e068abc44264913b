//! The optimiser of a network, on whatever device its parameters are.

use candle_core::Result;

use super::config::OptimizerConfig;
use super::cpu::CpuBuffers;
use super::device::DeviceBuffers;
use super::ema::WeightEma;
use super::lazy_scalar::LazyScalar;
use super::rule::Step;
use super::state::{MAX_SLOTS, OptimizerState};
use crate::nn::Parameter;
use crate::nn::{BackendKind, DeviceContext};

/// Updates parameters by their gradients, and averages them if asked to.
pub struct Optimizer {
    config: OptimizerConfig,
    steps: u64,
    /// Without its values, which are in the buffers.
    ema: Option<WeightEma>,
    buffers: Box<dyn Buffers>,
}

/// One step.
pub(super) struct Update {
    pub step: Step,
    /// What gradients are multiplied by.
    pub grad_scale: f32,
    /// The norm that scaled gradients are clipped to.
    pub clip: Option<f64>,
    /// The weight of the updated parameters in their average.
    pub ema_weight: Option<f32>,
}

/// A copy of what buffers hold.
pub(super) struct Snapshot {
    pub slots: [Vec<Vec<f32>>; MAX_SLOTS],
    pub ema: Option<Vec<Vec<f32>>>,
}

/// The numbers an optimiser keeps for its parameters, next to these, and the step over them.
pub(super) trait Buffers: Send {
    /// See [`Optimizer::gradient_norm`].
    fn gradient_norm(&self) -> Result<LazyScalar>;

    /// Updates parameters, slots and average, and leaves gradients at zero. See
    /// [`Optimizer::step`].
    fn step(&mut self, config: &OptimizerConfig, update: &Update) -> Result<LazyScalar>;

    /// Leaves gradients at zero.
    fn zero_grad(&self);

    /// Exchanges the parameters with their average; nothing where there is none.
    fn swap_ema(&mut self) -> Result<()>;

    /// A copy of slots and average.
    fn read(&self) -> Result<Snapshot>;

    /// Puts back what `read` gave.
    fn write(&mut self, snapshot: Snapshot) -> Result<()>;
}

impl Optimizer {
    /// The optimiser of these parameters, which are all on this device, before its first step. With
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
    /// to the global norm `clip`. Leaves gradients at zero. Gives the norm of the scaled gradients,
    /// before clipping: if it is not finite, neither are the weights any more.
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

    /// Discards accumulated gradients.
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
