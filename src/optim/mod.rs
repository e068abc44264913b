//! How weights follow gradients: optimizers, learning-rate schedules, gradient clipping, loss
//! scaling and weight averaging.
//!
//! The formula of an optimizer stands once, in `rule`, written for any
//! [`rule::Element`]: `cpu` evaluates it for one weight after the other, in place, and `device` for
//! all weights at once as tensors. Adafactor's looks at whole parameters, so it stands for both.
//! Only CUDA's fused kernel repeats those of Adam and SGD, in C; `tests/optim/devices.rs` compares
//! them.
//!
//! To add one: its kind in `run_config`, its formula here, and its line in [`rule::dispatch`].
//!
//! Of `nn` it depends on parameters and devices, but not on networks; it does not depend on data or
//! the training loop.

mod adafactor;
mod cpu;
mod device;
mod optimizer;
mod rule;
mod schedule;

pub use optimizer::{LazyScalar, Optimizer, OptimizerConfig, OptimizerState, WeightEma};
pub use schedule::{LossScale, Schedule};
