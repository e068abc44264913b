//! Images: the 28x28 one that models take as input, gray ones of any size with the connected
//! components of what stands out in them, and MNIST's frame, a 20x20 box in a 28x28 image, centered
//! by mass. Strokes and photographs both end there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::segment::Bounds;
use super::steps::{Step, Steps};

/// Pixels along one side of an image.
pub const SIDE: usize = 28;
pub const PIXELS: usize = SIDE * SIDE;

/// A 28x28 gray image in rows from the top left; 0 is paper, 255 is full ink (MNIST's polarity).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Image([u8; PIXELS]);

impl Image {
    pub const BLANK: Self = Self([0; PIXELS]);

    /// An image from its pixels, in rows from the top left.
    pub const fn new(pixels: [u8; PIXELS]) -> Self {
        Self(pixels)
    }

    /// The pixels in rows from the top left.
    pub const fn pixels(&self) -> &[u8; PIXELS] {
        &self.0
    }

    /// A PNG file of it: 8 bits of gray, white ink on black paper as in MNIST.
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

/// As it is saved: its pixels in base64. Most have no ink, so a 0 is followed by how many there are.
impl From<Image> for String {
    fn from(image: Image) -> Self {
        let mut bytes = Vec::new();
        for run in image.0.chunk_by(|one, next| *one == 0 && *next == 0) {
            match run {
                [0, ..] => bytes.extend(run.chunks(255).flat_map(|zeros| [0, zeros.len() as u8])),
                ink => bytes.extend(ink),
            }
        }
        STANDARD.encode(bytes)
    }
}

impl TryFrom<String> for Image {
    type Error = PixelCountError;
    fn try_from(text: String) -> Result<Self, PixelCountError> {
        let mut bytes = STANDARD.decode(text).unwrap_or_default().into_iter();
        let mut pixels = Vec::with_capacity(PIXELS);
        while pixels.len() <= PIXELS
            && let Some(pixel) = bytes.next()
        {
            let count = match pixel {
                0 => bytes.next().unwrap_or_default(),
                _ => 1,
            };
            pixels.resize(pixels.len() + usize::from(count), pixel);
        }
        Self::try_from(&pixels[..])
    }
}

/// An image needs exactly 784 pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an image has {PIXELS} pixels, not {0}")]
pub struct PixelCountError(pub usize);

impl TryFrom<&[u8]> for Image {
    type Error = PixelCountError;
    fn try_from(pixels: &[u8]) -> Result<Self, PixelCountError> {
        <[u8; PIXELS]>::try_from(pixels)
            .map(Self)
            .map_err(|_| PixelCountError(pixels.len()))
    }
}

/// A gray image of any size, in rows from the top left: brightness from 0 (black) to 1 (white), or
/// ink from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct GrayImage {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) values: Vec<f32>,
    /// Pixels of the file along the side of one here.
    pub(super) scale: f32,
}

impl GrayImage {
    /// Width and height in pixels.
    pub const fn size(&self) -> [usize; 2] {
        [self.width, self.height]
    }

    /// The pixels, in rows from the top left.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The image reduced by a whole factor to at most this many pixels a side, each the mean of
    /// those that it stands for.
    pub(super) fn reduced(&self, side: usize) -> Self {
        let step = self.width.max(self.height).div_ceil(side).max(1);
        let (width, height) = (self.width.div_ceil(step), self.height.div_ceil(step));
        let mut sums = vec![[0.0_f32; 2]; width * height];
        for (index, value) in self.values.iter().enumerate() {
            let (x, y) = self.position(index);
            let [sum, count] = &mut sums[y / step * width + x / step];
            (*sum, *count) = (*sum + value, *count + 1.0);
        }
        let values = sums.into_iter().map(|[sum, count]| sum / count).collect();
        Self {
            width,
            height,
            values,
            scale: self.scale * step as f32,
        }
    }

    pub(super) fn at(&self, x: usize, y: usize) -> f32 {
        self.values[y * self.width + x]
    }

    /// Column and row of pixel `index`.
    pub(super) const fn position(&self, index: usize) -> (usize, usize) {
        (index % self.width, index / self.width)
    }

    /// The distance of pixel `index` from the nearest edge of the image; 0 is on it.
    pub(super) fn distance_to_edge(&self, index: usize) -> usize {
        let (x, y) = self.position(index);
        x.min(y).min(self.width - 1 - x).min(self.height - 1 - y)
    }

