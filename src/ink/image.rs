use serde::{Deserialize, Serialize};

/// Pixels along one side of an image.
pub const SIDE: usize = 28;
/// Pixels of an image.
pub const PIXELS: usize = SIDE * SIDE;

/// A 28x28 grey image in rows from the top left; 0 is paper, 255 is full ink (MNIST's polarity).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
pub struct Image([u8; PIXELS]);

impl Image {
    /// An image without ink.
    pub const BLANK: Self = Self([0; PIXELS]);

    /// An image from its pixels, in rows from the top left.
    pub const fn new(pixels: [u8; PIXELS]) -> Self {
        Self(pixels)
    }

    /// The pixels in rows from the top left.
    pub const fn pixels(&self) -> &[u8; PIXELS] {
        &self.0
    }

    /// A PNG file of it: 8 bits of grey, white ink on black paper as in MNIST.
    pub fn to_png(&self) -> Vec<u8> {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let encoder = image::codecs::png::PngEncoder::new(&mut bytes);
        let size = SIDE as u32;
        // Memory takes any number of bytes, and the pixels are as many as the header says.
        let written = image::ImageEncoder::write_image(
            encoder,
            &self.0,
            size,
            size,
            image::ExtendedColorType::L8,
        );
        debug_assert!(written.is_ok());
        bytes.into_inner()
    }

    /// True when no pixel holds ink.
    pub fn is_blank(&self) -> bool {
        self.0.iter().all(|&pixel| pixel == 0)
    }
}

impl From<Image> for Vec<u8> {
    fn from(image: Image) -> Self {
        image.0.to_vec()
    }
}

/// An image needs exactly 784 pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an image has {PIXELS} pixels, not {0}")]
pub struct WrongPixelCount(pub usize);

impl TryFrom<Vec<u8>> for Image {
    type Error = WrongPixelCount;
    fn try_from(pixels: Vec<u8>) -> Result<Self, WrongPixelCount> {
        <[u8; PIXELS]>::try_from(pixels)
            .map(Self)
            .map_err(|pixels| WrongPixelCount(pixels.len()))
    }
}

impl TryFrom<&[u8]> for Image {
    type Error = WrongPixelCount;
    fn try_from(pixels: &[u8]) -> Result<Self, WrongPixelCount> {
        <[u8; PIXELS]>::try_from(pixels)
            .map(Self)
            .map_err(|_| WrongPixelCount(pixels.len()))
    }
}
