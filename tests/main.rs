//! Every test of Inkling, in one program, mirroring `src/`.
// Tests that need Unix leave some of these unused on Windows.
#![cfg_attr(windows, allow(dead_code, unused_imports))]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails should stop there"
)]

mod bench;
mod cli;
mod data;
mod download;
mod engine;
mod export;
mod fake_device;
mod fake_engine;
mod fake_executor;
mod hardware;
mod import;
mod infer;
mod ink;
mod jobs;
mod lesson;
mod math;
mod meter;
mod nn;
mod optim;
mod run_config;
mod runs;
mod self_test;
mod support;
mod sweep;
mod synthetic;
mod system;
mod text;
mod tidy;
mod train;
#[cfg(feature = "gui")]
mod window;