    /// The pixel itself and up to eight around it.
    pub(super) fn neighborhood(&self, index: usize) -> impl Iterator<Item = usize> + use<> {
        let ((x, y), width) = (self.position(index), self.width);
        let columns = x.saturating_sub(1)..(x + 2).min(width);
        (y.saturating_sub(1)..(y + 2).min(self.height))
            .flat_map(move |row| columns.clone().map(move |column| row * width + column))
    }

    /// The pixels of each connected component (8-connectivity) of those that the mask contains.
    pub(super) fn components(&self, mut mask: Vec<bool>) -> Vec<Vec<usize>> {
        let mut components = Vec::new();
        for start in 0..mask.len() {
            if !std::mem::take(&mut mask[start]) {
                continue;
            }
            let (mut members, mut next) = (vec![start], 0);
            while let Some(&pixel) = members.get(next) {
                next += 1;
                members.extend(
                    self.neighborhood(pixel)
                        .filter(|&neighbor| std::mem::take(&mut mask[neighbor])),
                );
            }
            components.push(members);
        }
        components
    }

    /// The bounds of these pixels.
    pub(super) fn bounds(&self, pixels: impl IntoIterator<Item = usize>) -> Bounds {
        let corners = |index: usize| {
            let (x, y) = self.position(index);
            [[x as f32, y as f32], [x as f32 + 1.0, y as f32 + 1.0]]
        };
        Bounds::of(pixels.into_iter().flat_map(corners))
    }
}

/// Side of the box that ink is scaled to, in pixels.
pub(super) const BOX: usize = 20;
/// Pixels between the box and the image's edge.
pub(super) const MARGIN: usize = (SIDE - BOX) / 2;
/// The center of mass on both axes after centering, as a pixel index: MNIST's training images
/// average 14.0.
const CENTER: f32 = (SIDE / 2) as f32;

/// Symmetric ink balances exactly between two pixels; this settles which of them, against rounding
/// errors.
const TIE: f32 = 0.01;

/// The ink coverage of each pixel, from 0 to 1, drawn into the box in the middle of the image.
pub(super) struct Coverage(pub [f32; PIXELS]);

impl Default for Coverage {
    fn default() -> Self {
        Self([0.0; PIXELS])
    }
}

impl Coverage {
    pub fn image(&self) -> Image {
        self.moved([0, 0])
    }

    /// Moves the center of mass to the center of the image.
    pub fn centered(&self, steps: &Steps) -> Image {
        self.moved(self.shift(steps))
    }

    /// By how many pixels to the right and down its center of mass comes to the center of the
    /// image: whole ones as in MNIST (no second resampling), and never so many that ink leaves the
    /// image. None without [`Step::Centering`].
    pub fn shift(&self, steps: &Steps) -> [isize; 2] {
        let [mut mass, mut mass_x, mut mass_y] = [0.0_f32; 3];
        for (index, &value) in self.0.iter().enumerate() {
            mass += value;
            mass_x += value * (index % SIDE) as f32;
            mass_y += value * (index / SIDE) as f32;
        }
        if mass <= 0.0 || !steps.has(Step::Centering) {
            return [0, 0];
        }
        // What was not scaled to the box may be anywhere.
        let farthest = if steps.has(Step::Scaling) {
            MARGIN
        } else {
            SIDE / 2
        } as f32;
        [mass_x, mass_y].map(|moment| {
            (CENTER - moment / mass + TIE)
                .round()
                .clamp(-farthest, farthest) as isize
        })
    }

    /// The image, moved by this many pixels to the right and down.
    pub fn moved(&self, [right, down]: [isize; 2]) -> Image {
        let mut pixels = [0; PIXELS];
        for (index, pixel) in pixels.iter_mut().enumerate() {
            let x = (index % SIDE)
                .checked_add_signed(-right)
                .filter(|x| *x < SIDE);
            let y = (index / SIDE)
                .checked_add_signed(-down)
                .filter(|y| *y < SIDE);
            if let (Some(x), Some(y)) = (x, y) {
                *pixel = (self.0[y * SIDE + x] * 255.0).round() as u8;
            }
        }
        Image::new(pixels)
    }
}
