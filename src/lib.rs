//! Inkling: train a handwriting reader on your own machine, then draw and watch it read.
//!
//! # The map
//!
//! ```text
//!  window (ui)  --Action-->  app  --Command-->  engine  -->  train · infer · export · import · hardware · runs
//!      ^                      ^                    |              |
//!      '---- draws state -----'------- Event ------'              v
//!                                                        nn · optim · data --> ink
//! ```
//!
//! | room | owns |
//! |---|---|
//! | [`ink`] | strokes, ink and image files, and the 28x28 image that models take as input |
//! | [`data`] | data sets: IDX, folders, CSV, ink files, the built-in writer; how pictures are changed in training |
//! | [`nn`] | ops with their gradients, models, model files |
//! | [`optim`] | optimisers, schedules, clipping, loss scaling, weight averaging |
//! | [`train`] | the training loop, top to bottom in one file, and its parts: batches, updates, the way back from numbers that are none |
//! | [`infer`] | reading a drawing, measuring a model, comparing the devices it can read on |
//! | [`export`] | models on their way out: safetensors, ONNX, `PyTorch`, candle, card, report |
//! | [`import`] | weights on their way in, and which network they are |
//! | [`runs`] | run folders, and checkpoints of runs under way or interrupted |
//! | [`hardware`] | what this machine has and what that means for training, and how busy it is |
//! | [`bench`] | measuring this machine: products, training steps, data, reading; and keeping what came of it |
//! | [`device`] | opening devices, and the libraries that takes |
//! | [`self_test`] | whether a device computes rightly: every op, a training, a reading |
//! | [`system`] | files whole or not at all, folders, child processes, one window at a time |
//! | [`engine`] | the one thread that owns tensors, here or in a process of its own; takes [`protocol::Command`], gives [`protocol::Event`] |
//! | [`math`] | seeded randomness, quantiles, intervals, accuracy per digit |
//! | [`text`] | numbers, tables and licences as text |
//! | [`app`] | what the window shows, as data: state, actions, messages |
//! | `ui` | panels that draw [`app`] state and return actions |
//! | [`cli`] | the command line, on the same engine |
//!
//! # Invariants
//!
//! - `ui` and `app` do not know candle; nothing below `ui` knows egui. `cargo check --lib --no-default-features` has no
//!   window in it.
//! - One engine thread owns every tensor. No mutex is shared across its boundary; a panic in it becomes an event. Only the comparison of
//!   reading devices has a thread of its own beside it, which reads with a model that no longer learns.
//! - All randomness comes from [`math::random::Random`], seeded; candle's own generator is never used.
//! - Every file is written by [`system::files`]: whole or not at all.
//! - candle's `max_pool2d` is never called: its gradient is wrong (see `nn::ops`).
//! - Errors are data below and sentences only in [`app::messages`].

pub mod app;
pub mod bench;
pub mod cli;
pub mod data;
pub mod device;
pub mod engine;
pub mod export;
pub mod hardware;
pub mod import;
pub mod infer;
pub mod ink;
pub mod math;
pub mod nn;
pub mod optim;
pub mod problem;
pub mod progress;
pub mod protocol;
pub mod records;
pub mod run_config;
pub mod runs;
pub mod self_test;
pub mod system;
pub mod text;
pub mod train;
#[cfg(feature = "gui")]
pub mod ui;
