//! Decodes image files within limits of size and memory: for one image, in proportion to its file,
//! and for all that are decoded at the same time.

use std::io::{self, BufRead, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};

use image::error::LimitErrorKind;
use image::{ColorType, DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};
use tiff::decoder::Decoder;
use tiff::tags::{CompressionMethod, Tag};

use crate::ink::InkError;
use crate::ink::image::GrayImage;
use crate::text::format::grouped;

const MAX_FILE_BYTES: u64 = 256 << 20;
/// The longest side, in pixels.
pub(super) const MAX_SIDE: u32 = 20_000;
/// The most memory for what a file holds besides its pixels, such as a color profile, in bytes.
const MAX_METADATA_BYTES: u64 = 16 << 20;
/// Images are reduced to at most this many pixels a side: a digit needs few.
const WORKING_SIDE: usize = 640;

/// Where an image is read from. Decoders are compiled for this one type, because each is large.
pub(super) trait Source: BufRead + Seek {}

impl<S: BufRead + Seek> Source for S {}

/// A decoded image, upright, with its share of the memory for all of them.
pub(super) struct Decoded {
    pub(super) image: DynamicImage,
    _share: Share,
}

/// Decodes the image in a file of `size` bytes; errors name `path`.
pub(super) fn decode(file: &mut dyn Source, size: u64, path: &Path) -> Result<Decoded, InkError> {
    let unreadable = InkError::unreadable(path);
    let malformed = |reason: String| InkError::malformed(path, reason);
    let too_large = |reason: String| InkError::too_large(path, reason);
    if size > MAX_FILE_BYTES {
        return Err(too_large(format!(
            "it has {size} bytes, but the limit for an image is {MAX_FILE_BYTES}"
        )));
    }
    let reader = ImageReader::new(file)
        .with_guessed_format()
        .map_err(unreadable)?;
    let format = reader
        .format()
        .filter(|format| is_read(*format))
        .ok_or_else(|| malformed(format!("it is not {IMAGE_FORMATS}")))?;
    let file = reader.into_inner();
    let besides = precheck(file, format, size, MAX_METADATA_BYTES)
        .map_err(unreadable)?
        .map_err(malformed)?;
    let mut reader = ImageReader::with_format(file, format);
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_METADATA_BYTES);
    reader.limits(limits.clone());
    let refused = |error: image::ImageError| match error {
        image::ImageError::Limits(error) if error.kind() == LimitErrorKind::DimensionError => {
            too_large(format!(
                "a side of it is longer than the limit of {} pixels",
                grouped(MAX_SIDE.into())
            ))
        }
        error => malformed(error.to_string()),
    };
    let mut decoder = reader.into_decoder().map_err(refused)?;
    // The decoder's own limits leave out the image itself.
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err(malformed("it has no pixels".to_owned()));
    }
    let color = decoder.color_type();
    let bytes = needed(width, height, color, format).saturating_add(besides);
    if bytes > allowed(size) {
        return Err(too_large(format!(
            "{size} bytes contain {width}x{height} pixels, which take {bytes} bytes of memory to decode"
        )));
    }
    if format == ImageFormat::Tiff {
        // All but this decoder's.
        let image =
            u64::from(width) * u64::from(height) * tiff_buffer(u64::from(color.bytes_per_pixel()));
        limits.max_alloc = Some(image.saturating_add(MAX_METADATA_BYTES));
        decoder.set_limits(limits).map_err(refused)?;
    }
    let share = Share::take(bytes);
    // Cameras store the orientation they were held in.
    let orientation = decoder.orientation().map_err(refused)?;
    // Damaged files have made decoders panic.
    let decoded = catch_unwind(AssertUnwindSafe(|| DynamicImage::from_decoder(decoder)));
    let mut image = decoded
        .map_err(|_| malformed("it is damaged".to_owned()))?
        .map_err(refused)?;
    image.apply_orientation(orientation);
    Ok(Decoded {
        image,
        _share: share,
    })
}

/// The image in gray at working size, from 0 (black) to 1 (white), transparency filled in.
pub(super) fn reduce(image: &DynamicImage) -> GrayImage {
    let pixels = image.to_luma_alpha8();
    let (width, height) = (pixels.width() as usize, pixels.height() as usize);
    let background = background(&pixels);
    let step = width.max(height).div_ceil(WORKING_SIDE).max(1);
    let (columns, rows) = (width.div_ceil(step), height.div_ceil(step));
    let mut sums = vec![0.0_f32; columns * rows];
    let mut counts = vec![0.0_f32; columns * rows];
    for (x, y, image::LumaA([luma, alpha])) in pixels.enumerate_pixels() {
        let cell = (y as usize / step) * columns + x as usize / step;
        let alpha = f32::from(*alpha) / 255.0;
        sums[cell] += f32::from(*luma) / 255.0 * alpha + background * (1.0 - alpha);
        counts[cell] += 1.0;
    }
    let values = sums
        .iter()
        .zip(&counts)
        .map(|(sum, count)| sum / count)
        .collect();
    GrayImage {
        width: columns,
        height: rows,
        values,
        scale: step as f32,
    }
}

