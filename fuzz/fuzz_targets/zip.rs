//! A PyTorch file: the zip archive, its pickle, the storages.
#![no_main]

#[path = "../weights.rs"]
mod weights;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| weights::read(bytes));
