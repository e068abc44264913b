//! An image file that stays open, so that one can look at how it is read.

use std::path::Path;

use image::{DynamicImage, RgbaImage};

use super::budget::{Share, TOTAL, needed};
use super::{Framing, decode, open, writing_of};
use crate::ink::InkError;
use crate::ink::gray_image::GrayImage;
use crate::ink::segment::Writing;
use crate::ink::steps::{Stage, Steps};

/// An image file or an image from the clipboard, decoded and reduced.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceImage {
    gray: GrayImage,
    /// The same in colour.
    colored: RgbaImage,
    size: [u32; 2],
}

/// What was found in an image with some steps.
#[derive(Clone, Debug)]
pub struct PreparedImage {
    /// What the steps gave that look at the whole image.
    pub stages: Vec<Stage>,
    pub writing: Writing,
}

impl SourceImage {
    /// Reads an image file, within the same limits as [`super::read_image_file`].
    pub fn open(path: &Path) -> Result<Self, InkError> {
        let (file, size) = open(path)?;
        decode::read(file, size, path, Self::of)
    }

    /// An image of this width and height in pixels: red, green, blue and alpha for each, where the
    /// colours are multiplied by alpha. Errors name `name`.
    pub fn from_premultiplied(
        [width, height]: [usize; 2],
        mut pixels: Vec<u8>,
        name: &Path,
    ) -> Result<Self, InkError> {
        let path = || name.to_owned();
        let side = |side: usize| {
            u32::try_from(side)
                .ok()
                .filter(|side| (1..=decode::MAX_SIDE).contains(side))
        };
        let bytes = |width, height| {
            needed(
                width,
                height,
                image::ColorType::Rgba8,
                image::ImageFormat::Png,
            )
        };
        let (Some(width), Some(height)) = (side(width), side(height)) else {
            return Err(InkError::TooLarge {
                path: path(),
                reason: format!("it has {width}x{height} pixels"),
            });
        };
        if bytes(width, height) > TOTAL {
            return Err(InkError::TooLarge {
                path: path(),
                reason: format!("it has {width}x{height} pixels"),
            });
        }
        let _share = Share::take(bytes(width, height));
        for pixel in pixels.chunks_exact_mut(4) {
            let alpha = pixel.last().copied().unwrap_or(u8::MAX);
            if !matches!(alpha, 0 | u8::MAX) {
                for value in pixel.iter_mut().take(3) {
                    *value = (u32::from(*value) * 255 / u32::from(alpha)).min(255) as u8;
                }
            }
        }
        let image = RgbaImage::from_raw(width, height, pixels);
        let image = image.ok_or_else(|| InkError::Malformed {
            path: path(),
            reason: "its pixels are not all there".to_owned(),
        })?;
        Ok(Self::of(&DynamicImage::ImageRgba8(image)))
    }

    fn of(image: &DynamicImage) -> Self {
        let gray = decode::reduce(image);
        let colored = image
            .thumbnail_exact(gray.width as u32, gray.height as u32)
            .to_rgba8();
        Self {
            gray,
            colored,
            size: [image.width(), image.height()],
        }
    }

    /// Width and height in pixels.
    pub const fn size(&self) -> [u32; 2] {
        self.size
    }

    /// The image reduced to what is worked with: width and height in pixels, and red, green, blue
    /// and alpha of each.
    pub fn colored(&self) -> ([usize; 2], &[u8]) {
        (self.gray.size(), self.colored.as_raw())
    }

    /// Finds what is written in it, as [`super::read_writing_file`] does with all steps.
    pub fn prepare(&self, steps: &Steps, framing: Framing) -> PreparedImage {
        let mut stages = Vec::new();
        let writing = writing_of(&self.gray, steps, framing, &mut stages);
        PreparedImage { stages, writing }
    }
}
