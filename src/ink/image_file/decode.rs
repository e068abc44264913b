//! Decodes image files within limits of size and memory.

use std::io::{BufRead, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::budget::{Share, allowed, needed, tiff_buffer};
use super::format::{IMAGE_FORMATS, is_read};
use super::precheck::precheck;
use crate::ink::InkError;
use crate::ink::gray_image::GrayImage;

/// The largest file, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// The longest side, in pixels.
pub(super) const MAX_SIDE: u32 = 20_000;
/// The most memory for what a file holds besides its pixels, such as a colour profile, in bytes.
const MAX_METADATA_BYTES: u64 = 16 << 20;
/// Images are reduced to at most this many pixels a side: a digit needs few.
const WORKING_SIDE: usize = 640;

/// What `reduced` makes of the image in a file of `size` bytes, which is upright; errors name
/// `path`.
pub(super) fn read<T>(
    file: impl BufRead + Seek,
    size: u64,
    path: &Path,
    reduced: impl FnOnce(&DynamicImage) -> T,
) -> Result<T, InkError> {
    let unreadable = |error: std::io::Error| InkError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    let malformed = |reason: String| InkError::Malformed {
        path: path.to_owned(),
        reason,
    };
    let too_large = |reason: String| InkError::TooLarge {
        path: path.to_owned(),
        reason,
    };
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
    let mut file = reader.into_inner();
    let besides = precheck(&mut file, format, size, MAX_METADATA_BYTES)
        .map_err(unreadable)?
        .map_err(malformed)?;
    let mut reader = ImageReader::with_format(file, format);
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_METADATA_BYTES);
    reader.limits(limits.clone());
    let refused = |error: image::ImageError| malformed(error.to_string());
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
            "{size} bytes hold {width}x{height} pixels, which take {bytes} bytes of memory to decode"
        )));
    }
    if format == ImageFormat::Tiff {
        // All but this decoder's.
        let image =
            u64::from(width) * u64::from(height) * tiff_buffer(u64::from(color.bytes_per_pixel()));
        limits.max_alloc = Some(image.saturating_add(MAX_METADATA_BYTES));
        decoder.set_limits(limits).map_err(refused)?;
    }
    // Held until the image is reduced.
    let _share = Share::take(bytes);
    // Cameras store the orientation they were held in.
    let orientation = decoder.orientation().map_err(refused)?;
    // Damaged files have made decoders panic.
    let decoded = catch_unwind(AssertUnwindSafe(|| DynamicImage::from_decoder(decoder)));
    let mut image = decoded
        .map_err(|_| malformed("it is damaged".to_owned()))?
        .map_err(refused)?;
    image.apply_orientation(orientation);
    Ok(reduced(&image))
}

/// The image in grey at working size, from 0 (black) to 1 (white), transparency filled in.
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
