//! The model card in the metadata of a model file.
#![no_main]

use std::path::Path;

use inkling::nn::ModelFile;

libfuzzer_sys::fuzz_target!(|card: &str| {
    let header = serde_json::json!({ "__metadata__": { "inkling": card } }).to_string();
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
    // It has no weights, so no card makes it a model.
    assert!(ModelFile::from_bytes(&bytes, Path::new("fuzzed")).is_err());
});
