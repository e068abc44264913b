//! A table of images, labeled or not, gzipped or not.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use inkling::data::{ClassLabels, PixelRows, PixelTable};
use inkling::ink::Framing;
use inkling::progress::Unwatched;
use inkling::run_config::MAX_LABEL;
use inkling::system::input_file::InputFile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = InputFile::new(Cursor::new(bytes.to_vec()), bytes.len() as u64) else {
        return;
    };
    let labels = &mut ClassLabels::default();
    if let Ok(table) = PixelTable::read(file, Path::new("fuzzed"), labels, &mut Unwatched) {
        assert_eq!(table.images.len(), table.labels.len());
        assert!(table.labels.iter().all(|label| *label <= MAX_LABEL));
    }
    let Ok(file) = InputFile::new(Cursor::new(bytes.to_vec()), bytes.len() as u64) else {
        return;
    };
    if let Ok(rows) = PixelRows::new(file, Path::new("fuzzed"), Framing::Whole) {
        rows.for_each(drop);
    }
});
