//! Reads image files: a photograph, scan or screenshot of one digit becomes the same 28x28 image as ink would.
//! [`decode`] reads the file within the memory that [`budget`] allows, [`segment`] separates ink from paper, [`reframe`] brings the ink into MNIST's frame.

mod budget;
mod decode;
pub(super) mod reframe;
mod segment;

use std::io::{BufRead, BufReader, Seek};
use std::path::Path;

use super::InkError;
use super::image::{Image, PIXELS, SIDE};
use super::segment::Writing;
use crate::system::files::open_regular;

/// The image in a PNG or JPEG file, brought into MNIST's frame as ink is: dark on light or light on dark, with or
/// without transparency, of any size, unevenly lit. A file that follows MNIST's conventions already is taken as it is. A
/// file without anything on it gives [`Image::BLANK`].
pub fn read_image_file(path: &Path) -> Result<Image, InkError> {
    let unreadable = |error: std::io::Error| InkError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    let file = open_regular(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    read_image(BufReader::new(file), size, path)
}

/// The same for a file of `size` bytes that is open already; errors name `path`.
pub fn read_image(file: impl BufRead + Seek, size: u64, path: &Path) -> Result<Image, InkError> {
    let grey = decode::read(file, size, path)?;
    Ok(grey.as_mnist().unwrap_or_else(|| segment::find_ink(&grey).map_or(Image::BLANK, |ink| reframe::reframe(&ink))))
}

/// What is written in a PNG or JPEG file, divided into pieces each of which belongs to one digit; read as [`read_image_file`] does it.
pub fn read_writing_file(path: &Path) -> Result<Writing, InkError> {
    let unreadable = |error: std::io::Error| InkError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    let file = open_regular(path).map_err(unreadable)?;
    let size = file.metadata().map_err(unreadable)?.len();
    let grey = decode::read(BufReader::new(file), size, path)?;
    Ok(match grey.as_mnist() {
        Some(image) => Writing::framed(image),
        None => segment::find_ink(&grey).map_or_else(|| Writing::framed(Image::BLANK), Writing::of_pixels),
    })
}

/// A grey image of any size, in rows from the top left: brightness from 0 (black) to 1 (white), or ink from 0 to 1.
#[derive(Clone, Debug)]
pub(super) struct GrayImage {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) values: Vec<f32>,
    /// Pixels of the file along the side of one here.
    pub(super) scale: f32,
}

impl GrayImage {
    fn at(&self, x: usize, y: usize) -> f32 {
        self.values[y * self.width + x]
    }

    /// Column and row of value `index`.
    fn position(&self, index: usize) -> (usize, usize) {
        (index % self.width, index / self.width)
    }

    /// The distance of pixel `index` from the nearest edge of the image; 0 is on it.
    fn distance_to_edge(&self, index: usize) -> usize {
        let (x, y) = self.position(index);
        x.min(y).min(self.width - 1 - x).min(self.height - 1 - y)
    }

    /// The image itself (or its negative) when it is in MNIST's frame: 28x28, dark margin, ink 20 pixels long and
    /// centred by mass.
    fn as_mnist(&self) -> Option<Image> {
        if (self.width, self.height) != (SIDE, SIDE) {
            return None;
        }
        let mut pixels = [0; PIXELS];
        for (pixel, value) in pixels.iter_mut().zip(&self.values) {
            *pixel = (value * 255.0).round() as u8;
        }
        [pixels, pixels.map(|pixel| 255 - pixel)].into_iter().find(follows_mnist).map(Image::new)
    }
}

fn follows_mnist(pixels: &[u8; PIXELS]) -> bool {
    /// Darker pixels are compression artefacts rather than ink.
    const INK: u8 = 40;
    let mut low = [SIDE; 2];
    let mut high = [0; 2];
    let [mut mass, mut mass_x, mut mass_y] = [0.0_f32; 3];
    for (index, &pixel) in pixels.iter().enumerate().filter(|(_, pixel)| **pixel >= INK) {
        let place = [index % SIDE, index / SIDE];
        for axis in 0..2 {
            low[axis] = low[axis].min(place[axis]);
            high[axis] = high[axis].max(place[axis] + 1);
        }
        mass += f32::from(pixel);
        mass_x += f32::from(pixel) * place[0] as f32;
        mass_y += f32::from(pixel) * place[1] as f32;
    }
    let longest = high[0].saturating_sub(low[0]).max(high[1].saturating_sub(low[1]));
    let centred = |moment: f32| (moment / mass - 14.0).abs() <= 0.75;
    (18..=20).contains(&longest) && centred(mass_x) && centred(mass_y)
}
