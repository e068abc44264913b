//! Downloads single files out of a ZIP archive on a server: the directory at its end says where
//! they are.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;

use flate2::read::DeflateDecoder;

use super::DownloadError;
use super::client::{Bytes, Client};
use super::sources::SourceFile;
use crate::progress::Progress;
use crate::system::WriteError;
use crate::system::files::{open_append, open_regular};

/// Bytes at the end of an archive that are read. The directory has to be among them: the one in
/// EMNIST's archive takes a few thousand.
const TAIL: u64 = 1 << 17;
/// Bytes that are decompressed at a time.
const PIECE: usize = 1 << 16;

struct Entry {
    bytes: Range<u64>,
    is_deflated: bool,
}

/// Downloads a file from the archive at this address, whatever folder it is in, into `part`. What
/// comes of it is kept in `compressed`, if the download breaks off, and resumed from there.
pub fn fetch(
    client: &Client,
    address: &str,
    source: &SourceFile,
    (compressed, part): (&Path, &Path),
    progress: &mut impl Progress,
) -> Result<(), DownloadError> {
    let missing = || DownloadError::NotInArchive {
        address: address.to_owned(),
        name: source.name.to_owned(),
    };
    let entry = find(client, address, source.name, progress)?.ok_or_else(missing)?;
    let (size, largest) = (entry.bytes.end - entry.bytes.start, source.largest());
    if size
        > if entry.is_deflated {
            most_deflated(largest)
        } else {
            largest
        }
    {
        return Err(DownloadError::TooLarge {
            address: format!("{} in {address}", source.name),
            largest,
        });
    }
    client.fetch(address, &Bytes::Range(entry.bytes), compressed, progress)?;
    if entry.is_deflated {
        inflate(compressed, part, largest)?;
        std::fs::remove_file(compressed).map_err(|error| WriteError::new(compressed, &error))?;
    } else {
        std::fs::rename(compressed, part).map_err(|error| WriteError::new(part, &error))?;
    }
    Ok(())
}

/// Looks for the file with this name. `None` if the archive does not have it, is not one, or is
/// of a kind that is not read.
fn find(
    client: &Client,
    address: &str,
    name: &str,
    progress: &mut impl Progress,
) -> Result<Option<Entry>, DownloadError> {
    let (_, length) = client.bytes(address, 0..1, progress)?;
    let start = length.saturating_sub(TAIL);
    let (tail, _) = client.bytes(address, start..length, progress)?;
    let Some(Listed {
        header,
        size,
        is_deflated,
    }) = listed(&tail, start, name)
    else {
        return Ok(None);
    };
    if header + LOCAL_HEADER > length {
        return Ok(None);
    }
    let (local, _) = client.bytes(address, header..header + LOCAL_HEADER, progress)?;
    let begin = data_offset(&local).map(|offset| header + offset);
    Ok(begin.map(|begin| Entry {
        bytes: begin..begin + size,
        is_deflated,
    }))
}

/// A file's entry in an archive's directory.
struct Listed {
    /// Where its local header begins.
    header: u64,
    /// Its size in the archive, in bytes.
    size: u64,
    is_deflated: bool,
}

/// Looks for the file with this name in the directory, which is in the last bytes of an archive,
/// from `start` on (APPNOTE.TXT, sections 4.3.12 and 4.3.16). Archives of more than 4 GB (ZIP64)
/// are not read: a number that stands for a larger one is not a position in `tail`.
fn listed(tail: &[u8], start: u64, name: &str) -> Option<Listed> {
    let end = tail
        .windows(4)
        .rposition(|signature| signature == b"PK\x05\x06")?;
    let (size, offset) = (number(tail, end + 12, 4)?, number(tail, end + 16, 4)?);
    let directory = usize::try_from(offset.checked_sub(start)?).ok()?;
    let mut rest = tail.get(directory..)?.get(..usize::try_from(size).ok()?)?;
    while rest.starts_with(b"PK\x01\x02") {
        let lengths = [28, 30, 32].map(|at| number(rest, at, 2));
        let [Some(of_name), Some(of_extra), Some(of_comment)] =
            lengths.map(|length| length.map(|length| length as usize))
        else {
            return None;
        };
        let path = rest.get(46..46 + of_name)?;
        if path.rsplit(|byte| *byte == b'/').next() == Some(name.as_bytes()) {
            // Stored or deflated.
            let method = number(rest, 10, 2).filter(|method| [0, 8].contains(method))?;
            return Some(Listed {
                header: number(rest, 42, 4)?,
                size: number(rest, 20, 4)?,
                is_deflated: method == 8,
            });
        }
        rest = rest.get(46 + of_name + of_extra + of_comment..)?;
    }
    None
}

/// Bytes of a local header, without the name and what follows it.
const LOCAL_HEADER: u64 = 30;

/// Where a file begins after the beginning of its local header (section 4.3.7).
fn data_offset(header: &[u8]) -> Option<u64> {
    header
        .starts_with(b"PK\x03\x04")
        .then_some(LOCAL_HEADER + number(header, 26, 2)? + number(header, 28, 2)?)
}

/// The little-endian number of this many bytes at this place.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    Some(
        bytes
            .get(at..at + length)?
            .iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | u64::from(byte)),
    )
}

/// The largest size to which this many bytes are deflated: those that cannot be compressed grow by
/// a few for each block.
const fn most_deflated(bytes: u64) -> u64 {
    bytes + bytes / 1000 + 64
}

/// Decompresses a file. If that ends too early, its digest tells.
fn inflate(compressed: &Path, part: &Path, largest: u64) -> Result<(), DownloadError> {
    let compressed =
        open_regular(compressed).map_err(|error| WriteError::new(compressed, &error))?;
    let unwritable = |error: io::Error| WriteError::new(part, &error);
    let mut file = open_append(part).map_err(unwritable)?;
    file.set_len(0).map_err(unwritable)?;
    let (mut decoder, mut piece) = (
        DeflateDecoder::new(compressed).take(largest + 1),
        vec![0; PIECE],
    );
    while let Ok(count @ 1..) = decoder.read(&mut piece) {
        file.write_all(&piece[..count]).map_err(unwritable)?;
    }
    Ok(())
}
