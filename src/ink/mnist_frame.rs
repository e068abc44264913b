//! MNIST's frame: a 20x20 box in a 28x28 image, centred by mass. Strokes and photographs both end
//! here.

use super::image::{Image, PIXELS, SIDE};
use super::steps::{Step, Steps};

/// Side of the box that ink is scaled to, in pixels.
pub(super) const BOX: usize = 20;
/// Pixels between the box and the image's edge.
pub(super) const MARGIN: usize = (SIDE - BOX) / 2;
/// The centre of mass on both axes after centring, as a pixel index: MNIST's training images
/// average 14.0.
const CENTRE: f32 = (SIDE / 2) as f32;

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

    /// Moves the centre of mass to the centre of the image, by whole pixels as MNIST does (no
    /// second resampling), and never so far that ink leaves the image. Without [`Step::Centring`],
    /// it stays where it is.
    pub fn centered(&self, steps: &Steps) -> Image {
        if !steps.has(Step::Centring) {
            return self.image();
        }
        let [mut mass, mut mass_x, mut mass_y] = [0.0_f32; 3];
        for (index, &value) in self.0.iter().enumerate() {
            mass += value;
            mass_x += value * (index % SIDE) as f32;
            mass_y += value * (index / SIDE) as f32;
        }
        if mass <= 0.0 {
            return Image::BLANK;
        }
        // What was not scaled to the box may be anywhere.
        let farthest = if steps.has(Step::Scaling) {
            MARGIN
        } else {
            SIDE / 2
        } as f32;
        let shift = |moment: f32| {
            (CENTRE - moment / mass + TIE)
                .round()
                .clamp(-farthest, farthest) as isize
        };
        self.moved([shift(mass_x), shift(mass_y)])
    }

    /// The image, moved by this many pixels to the right and down.
    fn moved(&self, [right, down]: [isize; 2]) -> Image {
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
