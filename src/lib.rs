//! Inkling: train a digit classifier on your own machine, then draw a digit and watch it being
//! recognised.
//!
//! # The map
//!
//! ```text
//!  window  --Command-->  engine  -->  train · infer · bench · export · import · runs
//!     ^                    |                         |
//!     '------- Event ------'                         v
//!                                        optim --> nn --> device
//! ```
//!
//! The modules, from the top down. Each depends only on modules below it, so there are no cycles;
//! `tests/tidy` reads this table and the sources, and fails where one says otherwise.
//!
//! | module | owns |
//! |---|---|
//! | [`cli`] | the command line: a file per subcommand, on the same engine as the window |
//! | [`window`] | what the window shows, by features; `view` folders draw it |
//! | [`sweep`] | hyper-parameter sweeps: what varies, samplers, early ending of poor trials, the journal they are resumed from |
//! | [`engine`] | the one thread that owns tensors, here, in a process of its own or on another machine (`engine/remote`); a file per job in `engine/jobs` |
//! | [`protocol`] | what is said to the engine and by it: [`protocol::Command`], [`protocol::Event`] |
//! | [`problem`] | the union of all modules' errors, formed for whoever asked the engine |
//! | [`self_test`] | whether a device computes correctly: every op, a training run, recognition |
//! | [`bench`] | measuring this machine: matrix products, training steps, data loading, recognition |
//! | [`import`] | weights on their way in, and which network they are |
//! | [`export`] | models on their way out: safetensors, ONNX, `PyTorch`, candle, model card, report; curves for `TensorBoard` |
//! | [`runs`] | folders of finished runs, and checkpoints of those in progress or interrupted |
//! | [`train`] | the training loop, top to bottom in `session.rs`, and its parts: batches, steps, rollback, checkpoints |
//! | [`infer`] | recognising a drawing, measuring a model, comparing the devices it can run on |
//! | [`hardware`] | what this machine has, what that means for training, and how busy it is |
//! | [`optim`] | each optimiser's formula and state, schedules, loss scaling, weight averaging |
//! | [`nn`] | one tape (`autograd`), ops that check shapes once and dispatch once (`ops`), the devices' backends (`backend/composed`, which `cpu` and `cuda` override), networks, those of ONNX files (`onnx`), model files |
//! | [`data`] | data sets: IDX, folders, CSV, ink files, built-in digits; augmentation, which backends carry out |
//! | [`download`] | data sets from their public mirrors; nothing else here uses a network by itself |
//! | [`device`] | opening devices, and the libraries that takes |
//! | [`math`] | seeded randomness, quantiles, statistics of a measurement, rows of numbers as bytes |
//! | [`profiler`] | where time goes on a thread, while somebody asks |
//! | [`records`] | records that many modules share: runs, models, benchmarks, exports, imports |
//! | [`ink`] | strokes, ink and image files, and the 28x28 image that models take as input |
//! | [`system`] | files whole or not at all, folders, child processes, one window at a time |
//! | [`progress`] | how long work reports how far it is, and hears that it was cancelled |
//! | [`run_config`] | the settings of a run: one table of them, choices, presets |
//! | [`text`] | numbers with units, tables and licences as text; text from outside made safe to show |
//!
//! # Invariants
//!
//! Proved by `tests/tidy`, by imports:
//!
//! - Only `device`, `nn`, `optim` and the modules that compute with them (`train`, `infer`,
//!   `export`, `import`, `bench`, `self_test`) depend on candle. Only `window` depends on egui, and the
//!   file of `cli` that opens it; `cargo check --lib --no-default-features` has no window in it.
//! - Whatever [`protocol`] stands on, down to each module's `error.rs`, is plain data: no tensors,
//!   threads, locks or files.
//! - Each module returns its own error. [`problem::Problem`] unites them, and nothing below depends
//!   on it.
//! - All randomness comes from [`math::random::Random`], seeded; candle's own generator is never
//!   used but by the benchmark of plain candle.
//! - Every file is written by [`system::files`]: whole or not at all.
//! - candle's `max_pool2d` and `conv2d` are never called where gradients matter: the first has a
//!   wrong gradient, the second a slow one.
//!
//! Where something is added: an op in `nn/ops.rs`, `nn/backend.rs` and `backend/composed.rs`, which
//! every device inherits, with a case in `self_test/op_cases.rs`; a layer in `nn/layer.rs`, where the
//! compiler then finds what goes through all of them; a network in `nn/models.rs`; an activation in
//! its op and `export/activation.rs`; an optimiser in `run_config/choices.rs` and a formula in
//! `optim`; a job in [`protocol::Job`] and a file in
//! `engine/jobs`; a setting in [`run_config::RunConfig`] and a row in `run_config/settings.rs`; an error in the
//! `error.rs` of its module and a sentence in `window/messages`.
//!
//! Kept by whoever changes the code:
//!
//! - One engine thread owns every tensor. No mutex is shared across its boundary; a panic in it
//!   becomes an event. Only the comparison of devices has a thread of its own beside it, which
//!   recognises with a model that is no longer trained.
//! - Errors are data, and [`window::messages`] words them. What a module finds out (`hardware`,
//!   `self_test`, `bench`, `export`) it words itself, in one file, so that window, command line and
//!   reports say the same.
//! - A range or a default of a setting stands once, in [`run_config`].

pub mod bench;
pub mod cli;
pub mod data;
pub mod device;
pub mod download;
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
pub mod profiler;
pub mod progress;
pub mod protocol;
pub mod records;
pub mod run_config;
pub mod runs;
pub mod self_test;
pub mod sweep;
pub mod system;
pub mod text;
pub mod train;
pub mod window;
