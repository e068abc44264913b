//! Owns decoding picture files within bounds of size and memory.
//! Must not know what is on the picture.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use image::{DynamicImage, ImageDecoder, ImageReader, Limits};

use super::Grey;
use crate::ink::InkError;

/// The largest file, in bytes.
const LARGEST_FILE: u64 = 256 << 20;
/// The longest side, in pixels.
const LONGEST_SIDE: u32 = 20_000;
/// The most memory decoding may take, in bytes.
const MOST_MEMORY: u64 = 512 << 20;
/// Pictures are worked on at no more than this many pixels a side: a digit needs few.
const WORKING_SIDE: usize = 640;

/// The picture in the file, upright, from 0 (black) to 1 (white).
pub(super) fn read(path: &Path) -> Result<Grey, InkError> {
    let unreadable = |error: std::io::Error| InkError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    let malformed = |reason: String| InkError::Malformed { path: path.to_owned(), reason };
    let file = File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    if size > LARGEST_FILE {
        return Err(malformed(format!("it has {size} bytes, but the limit for an image is {LARGEST_FILE}")));
    }
    let mut reader = ImageReader::new(BufReader::new(file)).with_guessed_format().map_err(unreadable)?;
    if reader.format().is_none() {
        return Err(malformed("it is neither PNG nor JPEG".to_owned()));
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    let decoded = reader.into_decoder().and_then(|mut decoder| {
        // Cameras store how they were held.
        let orientation = decoder.orientation()?;
        let mut image = DynamicImage::from_decoder(decoder)?;
        image.apply_orientation(orientation);
        Ok(image)
    });
    Ok(reduced(&decoded.map_err(|error| malformed(error.to_string()))?))
}

/// Grey, at working size, what is transparent filled in.
fn reduced(image: &DynamicImage) -> Grey {
    let pixels = image.to_luma_alpha8();
    let (width, height) = (pixels.width() as usize, pixels.height() as usize);
    let behind = behind(&pixels);
    let step = width.max(height).div_ceil(WORKING_SIDE).max(1);
    let (columns, rows) = (width.div_ceil(step), height.div_ceil(step));
    let mut sums = vec![0.0_f32; columns * rows];
    let mut counts = vec![0.0_f32; columns * rows];
    for (x, y, image::LumaA([luma, alpha])) in pixels.enumerate_pixels() {
        let cell = (y as usize / step) * columns + x as usize / step;
        let alpha = f32::from(*alpha) / 255.0;
        sums[cell] += f32::from(*luma) / 255.0 * alpha + behind * (1.0 - alpha);
        counts[cell] += 1.0;
    }
    let values = sums.iter().zip(&counts).map(|(sum, count)| sum / count).collect();
    Grey { width: columns, height: rows, values }
}

/// What to put behind transparent pixels: paper that contrasts with what is drawn on it.
fn behind(pixels: &image::GrayAlphaImage) -> f32 {
    let [mut light, mut weight] = [0.0_f64; 2];
    for image::LumaA([luma, alpha]) in pixels.pixels() {
        light += f64::from(*luma) * f64::from(*alpha);
        weight += f64::from(*alpha);
    }
    if light > 127.5 * weight { 0.0 } else { 1.0 }
}
