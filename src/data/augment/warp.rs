//! Owns the warp: where in the old picture each new pixel comes from, an affine map and a smooth random field in one, and the reading
//! of the old picture there.
//! Must not know how strong a change should be.
//!
//! Simard et al. smooth a random displacement per pixel with a Gaussian of 4 to 6 pixels. Here the displacements are uniform B-splines
//! of degree 3 over random numbers at knots 8 pixels apart: as smooth, of the same reach, and a twentieth of the work.

use super::{MARGIN, WIDE};
use crate::ink::SIDE;
use crate::random::Random;

/// Pixels between two knots.
const SPACING: usize = 8;
/// Stretches between knots along an axis that hold pixels.
const BLOCKS: usize = SIDE.div_ceil(SPACING);
/// Knots along an axis that have a say in some pixel.
const KNOTS: usize = BLOCKS + 3;
/// The spline's standard deviation over numbers uniform in ±1: `1/√3` for those, and `151/315` of the variance left along each axis.
const SPLINE_DEVIATION: f32 = 0.276_76;
/// The middle of a picture.
const MIDDLE: f32 = (SIDE as f32 - 1.0) / 2.0;

/// An affine map of a picture about its middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// Radians.
    pub rotation: f32,
    /// Factors for width and height.
    pub scale: [f32; 2],
    /// Pixels to the side per pixel of height.
    pub shear: f32,
    /// Pixels along x and y.
    pub shift: [f32; 2],
}

/// For every new pixel, the place in the old picture it comes from. Rows are as wide as those of pictures in work; what is beyond a
/// picture's own width is not used.
#[derive(Debug)]
pub(super) struct Field {
    x: Box<[[[f32; SPACING]; BLOCKS]; SIDE]>,
    y: Box<[[[f32; SPACING]; BLOCKS]; SIDE]>,
    /// What the four knots about a pixel count for, by its distance from the first.
    weights: [[f32; SPACING]; 4],
}

impl Default for Field {
    fn default() -> Self {
        // The four pieces of a uniform cubic B-spline, from 0 to 1 between two knots.
        let pieces: [fn(f32) -> f32; 4] = [
            |t| (1.0 - t).powi(3) / 6.0,
            |t| (3.0 * t.powi(3) - 6.0 * t * t + 4.0) / 6.0,
            |t| (-3.0 * t.powi(3) + 3.0 * t * t + 3.0 * t + 1.0) / 6.0,
            |t| t.powi(3) / 6.0,
        ];
        let weights = pieces.map(|piece| std::array::from_fn(|offset| piece(offset as f32 / SPACING as f32)));
        let empty = || Box::new([[[0.0; SPACING]; BLOCKS]; SIDE]);
        Self { x: empty(), y: empty(), weights }
    }
}

impl Field {
    /// Draws a field: this map, bent by so many pixels (standard deviation).
    #[inline(always)]
    pub fn draw(&mut self, change: Change, elastic: f32, random: &mut Random) {
        let Change { rotation, scale: [wide, high], shear, shift: [right, down] } = change;
        let (sin, cos) = rotation.sin_cos();
        // The inverse of turning after slanting and scaling: from the new place to the old one.
        let [xx, xy] = [(cos + shear * sin) / wide, (sin - shear * cos) / wide];
        let [yx, yy] = [-sin / high, cos / high];

        let amplitude = elastic / SPLINE_DEVIATION;
        let mut knots = [[[0.0_f32; KNOTS]; KNOTS]; 2];
        for knot in knots.as_flattened_mut().as_flattened_mut() {
            *knot = random.range(-amplitude, amplitude);
        }
        let Self { x, y, weights } = self;
        for (row, (x, y)) in x.iter_mut().zip(&mut **y).enumerate() {
            let v = row as f32 - MIDDLE - down;
            // Down the columns first: what the rows of knots come to at this row.
            let [bend_x, bend_y] = knots.map(|knots| {
                let rows = knots[row / SPACING..].iter().zip(weights.iter());
                let mut bend = [0.0; KNOTS];
                for (knots, weights) in rows {
                    for (bend, knot) in bend.iter_mut().zip(knots) {
                        *bend += weights[row % SPACING] * knot;
                    }
                }
                bend
            });
            for (block, (x, y)) in x.iter_mut().zip(y).enumerate() {
                let left = (block * SPACING) as f32 - MIDDLE - right;
                for offset in 0..SPACING {
                    let u = left + offset as f32;
                    let bent = |bend: &[f32; KNOTS]| (0..4).map(|knot| weights[knot][offset] * bend[block + knot]).sum::<f32>();
                    x[offset] = MIDDLE + xx * u + xy * v + bent(&bend_x);
                    y[offset] = MIDDLE + yx * u + yy * v + bent(&bend_y);
                }
            }
        }
    }

    /// Reads the picture at the field's places, between its pixels in proportion to their distance (bilinear); outside it is nothing.
    pub fn sample(&self, picture: &[f32; WIDE * WIDE], pixels: &mut [u8]) {
        // In the margin, one pixel before the edge that has a neighbour on either side.
        let furthest = (WIDE - 2) as f32;
        // Every place is within the picture, which this tells the compiler.
        let at = |place: usize| picture[place % (WIDE * WIDE)];
        for (pixels, (x, y)) in pixels.chunks_exact_mut(SIDE).zip(self.x.iter().zip(&*self.y)) {
            for ((pixel, x), y) in pixels.iter_mut().zip(x.as_flattened()).zip(y.as_flattened()) {
                let x = (x + MARGIN as f32).clamp(0.0, furthest);
                let y = (y + MARGIN as f32).clamp(0.0, furthest);
                let (column, row) = (x as i32, y as i32);
                let (right, down) = (x - column as f32, y - row as f32);
                let place = (row * WIDE as i32 + column) as usize;
                let above = at(place) + right * (at(place + 1) - at(place));
                let below = at(place + WIDE) + right * (at(place + WIDE + 1) - at(place + WIDE));
                *pixel = (above + down * (below - above) + 0.5) as u8;
            }
        }
    }
}
