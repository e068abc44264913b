//! A program without the `cuda` feature: it has no NVIDIA GPU to compute on, so that any backend
//! does.

pub use super::{REFERENCE as CUDA, REFERENCE as AUTOTUNED};
