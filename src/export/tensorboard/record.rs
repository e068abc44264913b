//! `TFRecord` framing: each record has its length before it, and both have a checksum
//! (`tensorflow/core/lib/io/record_writer.h`).

/// The reversed polynomial of CRC-32C (Castagnoli 1993).
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// The checksums of single bytes.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 {
                sum >> 1 ^ POLYNOMIAL
            } else {
                sum >> 1
            };
            bit += 1;
        }
        table[byte] = sum;
        byte += 1;
    }
    table
};

/// Adds a record to `to`: its length as 8 bytes and their checksum, its bytes and their checksum,
/// all numbers little-endian.
pub fn add(to: &mut Vec<u8>, record: &[u8]) {
    let length = (record.len() as u64).to_le_bytes();
    to.extend_from_slice(&length);
    to.extend_from_slice(&masked(&length).to_le_bytes());
    to.extend_from_slice(record);
    to.extend_from_slice(&masked(record).to_le_bytes());
}

/// The CRC-32C, rotated and shifted, so that the checksum of data which contains checksums is not
/// special.
fn masked(bytes: &[u8]) -> u32 {
    crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8)
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        TABLE[(sum as u8 ^ byte) as usize] ^ sum >> 8
    })
}
