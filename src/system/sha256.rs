//! SHA-256 digests as hexadecimal digits.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// The hexadecimal digits of these bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of everything that can be read.
pub fn sha256_of(mut bytes: impl Read) -> io::Result<String> {
    let (mut hasher, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match bytes.read(&mut piece)? {
            0 => return Ok(hex(&hasher.finalize())),
            count => hasher.update(&piece[..count]),
        }
    }
}
