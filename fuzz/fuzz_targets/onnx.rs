//! An ONNX file of anybody's weights.
#![no_main]

#[path = "../weights.rs"]
mod weights;

// Other files begin in other ways: the first two fields are always those of ONNX.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weights::read(&[&[0x08, 8, 0x12, 0], bytes].concat()));
