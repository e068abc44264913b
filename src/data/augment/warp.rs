//! Owns the warp: where in the old picture each new pixel comes from, an affine map and a smooth random field in one, and the reading
//! of the old picture there.
//! Must not know how strong a change should be.
//!
//! Simard et al. smooth a random displacement per pixel with a Gaussian of 4 to 6 pixels. Here the displacements are uniform B-splines
//! of degree 3 over random numbers at knots 8 pixels apart: as smooth, of the same reach, and a twentieth of the work.

use super::{MARGIN, WIDE};
use crate::ink::{PIXELS, SIDE};
use crate::random::Random;

/// Pixels between two knots.
const SPACING: usize = 8;
/// Knots along an axis that have a say in some pixel.
const KNOTS: usize = (SIDE - 1) / SPACING + 4;
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

/// For every new pixel, the place in the old picture it comes from.
#[derive(Debug)]
pub(super) struct Field {
    x: Box<[f32; PIXELS]>,
    y: Box<[f32; PIXELS]>,
    weights: [[f32; 4]; SPACING],
}

impl Default for Field {
    fn default() -> Self {
        let weights = std::array::from_fn(|offset| {
            let t = offset as f32 / SPACING as f32;
            let (t2, t3) = (t * t, t * t * t);
            let left = 1.0 - t;
            [left * left * left / 6.0, (3.0 * t3 - 6.0 * t2 + 4.0) / 6.0, (-3.0 * t3 + 3.0 * t2 + 3.0 * t + 1.0) / 6.0, t3 / 6.0]
        });
        Self { x: Box::new([0.0; PIXELS]), y: Box::new([0.0; PIXELS]), weights }
    }
}

impl Field {
    /// Draws a field: this map, bent by so many pixels (standard deviation).
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
        for row in 0..SIDE {
            let v = row as f32 - MIDDLE - down;
            let along = &self.weights[row % SPACING];
            // Along the columns first: what the knots' rows come to at this row.
            let [bend_x, bend_y] = knots.map(|knots| {
                let rows = &knots[row / SPACING..];
                std::array::from_fn::<f32, KNOTS, _>(|column| rows.iter().zip(along).map(|(knots, weight)| weight * knots[column]).sum())
            });
            let places = self.x[row * SIDE..].iter_mut().zip(&mut self.y[row * SIDE..]).take(SIDE);
            for (column, (x, y)) in places.enumerate() {
                let u = column as f32 - MIDDLE - right;
                let (first, along) = (column / SPACING, &self.weights[column % SPACING]);
                let bent = |knots: &[f32; KNOTS]| knots[first..].iter().zip(along).map(|(knot, weight)| weight * knot).sum::<f32>();
                *x = MIDDLE + xx * u + xy * v + bent(&bend_x);
                *y = MIDDLE + yx * u + yy * v + bent(&bend_y);
            }
        }
    }

    /// Reads the picture at the field's places, between its pixels in proportion to their distance (bilinear); outside it is nothing.
    pub fn sample(&self, picture: &[f32; WIDE * WIDE], pixels: &mut [u8]) {
        // In the margin, one pixel before the edge that has a neighbour on either side.
        let furthest = (WIDE - 2) as f32;
        for ((pixel, x), y) in pixels.iter_mut().zip(&*self.x).zip(&*self.y) {
            let x = (x + MARGIN as f32).clamp(0.0, furthest);
            let y = (y + MARGIN as f32).clamp(0.0, furthest);
            let (column, row) = (x as usize, y as usize);
            let (right, down) = (x - column as f32, y - row as f32);
            let place = row * WIDE + column;
            let at = |place: usize| picture.get(place).copied().unwrap_or_default();
            let above = at(place) + right * (at(place + 1) - at(place));
            let below = at(place + WIDE) + right * (at(place + WIDE + 1) - at(place + WIDE));
            *pixel = (above + down * (below - above) + 0.5) as u8;
        }
    }
}
