//! Saved runs: the folder that a finished run leaves on disk, and the checkpoints of runs in
//! progress or interrupted. Does not depend on windows.
//!
//! A run's folder contains `model.safetensors`, `run.json` (the run's summary), `history.csv` (a
//! line per epoch) and `steps.csv` (a line per step, or per several of a long run). It is written
//! under another name and renamed when complete, so a folder that exists is whole. Runs with
//! Langevin dynamics leave samples from the posterior of their weights as well, in
//! `sample-01.safetensors` and so on. `step-000100.safetensors` and the like are snapshots: the
//! network as it was during the run. `annotation.json`, with the run's name, note, tags and star,
//! is added when a person gives it one, and `evaluation.json` when a person has its model
//! evaluated. Checkpoints, from which an interrupted run can be resumed, are in a folder of their
//! own.

mod checkpoint_file;
mod checkpoint_writer;
mod checkpoints;
mod error;
mod folder;
mod record_cards;
mod repeats;
mod store;

pub use checkpoint_file::{read as read_checkpoint, write as write_checkpoint};
pub use checkpoint_writer::{CheckpointThread, CheckpointWriter};
pub use checkpoints::{CHECKPOINT, CheckpointFolder, Checkpoints, InterruptedRun};
pub use error::RunError;
pub use folder::{FinishedRun, RunContents, check_target, keep_in, load, load_steps, save_to};
pub use record_cards::{CardError, hard_images};
pub use repeats::{Repeats, Reproduction, missing_repetitions, reproduced_config};
pub use store::{
    CURRENT_RUN, LAST_RUN, LATEST, RunEntry, STARTER_MODEL, Store, check_disk_space, is_reserved,
    named, same_title, set_titles,
};
