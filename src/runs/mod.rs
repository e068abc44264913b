//! Owns run folders: what a finished run leaves on disk, and finding it again. Must not know windows, nor how a run came about.
//!
//! A run's folder holds `model.safetensors`, `run.json` (the run's summary) and `history.csv` (a line per epoch). It is made
//! under another name and renamed when complete, so a folder that is there is whole. While a run is under way, what it could go on from
//! after an interruption is kept elsewhere, in the folder of checkpoints.

mod checkpoint_file;
mod checkpoint_writer;
mod checkpoints;
mod error;
mod folder;
mod store;

pub use checkpoint_writer::{CheckpointWriter, Scribe};
pub use checkpoints::{Checkpoints, InterruptedRun, Place};
pub use error::RunError;
pub use folder::{check_target, keep_in, load, save_to};
pub use store::{RunEntry, Store};
