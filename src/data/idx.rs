//! The IDX format of MNIST (`LeCun` et al. 1998): a magic number, big-endian sizes, then a byte per
//! pixel or label.
//!
//! Headers are not trusted: what they claim is compared with the file's size before memory is
//! allocated for it, and allocated once.

use std::io::Read;
use std::path::Path;

use super::DataError;
use super::data_file::{MAX_IMAGES, malformed, open, too_large, unreadable};
use crate::ink::{PIXELS, SIDE};
use crate::progress::Progress;
use crate::run_config::MAX_LABEL;
use crate::system::input_file::InputFile;

/// Bytes read between two reports of progress.
const CHUNK: u64 = 1 << 20;
/// DEFLATE compresses at most 1,032 bytes into one.
const DEFLATE_RATIO: u64 = 1032;

/// What an IDX file should contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 28x28 images.
    Images,
    /// A label for each image.
    Labels,
}

impl Kind {
    /// Unsigned bytes (0x08) in three dimensions or in one.
    const fn magic(self) -> u32 {
        match self {
            Self::Images => 0x0803,
            Self::Labels => 0x0801,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Images => "images",
            Self::Labels => "labels",
        }
    }

    /// Bytes of an item.
    const fn item(self) -> u64 {
        match self {
            Self::Images => PIXELS as u64,
            Self::Labels => 1,
        }
    }
}

/// How many items the header claims; an error where the file is too small for them.
pub fn count(path: &Path, kind: Kind) -> Result<u64, DataError> {
    read_header(&mut open(path)?, path, kind)
}

/// The items of a file, exactly as many as its header claims. `progress` is told the fraction done
/// and may cancel.
pub fn read(path: &Path, kind: Kind, progress: &mut dyn Progress) -> Result<Vec<u8>, DataError> {
    read_idx(open(path)?, path, kind, progress)
}

/// The items of a file that is open already; errors name `path`.
pub fn read_idx(
    mut file: InputFile,
    path: &Path,
    kind: Kind,
    progress: &mut dyn Progress,
) -> Result<Vec<u8>, DataError> {
    let count = read_header(&mut file, path, kind)?;
    let expected = count * kind.item();
    let mut items: Vec<u8> = Vec::new();
    // Once and for all: growing by doubling would take up to three times as much for a moment. The
    // header's claim is within the file's budget.
    if items.try_reserve_exact(expected as usize + 1).is_err() {
        return Err(too_large(
            path,
            format!("there is not enough memory for its {count} {}", kind.name()),
        ));
    }
    let mut shown = 0;
    // Reading one byte more than claimed detects a longer file, and makes gzip verify its checksum.
    loop {
        let there = items.len() as u64;
        progress.report(there as f32 / expected.max(1) as f32)?;
        let wanted = CHUNK.min(expected + 1 - there);
        let came = file
            .by_ref()
            .take(wanted)
            .read_to_end(&mut items)
            .map_err(|error| unreadable(path, &error))? as u64;
        if kind == Kind::Images {
            let whole = items.len() / PIXELS * PIXELS;
            progress.images(&items[shown..whole]);
            shown = whole;
        }
        if came < wanted {
            break;
        }
        if there + came > expected {
            return Err(malformed(
                path,
                format!("it has extra data after its {count} {}", kind.name()),
            ));
        }
    }
    let there = items.len() as u64;
    if there < expected {
        return Err(malformed(
            path,
            format!(
                "it is truncated: it should hold {count} {} but has only {}",
                kind.name(),
                there / kind.item()
            ),
        ));
    }
    if kind == Kind::Labels
        && let Some((position, label)) = items
            .iter()
            .enumerate()
            .find(|(_, label)| **label > MAX_LABEL)
    {
        return Err(malformed(
            path,
            format!(
                "label {label} of image {} is larger than {MAX_LABEL}",
                position + 1
            ),
        ));
    }
    Ok(items)
}

fn read_header(file: &mut InputFile, path: &Path, kind: Kind) -> Result<u64, DataError> {
    if file.size() == 0 {
        return Err(malformed(path, "it is empty"));
    }
    let mut header_bytes = 0;
    let mut word = || {
        let mut bytes = [0; 4];
        header_bytes += 4;
        file.read_exact(&mut bytes)
            .map(|()| u32::from_be_bytes(bytes))
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::UnexpectedEof => {
                    malformed(path, "it ends in the middle of its header")
                }
                _ => unreadable(path, &error),
            })
    };
    let other = if kind == Kind::Images {
        Kind::Labels
    } else {
        Kind::Images
    };
    match word()? {
        magic if magic == kind.magic() => {}
        magic if magic == other.magic() => {
            return Err(malformed(
                path,
                format!("it holds {}, not {}", other.name(), kind.name()),
            ));
        }
        magic => {
            let (name, wanted) = (kind.name(), kind.magic());
            return Err(malformed(
                path,
                format!(
                    "its magic number is {magic:#010x}; files of {name} start with {wanted:#010x}"
                ),
            ));
        }
    }
    let count = u64::from(word()?);
    if kind == Kind::Images {
        let (rows, columns) = (word()?, word()?);
        if (rows, columns) != (SIDE as u32, SIDE as u32) {
            return Err(malformed(
                path,
                format!("its images have {rows}x{columns} pixels, but Inkling needs {SIDE}x{SIDE}"),
            ));
        }
    }
    if count == 0 {
        return Err(malformed(path, format!("it contains no {}", kind.name())));
    }
    if count > MAX_IMAGES as u64 {
        return Err(too_large(
            path,
            format!(
                "it should hold {count} {}, but the limit is {MAX_IMAGES}",
                kind.name()
            ),
        ));
    }
    let claimed = count * kind.item() + header_bytes;
    let (size, packed, ratio) = if file.is_gzipped() {
        (file.size(), "compressed ", DEFLATE_RATIO)
    } else {
        (file.size(), "", 1)
    };
    if claimed > size.saturating_mul(ratio) {
        return Err(malformed(
            path,
            format!(
                "it is truncated: {size} {packed}bytes cannot hold its {count} {}",
                kind.name()
            ),
        ));
    }
    if claimed > file.budget() {
        return Err(too_large(
            path,
            format!(
                "{size} compressed bytes unpack to {count} {}, more than real ones would",
                kind.name()
            ),
        ));
    }
    Ok(count)
}
