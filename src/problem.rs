//! Owns the one error type that crosses rooms: the union of each room's own errors, as plain data.
//! Must not hold prose for people: `app::messages` turns each into what happened and what to do.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::run_config::ConfigProblem;

/// Anything that can go wrong below the window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Problem {
    /// A run was asked for that cannot be.
    #[error(transparent)]
    Config(#[from] ConfigProblem),
    /// Training or test data could not be had.
    #[error(transparent)]
    Data(#[from] crate::data::DataError),
    /// A picture or an ink file could not be read.
    #[error(transparent)]
    Ink(#[from] crate::ink::InkError),
    /// A model file could not be read.
    #[error(transparent)]
    Model(#[from] crate::nn::ModelError),
    /// A run's folder cannot be used.
    #[error(transparent)]
    Run(#[from] crate::runs::RunError),
    /// A model could not be exported.
    #[error(transparent)]
    Export(#[from] crate::export::ExportError),
    /// A file could not be imported.
    #[error(transparent)]
    Import(#[from] crate::import::ImportError),
    /// Something could not be written.
    #[error("cannot write {path}: {reason}")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// A folder could not be shown in the file manager.
    #[error("cannot show {path}: {reason}")]
    Show {
        /// The folder.
        path: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// A run is under way already.
    #[error("a run is under way already")]
    Busy,
    /// No run or model answers to that reference any more.
    #[error("that run is over")]
    NoSuchRun,
    /// The loss stopped being a number.
    #[error("the loss is not a finite number at step {step}")]
    NotFinite {
        /// The step, from 1.
        step: u64,
    },
    /// An interrupted run cannot go on.
    #[error("the run cannot go on: {reason}")]
    CannotGoOn {
        /// What stands against it.
        reason: String,
    },
    /// A tensor operation failed.
    #[error("computation failed: {message}")]
    Compute {
        /// candle's words.
        message: String,
    },
    /// A part of a batch took more memory than there is, and could not be made any smaller.
    #[error("out of memory: {message}")]
    OutOfMemory {
        /// What was short, in the device's words or ours.
        message: String,
    },
    /// The engine panicked.
    #[error("the engine broke: {message}")]
    Panicked {
        /// The panic's words.
        message: String,
    },
    /// A device could not be tested.
    #[error("the self-test came to no result: {reason}")]
    SelfTest {
        /// Why.
        reason: String,
    },
    /// The process the engine was in is gone.
    #[error(transparent)]
    EngineExited(#[from] EngineExit),
    /// The engine is gone and did not come back.
    #[error("the engine is gone")]
    EngineGone,
}

/// How an engine in a process of its own was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum EngineExit {
    /// Its process could not be started.
    #[error("the engine could not be started: {reason}")]
    NotStarted {
        /// The system's words.
        reason: String,
    },
    /// Its process ended without being asked to.
    #[error("the engine ended with {status}: {words}")]
    Ended {
        /// "signal: 9 (SIGKILL)", "exit status: 1".
        status: String,
        /// The last lines it wrote on its standard error; may be empty.
        words: String,
    },
    /// It gave no sign of life and was ended.
    #[error("the engine was silent for {seconds} s")]
    Hung {
        /// How long it was waited for.
        seconds: u32,
    },
    /// It is of another version.
    #[error("the engine is of version {theirs}, this is {ours}")]
    Version {
        /// This program's version.
        ours: String,
        /// The engine's.
        theirs: String,
    },
    /// What it says makes no sense.
    #[error("the engine cannot be understood: {reason}")]
    Garbled {
        /// What is wrong.
        reason: String,
    },
}