/// The brightness to fill transparent pixels with: paper that contrasts with what is drawn on it.
fn background(pixels: &image::GrayAlphaImage) -> f32 {
    let [mut light, mut weight] = [0.0_f64; 2];
    for image::LumaA([luma, alpha]) in pixels.pixels() {
        light += f64::from(*luma) * f64::from(*alpha);
        weight += f64::from(*alpha);
    }
    if light > 127.5 * weight { 0.0 } else { 1.0 }
}

/// How the names of image files end, in lower case.
pub const IMAGE_ENDINGS: [&str; 12] = [
    "png", "jpg", "jpeg", "bmp", "gif", "webp", "tif", "tiff", "pbm", "pgm", "ppm", "pnm",
];

pub const IMAGE_FORMATS: &str = "PNG, JPEG, BMP, GIF, WebP, TIFF, PBM, PGM or PPM";

/// Whether a file's name ends like an image's.
pub fn is_named_like_an_image(path: &Path) -> bool {
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase());
    extension.is_some_and(|extension| IMAGE_ENDINGS.contains(&extension.as_str()))
}

/// Whether images in this format are decoded.
pub(super) const fn is_read(format: ImageFormat) -> bool {
    use ImageFormat::{Bmp, Gif, Jpeg, Png, Pnm, Tiff, WebP};
    matches!(format, Bmp | Gif | Jpeg | Png | Pnm | Tiff | WebP)
}

/// The most memory that all images take together while they are decoded, in bytes: a JPEG of 70
/// million pixels.
pub const TOTAL: u64 = 768 << 20;
/// The memory that any file may take, in bytes: 8 million pixels.
const FLOOR: u64 = 64 << 20;
/// The memory that a file may take beyond that, in bytes for each byte of the file. Not even blank
/// images of real programs take more.
const RATIO: u64 = 2000;

static FREE: Mutex<u64> = Mutex::new(TOTAL);
static RETURNED: Condvar = Condvar::new();

/// The most memory that decoding takes, in bytes: the image itself and, when it is in memory, a
/// copy of it that is turned or converted.
pub fn needed(width: u32, height: u32, color: ColorType, format: ImageFormat) -> u64 {
    let pixels = u64::from(width) * u64::from(height);
    let pixel = u64::from(color.bytes_per_pixel());
    let beside = match format {
        // If progressive, it is kept as 16-bit coefficients, of four components at most, until it
        // is complete.
        ImageFormat::Jpeg => 8,
        // Planes of brightness, color and alpha, a frame of them, and the canvas that the frame is
        // put on.
        ImageFormat::WebP => 11,
        // All of it, with four inks where there will be three colors, and a piece of it as large
        // again.
        ImageFormat::Tiff => tiff_buffer(pixel) * 2,
        _ => pixel.max(2),
    };
    pixels.saturating_mul(pixel + beside)
}

/// Bytes for each pixel of a TIFF file, which has `pixel` bytes once it is decoded, while it is.
pub const fn tiff_buffer(pixel: u64) -> u64 {
    pixel + pixel / 3
}

/// The most memory that a file of this size may take, in bytes.
pub fn allowed(file_size: u64) -> u64 {
    file_size
        .saturating_mul(RATIO)
        .saturating_add(FLOOR)
        .min(TOTAL)
}

/// A share of the memory for decoding, which is returned when it is dropped.
pub struct Share(u64);

impl Share {
    /// Waits until this much is free. No more than [`TOTAL`], and by those who hold no other share.
    pub fn take(bytes: u64) -> Self {
        let bytes = bytes.min(TOTAL);
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = RETURNED
            .wait_while(free, |free| *free < bytes)
            .unwrap_or_else(PoisonError::into_inner);
        *free -= bytes;
        Self(bytes)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        *FREE.lock().unwrap_or_else(PoisonError::into_inner) += self.0;
        RETURNED.notify_all();
    }
}

/// Bytes of memory that the codes of a lossless WebP image take at most, for each byte of the file:
/// a table of 4 kB is described in 10 bytes.
const CODES: u64 = 512;

/// An error with the reason if the file, which has `size` bytes, must not be decoded. Otherwise
/// the memory that decoding takes for something besides pixels, in bytes. What is damaged is left
/// to the decoder. Ends at the file's start.
fn precheck(
    file: &mut dyn Source,
    format: ImageFormat,
    size: u64,
    max_metadata: u64,
) -> io::Result<Result<u64, String>> {
    file.seek(SeekFrom::Start(0))?;
    let checked = match format {
        ImageFormat::WebP => WebP {
            file,
            size,
            max_metadata,
            canvas: None,
            codes: 0,
        }
        .check(),
        ImageFormat::Tiff => Ok(check_tiff(file)),
        _ => Ok(Ok(0)),
    };
    file.seek(SeekFrom::Start(0))?;
    checked
}

/// The JPEG in a TIFF file may be of any size, whatever the file says.
fn check_tiff(file: &mut dyn Source) -> Result<u64, String> {
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
struct WebP<'a> {
    file: &'a mut dyn Source,
    size: u64,
    max_metadata: u64,
    /// Width and height of the whole image, if frames have a different size.
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

impl WebP<'_> {
    /// The parts before the end of the file, which may come too early.
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
