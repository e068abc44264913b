//! An ink file, as JSON lines or as one drawing, gzipped or not, and the images of its drawings.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use inkling::ink::{InkFile, rasterize};
use inkling::system::input_file::InputFile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for name in ["fuzzed.jsonl", "fuzzed.json"] {
        let Ok(file) = InputFile::new(Cursor::new(bytes.to_vec()), bytes.len() as u64) else {
            return;
        };
        for entry in InkFile::new(file, Path::new(name)).flatten() {
            assert!(!entry.ink.is_empty() || rasterize(&entry.ink).is_blank());
            let _ = rasterize(&entry.ink);
        }
    }
});
