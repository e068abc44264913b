//! An IDX file of images or of labels, gzipped or not. The first byte says of which, so that a file
//! of labels is never a file of images.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use inkling::data::{IdxKind, read_idx};
use inkling::progress::Unwatched;
use inkling::run_config::MAX_LABEL;
use inkling::system::input_file::InputFile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let [first, bytes @ ..] = bytes else { return };
    let kind = if first % 2 == 0 {
        IdxKind::Images
    } else {
        IdxKind::Labels
    };
    let Ok(file) = InputFile::new(Cursor::new(bytes.to_vec()), bytes.len() as u64) else {
        return;
    };
    if let Ok((items, shape)) = read_idx(file, Path::new("fuzzed"), kind, &mut Unwatched) {
        let item = shape.map_or(1, |shape| shape.rows * shape.columns);
        assert_eq!(items.len() % item, 0);
        assert!(shape.is_some() || items.iter().all(|label| *label <= MAX_LABEL));
    }
});
