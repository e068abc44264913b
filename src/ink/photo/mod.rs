//! Owns reading a picture file: a photograph, scan or screenshot of one digit becomes what ink becomes.
//! [`file`] decodes, [`paper`] tells ink from background, [`fit`] brings the ink into MNIST's frame. Must not know strokes.

mod file;
mod fit;
mod paper;

use std::path::Path;

use super::InkError;
use super::picture::{PIXELS, Picture, SIDE};

/// The picture in a PNG or JPEG file, brought into MNIST's frame as ink is: dark on light or light on dark, with or
/// without transparency, of any size, unevenly lit. A file that follows MNIST's conventions already is taken as it is. A
/// file without anything on it gives [`Picture::BLANK`].
pub fn picture_from_image_file(path: &Path) -> Result<Picture, InkError> {
    let grey = file::read(path)?;
    Ok(grey.as_mnist().unwrap_or_else(|| paper::find_ink(&grey).map_or(Picture::BLANK, |ink| fit::picture(&ink))))
}

/// A grey picture of any size, in rows from the top left; what a value means is its holder's to say.
struct Grey {
    width: usize,
    height: usize,
    values: Vec<f32>,
}

impl Grey {
    fn at(&self, x: usize, y: usize) -> f32 {
        self.values[y * self.width + x]
    }

    /// The coordinates of value `index`.
    fn place(&self, index: usize) -> (usize, usize) {
        (index % self.width, index / self.width)
    }

    /// How near to the edge `index` lies; 0 is on it.
    fn inset(&self, index: usize) -> usize {
        let (x, y) = self.place(index);
        x.min(y).min(self.width - 1 - x).min(self.height - 1 - y)
    }

    /// The picture itself (or its negative) when it is in MNIST's frame: 28x28, dark margin, ink 20 pixels long and
    /// centred by mass.
    fn as_mnist(&self) -> Option<Picture> {
        if (self.width, self.height) != (SIDE, SIDE) {
            return None;
        }
        let mut pixels = [0; PIXELS];
        for (pixel, value) in pixels.iter_mut().zip(&self.values) {
            *pixel = (value * 255.0).round() as u8;
        }
        [pixels, pixels.map(|pixel| 255 - pixel)].into_iter().find(follows_mnist).map(Picture::new)
    }
}

fn follows_mnist(pixels: &[u8; PIXELS]) -> bool {
    /// Darker is no ink, but what a lossy file makes of none.
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
