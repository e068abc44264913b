//! SHA-256 digests, and as hexadecimal digits.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// The hexadecimal digits of these bytes.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn digest_of(mut bytes: impl Read) -> io::Result<[u8; 32]> {
    let (mut hasher, mut piece) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match bytes.read(&mut piece)? {
            0 => return Ok(hasher.finalize().into()),
            count => hasher.update(&piece[..count]),
        }
    }
}

/// The same in hexadecimal digits.
pub fn sha256_of(bytes: impl Read) -> io::Result<String> {
    digest_of(bytes).map(|digest| hex(&digest))
}
