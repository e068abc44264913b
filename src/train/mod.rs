//! Owns training: the loop (`session`, readable top to bottom), the validation split, and the figures it reports.
//! Must not know windows, commands, or where runs are kept.

mod hold_out;
mod observer;
mod outcome;
mod pulse;
mod session;

pub use hold_out::{HoldOut, gather};
pub use observer::{Flow, Observer};
pub use outcome::Outcome;
pub use session::{MICRO_BATCH, check, train};
