//! An image in any of the formats that are read; which, its first bytes say.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use inkling::ink::read_image;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = read_image(Cursor::new(bytes), bytes.len() as u64, Path::new("fuzzed"));
});
