//! A table of images, labeled or not, gzipped or not.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use inkling::data::{PixelRows, read_table};
use inkling::ink::PIXELS;
use inkling::progress::Unwatched;
use inkling::run_config::MAX_LABEL;
use inkling::system::input_file::InputFile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = InputFile::new(Cursor::new(bytes.to_vec()), bytes.len() as u64) else {
        return;
    };
    if let Ok(split) = read_table(file, Path::new("fuzzed"), &mut Unwatched) {
        assert_eq!(split.images.len(), split.len() * PIXELS);
        assert!(split.labels.iter().all(|label| *label <= MAX_LABEL));
    }
    let Ok(file) = InputFile::new(Cursor::new(bytes.to_vec()), bytes.len() as u64) else {
        return;
    };
    for row in PixelRows::new(file, Path::new("fuzzed")) {
        let _ = row;
    }
});
