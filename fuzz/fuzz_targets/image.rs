//! An image in any of the formats that are read; which, its first bytes say.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use inkling::ink::{Framing, read_image, read_writing};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (file, size, path) = (Cursor::new(bytes), bytes.len() as u64, Path::new("fuzzed"));
    // Finding what is written takes far longer than decoding, and depends only on the pixels.
    match size % 16 {
        0 => drop(read_image(file, size, path)),
        1 => drop(read_writing(file, size, path, Framing::Ink)),
        _ => drop(read_writing(file, size, path, Framing::Whole)),
    }
});
