//! Files in a ZIP archive on a server: its directory, at its end, tells where they are, and only they are downloaded.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use flate2::read::DeflateDecoder;
use zip::{CompressionMethod, ZipArchive};

use super::DownloadError;
use super::client::{Client, Resource};
use super::sources::SourceFile;
use crate::progress::Progress;
use crate::system::WriteError;
use crate::system::files::{open_append, open_regular};

/// Bytes that are read at a time.
const BLOCK: u64 = 1 << 16;
/// The most blocks that are read to find a file.
const MOST_BLOCKS: u32 = 16;

/// Where a file is in an archive.
struct Entry {
    bytes: Range<u64>,
    is_deflated: bool,
}

/// Downloads a file from the archive at this address, in whichever folder it is there, into `part`. What comes of it is kept in `compressed`, if
/// the download breaks off, and resumed from there.
pub fn fetch(
    client: &Client,
    address: &str,
    source: &SourceFile,
    (compressed, part): (&Path, &Path),
    progress: &mut impl Progress,
) -> Result<(), DownloadError> {
    let mut remote = Remote::open(client, address, progress)?;
    let found = find(&mut remote, source.name);
    if let Some(failure) = remote.failure {
        return Err(failure);
    }
    let entry = found.ok_or_else(|| DownloadError::NotInArchive { address: address.to_owned(), name: source.name.to_owned() })?;
    let size = entry.bytes.end - entry.bytes.start;
    let largest = source.largest();
    if size > if entry.is_deflated { most_deflated(largest) } else { largest } {
        return Err(DownloadError::TooLarge { address: format!("{} in {address}", source.name), largest });
    }
    client.fetch(&Resource { address, range: Some(entry.bytes), size, largest: size }, compressed, progress)?;
    if entry.is_deflated {
        inflate(compressed, part, largest)?;
        std::fs::remove_file(compressed).map_err(|error| WriteError::new(compressed, &error))?;
    } else {
        std::fs::rename(compressed, part).map_err(|error| WriteError::new(part, &error))?;
    }
    Ok(())
}

/// Looks for the file with this name. `None` where the archive does not have it, is none, or has compressed it in an unusual way.
fn find(remote: &mut Remote<'_, impl Progress>, name: &str) -> Option<Entry> {
    let mut archive = ZipArchive::new(remote).ok()?;
    let has_name = |index: &usize| matches!(archive.name_for_index(*index), Some(Ok(path)) if path.rsplit('/').next() == Some(name));
    let index = (0..archive.len()).find(has_name)?;
    let file = archive.by_index_raw(index).ok()?;
    let is_deflated = match file.compression() {
        CompressionMethod::Stored => false,
        CompressionMethod::Deflated => true,
        _ => return None,
    };
    let start = file.data_start()?;
    Some(Entry { bytes: start..start.checked_add(file.compressed_size())?, is_deflated })
}

/// The most bytes that so many are deflated to. A file that cannot be compressed grows by a few bytes a block.
const fn most_deflated(bytes: u64) -> u64 {
    bytes + bytes / 1000 + 64
}

/// Decompresses a file. Where that ends too early, its digest tells.
fn inflate(compressed: &Path, part: &Path, largest: u64) -> Result<(), DownloadError> {
    let compressed = open_regular(compressed).map_err(|error| WriteError::new(compressed, &error))?;
    let unwritable = |error: io::Error| WriteError::new(part, &error);
    let mut file = open_append(part).map_err(unwritable)?;
    file.set_len(0).map_err(unwritable)?;
    let (mut decoder, mut piece) = (DeflateDecoder::new(compressed).take(largest + 1), vec![0; BLOCK as usize]);
    while let Ok(count @ 1..) = decoder.read(&mut piece) {
        file.write_all(&piece[..count]).map_err(unwritable)?;
    }
    Ok(())
}

/// A file on a server, of which only what is read is downloaded.
struct Remote<'a, P> {
    client: &'a Client,
    address: &'a str,
    progress: &'a mut P,
    length: u64,
    position: u64,
    /// Of what came last, the first byte and all of them.
    block: (u64, Vec<u8>),
    /// How many more may be downloaded.
    blocks_left: u32,
    /// Why nothing more can be read.
    failure: Option<DownloadError>,
}

impl<'a, P: Progress> Remote<'a, P> {
    fn open(client: &'a Client, address: &'a str, progress: &'a mut P) -> Result<Self, DownloadError> {
        let (_, length) = client.bytes(address, 0..1)?;
        Ok(Self { client, address, progress, length, position: 0, block: (0, Vec::new()), blocks_left: MOST_BLOCKS, failure: None })
    }

    /// Downloads the block in which the position is.
    fn download(&mut self) -> Result<(), DownloadError> {
        self.progress.report(0.0)?;
        let start = self.position / BLOCK * BLOCK;
        let end = self.length.min(start + BLOCK);
        self.block = (start, self.client.bytes(self.address, start..end)?.0);
        Ok(())
    }
}

impl<P: Progress> Read for Remote<'_, P> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.length {
            return Ok(0);
        }
        let is_there = |(start, bytes): &(u64, Vec<u8>)| (*start..start + bytes.len() as u64).contains(&self.position);
        if !is_there(&self.block) {
            // Whoever looks so far for it has a damaged archive.
            self.blocks_left = self.blocks_left.checked_sub(1).ok_or(io::ErrorKind::QuotaExceeded)?;
            if let Err(error) = self.download() {
                self.failure.get_or_insert(error);
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
        }
        let mut rest = self.block.1.get((self.position - self.block.0) as usize..).unwrap_or_default();
        let count = rest.read(buffer)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl<P> Seek for Remote<'_, P> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
