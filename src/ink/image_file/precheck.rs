//! What is looked at in a file before it is decoded, because the decoder would believe it and take
//! any memory that it claims.

use std::io::{self, BufRead, Seek, SeekFrom};

use image::ImageFormat;
use tiff::decoder::Decoder;
use tiff::tags::{CompressionMethod, Tag};

/// Bytes of memory that the codes of a lossless WebP image take at most, for each byte of the file:
/// a table of 4 kB is told in 10 bytes.
const CODES: u64 = 512;

/// An error with the reason where the file, which has `size` bytes, must not be decoded. Otherwise
/// the memory that decoding takes for something besides pixels, in bytes. What is damaged is left
/// to the decoder. Ends at the file's start.
pub fn precheck(
    file: &mut (impl BufRead + Seek),
    format: ImageFormat,
    size: u64,
    max_metadata: u64,
) -> io::Result<Result<u64, String>> {
    file.seek(SeekFrom::Start(0))?;
    let checked = match format {
        ImageFormat::WebP => WebP {
            file: &mut *file,
            size,
            max_metadata,
            canvas: None,
            codes: 0,
        }
        .check(),
        ImageFormat::Tiff => Ok(check_tiff(&mut *file)),
        _ => Ok(Ok(0)),
    };
    file.seek(SeekFrom::Start(0))?;
    checked
}

/// The JPEG in a TIFF file may be of any size, whatever the file says.
fn check_tiff(file: &mut (impl BufRead + Seek)) -> Result<u64, String> {
    let compression = Decoder::new(file).and_then(|mut decoder| decoder.find_tag(Tag::Compression));
    let method = compression
        .ok()
        .flatten()
        .and_then(|value| value.into_u16().ok())
        .map(CompressionMethod::from_u16_exhaustive);
    match method {
        Some(CompressionMethod::JPEG | CompressionMethod::ModernJPEG) => Err(
            "its pixels are compressed as JPEG, which Inkling does not read in a TIFF file"
                .to_owned(),
        ),
        _ => Ok(0),
    }
}

/// The chunks of a WebP file, of which the decoder takes the first of each kind.
struct WebP<'a, F> {
    file: &'a mut F,
    size: u64,
    max_metadata: u64,
    /// Width and height of the whole image, where they are told apart from those of a frame.
    canvas: Option<[u32; 2]>,
    /// The memory that codes take, in bytes, as far as is known.
    codes: u64,
}

#[derive(Clone, Copy)]
struct Chunk {
    kind: [u8; 4],
    start: u64,
    size: u64,
}

impl Chunk {
    /// Where the next one begins.
    const fn end(self) -> u64 {
        self.start + self.size + self.size % 2
    }
}

impl<F: BufRead + Seek> WebP<'_, F> {
    /// What was found before the end of the file, which may come too early.
    fn check(mut self) -> io::Result<Result<u64, String>> {
        match self.walk() {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
            Ok(Some(reason)) => Ok(Err(reason)),
            Ok(None) | Err(_) => Ok(Ok(self.codes)),
        }
    }

    /// Looks at all chunks, up to one with a reason not to decode the file.
    fn walk(&mut self) -> io::Result<Option<String>> {
        let mut position = 12;
        let mut frame_seen = false;
        while position < self.size {
            let chunk = self.chunk(position)?;
            if &chunk.kind == b"VP8X" {
                let about: [u8; 10] = self.content()?;
                let side = |low: usize| {
                    u32::from_le_bytes([about[low], about[low + 1], about[low + 2], 0]) + 1
                };
                self.canvas = Some([side(4), side(7)]);
            }
            let mut refused = self.refused(chunk)?;
            if &chunk.kind == b"ANMF" && !std::mem::replace(&mut frame_seen, true) {
                let first = self.chunk(chunk.start + 16)?;
                refused = refused.or(self.refused(first)?);
                if first.end() + 8 <= chunk.end() {
                    let second = self.chunk(first.end())?;
                    refused = refused.or(self.refused(second)?);
                }
            }
            if refused.is_some() {
                return Ok(refused);
            }
            position = chunk.end();
        }
        Ok(None)
    }

    /// Why this chunk must not be decoded; or else the memory that its codes take is counted.
    fn refused(&mut self, chunk: Chunk) -> io::Result<Option<String>> {
        let there = chunk.size.min(self.size.saturating_sub(chunk.start));
        match &chunk.kind {
            b"EXIF" if chunk.size > self.max_metadata => {
                return Ok(Some("its metadata is too long".to_owned()));
            }
            b"VP8L" | b"ALPH" => {
                self.codes += there * CODES;
                return Ok(None);
            }
            _ => {}
        }
        // Whatever begins like a frame may be taken for one.
        if let Some(canvas) = self.canvas
            && there >= 10
        {
            self.file.seek(SeekFrom::Start(chunk.start))?;
            let [_, _, _, b @ ..]: [u8; 10] = self.content()?;
            let sides = [[b[3], b[4]], [b[5], b[6]]]
                .map(|side| u32::from(u16::from_le_bytes(side) & 0x3FFF));
            if b.starts_with(&[0x9D, 0x01, 0x2A])
                && sides.iter().zip(canvas).any(|(side, whole)| *side > whole)
            {
                return Ok(Some("a part of it is larger than the whole".to_owned()));
            }
        }
        Ok(None)
    }

    /// The header at this place; what follows is the chunk's content.
    fn chunk(&mut self, position: u64) -> io::Result<Chunk> {
        self.file.seek(SeekFrom::Start(position))?;
        let [k0, k1, k2, k3, size @ ..]: [u8; 8] = self.content()?;
        Ok(Chunk {
            kind: [k0, k1, k2, k3],
            start: position + 8,
            size: u64::from(u32::from_le_bytes(size)),
        })
    }

    fn content<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
