//! An archive of arrays, in the form of Keras.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use inkling::data::ArraySet;
use inkling::ink::PIXELS;
use inkling::progress::Unwatched;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(Some(mut arrays)) =
        ArraySet::of_archive(Cursor::new(bytes), bytes.len() as u64, Path::new("fuzzed"))
    else {
        return;
    };
    if let Ok(set) = arrays.read(&mut Unwatched) {
        for split in [&set.train, &set.test] {
            assert_eq!(split.images.len(), split.len() * PIXELS);
            assert!(
                split
                    .labels
                    .iter()
                    .all(|label| usize::from(*label) < set.classes.len())
            );
        }
    }
});
