//! Networks of ONNX files that Inkling cannot build, computed as they are: rten computes their
//! operators, one image at a time and on the CPU. They cannot be trained. Before anything is
//! computed, every operator is checked: what a file from anywhere may take of memory and time is
//! limited.

mod budget;
mod external;
mod graph;
mod operators;
pub mod proto;
pub mod wire;

pub use external::self_contained;
pub use graph::{Constant, OnnxGraph, Shown};
pub use operators::{Operator, SUPPORTED};
