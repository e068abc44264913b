//! Networks of ONNX files that Inkling cannot build, computed as they are: rten computes their
//! operators, one image at a time and on the CPU. They cannot be trained. Before anything is
//! computed, every operator is checked: what a file from anywhere may take of memory and time is
//! limited.

mod budget;
mod graph;
mod operators;
pub mod proto;
pub mod wire;

pub use graph::OnnxGraph;
pub use operators::{MAX_OPERATORS, SUPPORTED};
