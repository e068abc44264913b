//! Owns training: the loop (`session`, readable top to bottom), the validation split, and the figures it reports.
//! Must not know windows, commands, or where runs are kept.

mod batches;
mod checkpoint;
mod device_batches;
mod hold_out;
mod keeper;
mod loader;
mod memory;
mod observer;
mod outcome;
mod parts;
mod plan;
mod pulse;
mod recovery;
mod session;
mod tally;
mod updates;

pub use checkpoint::{Checkpoint, CheckpointCard};
pub use hold_out::{HoldOut, held_back};
pub use loader::{Loader, Shuffle};
pub use memory::{gpu_memory_needed, memory_needed};
pub use observer::{Flow, Observer};
pub use outcome::Outcome;
pub use plan::check;
pub use session::{micro_batch, train};
