//! The memory that decoding images may take: for one image, in proportion to its file, and for all
//! that are decoded at the same time.

use std::sync::{Condvar, Mutex, PoisonError};

use image::{ColorType, ImageFormat};

/// The most memory that all images take together while they are decoded, in bytes: a JPEG of 70
/// million pixels.
pub const TOTAL: u64 = 768 << 20;
/// What any file may take, in bytes: 8 million pixels.
const FLOOR: u64 = 64 << 20;
/// What a file may take beyond that, in bytes for each of its own. Not even blank images of real
/// programs take more.
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
        // Planes of brightness, colour and alpha, a frame of them, and the canvas that the frame is
        // put on.
        ImageFormat::WebP => 11,
        // All of it, with four inks where there will be three colours, and a piece of it as large
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
