//! Owns how weights follow gradients: optimisers, learning-rate schedules, clipping, loss scaling, weight averaging.
//! Must not know models, data or the training loop.

mod adam;
mod chunks;
mod descent;
mod device;
mod ema;
mod langevin;
mod loss_scale;
mod optimizer;
mod schedule;
mod sgd;

pub use descent::{Descent, LazyScalar};
pub use ema::WeightEma;
pub use loss_scale::LossScale;
pub use optimizer::{Optimizer, OptimizerConfig, OptimizerState, Step};
pub use schedule::Schedule;
