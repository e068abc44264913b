//! Decodes image files within limits of size and memory.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use image::{DynamicImage, ImageDecoder, ImageReader, Limits};

use super::GrayImage;
use crate::ink::InkError;

/// The largest file, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// The longest side, in pixels.
const MAX_SIDE: u32 = 20_000;
/// The most memory decoding may take, in bytes.
const MAX_DECODE_BYTES: u64 = 512 << 20;
/// Images are reduced to at most this many pixels a side: a digit needs few.
const WORKING_SIDE: usize = 640;

/// The image in the file, upright, from 0 (black) to 1 (white).
pub(super) fn read(path: &Path) -> Result<GrayImage, InkError> {
    let unreadable = |error: std::io::Error| InkError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    let malformed = |reason: String| InkError::Malformed { path: path.to_owned(), reason };
    let file = File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    if size > MAX_FILE_BYTES {
        return Err(malformed(format!("it has {size} bytes, but the limit for an image is {MAX_FILE_BYTES}")));
    }
    let mut reader = ImageReader::new(BufReader::new(file)).with_guessed_format().map_err(unreadable)?;
    if reader.format().is_none() {
        return Err(malformed("it is neither PNG nor JPEG".to_owned()));
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_DECODE_BYTES);
    reader.limits(limits);
    let decoded = reader.into_decoder().and_then(|mut decoder| {
        // Cameras store the orientation they were held in.
        let orientation = decoder.orientation()?;
        let mut image = DynamicImage::from_decoder(decoder)?;
        image.apply_orientation(orientation);
        Ok(image)
    });
    Ok(reduce(&decoded.map_err(|error| malformed(error.to_string()))?))
}

/// The image in grey at working size, transparency filled in.
fn reduce(image: &DynamicImage) -> GrayImage {
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
    GrayImage { width: columns, height: rows, values }
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
