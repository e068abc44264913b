//! The training run in the window: its phase, curves and progress, and runs that were interrupted.

mod controls;
mod headline;
mod history;
mod interrupted;
mod last_session;
pub mod progress;
mod queue;
mod view;

pub use headline::Headline;
pub use history::{History, RunningMean};
pub use view::{DataImages, LastCheckpoint, Phase, RunView};
