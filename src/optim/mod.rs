//! Owns how weights follow gradients: optimisers and learning-rate schedules.
//! Must not know models, data or the training loop.

mod adamw;
mod schedule;
mod sgd;

pub use adamw::AdamW;
pub use schedule::Schedule;
pub use sgd::Sgd;

use candle_core::Result;

use crate::nn::Parameter;
use crate::run_config::OptimizerKind;

/// Numbers one task updates. The update of each number stands alone, so this decides nothing but speed.
const CHUNK: usize = 1 << 14;

/// A rule that moves weights by their gradients.
pub trait Optimizer: Send {
    /// Moves every parameter once and leaves its gradient at zero.
    fn step(&mut self, learning_rate: f32) -> Result<()>;
}

/// The optimiser of this kind for these parameters.
pub fn build(kind: OptimizerKind, parameters: &[Parameter], weight_decay: f32) -> Box<dyn Optimizer> {
    match kind {
        OptimizerKind::AdamW => Box::new(AdamW::new(parameters, weight_decay)),
        OptimizerKind::Sgd => Box::new(Sgd::new(parameters, weight_decay)),
    }
}
