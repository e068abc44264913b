//! A safetensors file of anybody's weights, and the same bytes as a model of Inkling's.
#![no_main]

#[path = "../weights.rs"]
mod weights;

use std::path::Path;

use inkling::nn::ModelFile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    weights::read(bytes);
    let _ = ModelFile::from_bytes(bytes, Path::new("fuzzed"));
});
