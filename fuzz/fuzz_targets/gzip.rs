//! A gzipped file, whatever is in it: never more than its budget comes out.
#![no_main]

use std::io::{self, Cursor};

use inkling::system::input_file::InputFile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // Most inputs are meant to be gzip.
    let bytes = [&[0x1F, 0x8B, 8][..], bytes].concat();
    let Ok(mut file) = InputFile::new(Cursor::new(bytes.clone()), bytes.len() as u64) else {
        return;
    };
    let budget = file.budget();
    let read = io::copy(&mut file, &mut io::sink());
    assert!(read.is_err() || read.is_ok_and(|read| read <= budget));
});
