//! Owns how weights follow gradients: optimisers, learning-rate schedules, clipping, loss scaling, weight averaging.
//! Must not know models, data or the training loop.

mod adam;
mod average;
mod descent;
mod device;
mod langevin;
mod loss_scale;
mod optimizer;
mod pieces;
mod schedule;
mod sgd;

pub use average::Average;
pub use descent::{Descent, Figure};
pub use loss_scale::LossScale;
pub use optimizer::{Memory, Optimizer, Settings, Step};
pub use schedule::Schedule;
