//! The pickle of a PyTorch file, in an archive that is otherwise as it should be.
#![no_main]

#[path = "../weights.rs"]
mod weights;

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

libfuzzer_sys::fuzz_target!(|pickle: &[u8]| {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in [
        ("m/data.pkl", pickle),
        ("m/data/0", &[0x3F; 24]),
        ("m/data/1", &[]),
    ] {
        zip.start_file(name, stored)
            .expect("a file in an archive in memory");
        zip.write_all(bytes)
            .expect("a file in an archive in memory");
    }
    weights::read(zip.finish().expect("an archive in memory").get_ref());
});
