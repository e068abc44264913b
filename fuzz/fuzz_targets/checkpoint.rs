//! A checkpoint. Its checksums are made right first: no mutation gets past them otherwise.
#![no_main]

use inkling::runs::read_checkpoint;
use sha2::{Digest, Sha256};

/// Magic, version, and the length of the card, which a checksum follows.
const HEADER: usize = 16;
const CHECKSUM: usize = 32;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = read_checkpoint(&mut &bytes[..]);
    let mut bytes = bytes.to_vec();
    let Some(length) = bytes.get(12..HEADER) else {
        return;
    };
    let card = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
    for end in [
        HEADER.saturating_add(card),
        bytes.len().saturating_sub(CHECKSUM),
    ] {
        let checksum = Sha256::digest(&bytes[..end.min(bytes.len())]);
        if let Some(place) = bytes.get_mut(end..end.saturating_add(CHECKSUM)) {
            place.copy_from_slice(&checksum);
        }
    }
    let _ = read_checkpoint(&mut bytes.as_slice());
});
