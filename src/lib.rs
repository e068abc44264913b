//! Inkling: train a digit classifier on your own machine, then draw a digit and watch it being
//! recognized.
//!
//! `ARCHITECTURE.md` has the map: what each module owns, what it must not know, and where something
//! is added.

pub mod bench;
pub mod cli;
pub mod data;
pub mod device;
pub mod diagnostics;
pub mod download;
pub mod engine;
pub mod export;
pub mod hardware;
pub mod import;
pub mod infer;
pub mod ink;
pub mod lesson;
pub mod math;
pub mod nn;
pub mod notices;
pub mod optim;
pub mod problem;
pub mod profiler;
pub mod progress;
pub mod protocol;
pub mod records;
pub mod run_config;
pub mod runs;
pub mod self_test;
pub mod settings;
pub mod sweep;
pub mod system;
pub mod text;
pub mod train;
#[cfg(feature = "gui")]
pub mod window;
