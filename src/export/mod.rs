//! Owns what leaves Inkling: a trained model as safetensors, ONNX, `PyTorch` or a candle program, and what is to be said of it. The same
//! model and the same wishes give the same bytes. Must not know windows, runs' folders or how a model was trained.

mod candle;
mod card;
mod code;
mod error;
mod facts;
mod files;
pub mod onnx;
mod pytorch;
pub mod quantize;
mod report;
mod subject;

pub use error::ExportError;
pub use files::{Export, ExportedFile, export};
pub use subject::{RUN_KEY, Subject};
