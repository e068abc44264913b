//! How weights follow gradients: optimisers, learning-rate schedules, gradient clipping, loss
//! scaling and weight averaging.
//!
//! The formula of an optimiser stands once, in a file of its own, written for any
//! [`rule::Element`]: `cpu` evaluates it for one weight after the other, in place, and `device` for
//! all weights at once as tensors. Adafactor's looks at whole parameters, so it stands for both.
//! Only CUDA's fused kernel repeats those of Adam and SGD, in C; `tests/optim/devices.rs` compares
//! them.
//!
//! To add one: its kind in `run_config`, its formula here, and its line in [`rule::dispatch`].
//!
//! Of `nn` it depends on parameters and devices, but not on networks; it does not depend on data or
//! the training loop.

#![warn(missing_docs)]

mod adafactor;
mod adam;
mod chunks;
mod config;
mod cpu;
mod device;
mod ema;
mod langevin;
mod lazy_scalar;
mod lion;
mod loss_scale;
mod optimizer;
mod row;
mod rule;
mod schedule;
mod sgd;
mod state;

pub use config::OptimizerConfig;
pub use ema::WeightEma;
pub use lazy_scalar::LazyScalar;
pub use loss_scale::LossScale;
pub use optimizer::Optimizer;
pub use schedule::Schedule;
pub use state::OptimizerState;
