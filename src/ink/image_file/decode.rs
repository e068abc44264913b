//! Decodes image files within limits of size and memory.

use std::io::{BufRead, Seek};
use std::path::Path;

use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::budget::{Share, allowed, needed};
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

/// What `reduced` makes of the image in a file of `size` bytes, which is upright; errors name `path`.
pub(super) fn read<T>(file: impl BufRead + Seek, size: u64, path: &Path, reduced: impl FnOnce(&DynamicImage) -> T) -> Result<T, InkError> {
    let unreadable = |error: std::io::Error| InkError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    let malformed = |reason: String| InkError::Malformed { path: path.to_owned(), reason };
    let too_large = |reason: String| InkError::TooLarge { path: path.to_owned(), reason };
    if size > MAX_FILE_BYTES {
        return Err(too_large(format!("it has {size} bytes, but the limit for an image is {MAX_FILE_BYTES}")));
    }
    let mut reader = ImageReader::new(file).with_guessed_format().map_err(unreadable)?;
    let format = reader.format().ok_or_else(|| malformed("it is neither PNG nor JPEG".to_owned()))?;
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_METADATA_BYTES);
    reader.limits(limits);
    let refused = |error: image::ImageError| malformed(error.to_string());
    let mut decoder = reader.into_decoder().map_err(refused)?;
    // The decoder's own limits leave out the image itself.
    let (width, height) = decoder.dimensions();
    let bytes = needed(width, height, decoder.color_type(), format == ImageFormat::Jpeg);
    if bytes > allowed(size) {
        return Err(too_large(format!("{size} bytes hold {width}x{height} pixels, which take {bytes} bytes of memory to decode")));
    }
    // Held until the image is reduced.
    let _share = Share::take(bytes);
    // Cameras store the orientation they were held in.
    let orientation = decoder.orientation().map_err(refused)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(refused)?;
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
    let values = sums.iter().zip(&counts).map(|(sum, count)| sum / count).collect();
    GrayImage { width: columns, height: rows, values, scale: step as f32 }
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
