//! The licenses of everything that is built into this program.

use std::io::Read;

use flate2::read::GzDecoder;

/// Gathered and packed when this program was built.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/licenses.gz"));

/// A list of packages with their licenses, then the texts.
pub fn text() -> String {
    let mut text = String::new();
    match GzDecoder::new(PACKED).read_to_string(&mut text) {
        Ok(_) => text,
        Err(error) => format!("The licenses cannot be unpacked: {error}."),
    }
}
