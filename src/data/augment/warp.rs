//! Owns the warp: where in the old picture each new pixel comes from, an affine map and a smooth random field in one, and the reading
//! of the old picture there.
//! Must not know how strong a change should be.
//!
//! Simard et al. smooth a random displacement per pixel with a Gaussian of 4 to 6 pixels. Here the displacements are uniform B-splines
//! of degree 3 over random numbers at knots 8 pixels apart: as smooth, of the same reach, and a twentieth of the work.

use super::{AugmentParams, MARGIN, PADDED};
use crate::ink::SIDE;
use crate::math::random::Random;

/// Pixels between two knots.
const SPACING: usize = 8;
/// Stretches between knots along an axis that hold pixels.
const BLOCKS: usize = SIDE.div_ceil(SPACING);
/// Knots along an axis that have a say in some pixel.
pub const KNOTS: usize = BLOCKS + 3;
/// The spline's standard deviation over numbers uniform in ±1: `1/√3` for those, and `151/315` of the variance left along each axis.
const SPLINE_DEVIATION: f32 = 0.276_76;
/// The middle of a picture.
const MIDDLE: f32 = (SIDE as f32 - 1.0) / 2.0;

/// An affine map of a picture about its middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Affine {
    /// Radians.
    pub rotation: f32,
    /// Factors for width and height.
    pub scale: [f32; 2],
    /// Pixels to the side per pixel of height.
    pub shear: f32,
    /// Pixels along x and y.
    pub shift: [f32; 2],
}

impl Affine {
    /// The inverse of turning after slanting and scaling: from the new place to the old one.
    pub fn inverse(self) -> [f32; 4] {
        let Self { rotation, scale: [wide, high], shear, .. } = self;
        let (sin, cos) = rotation.sin_cos();
        [(cos + shear * sin) / wide, (sin - shear * cos) / wide, -sin / high, cos / high]
    }
}

/// Displacements at the knots, for a bending of so many pixels (standard deviation).
pub(super) fn knots(elastic: f32, random: &mut Random) -> [[[f32; KNOTS]; KNOTS]; 2] {
    let amplitude = elastic / SPLINE_DEVIATION;
    let mut knots = [[[0.0_f32; KNOTS]; KNOTS]; 2];
    for knot in knots.as_flattened_mut().as_flattened_mut() {
        *knot = random.range(-amplitude, amplitude);
    }
    knots
}

/// What each knot along an axis counts for at each pixel: `[pixel][knot]`.
pub fn spline() -> [[f32; KNOTS]; SIDE] {
    let weights = weights();
    let mut shares = [[0.0; KNOTS]; SIDE];
    for (pixel, shares) in shares.iter_mut().enumerate() {
        for (share, weights) in shares[pixel / SPACING..].iter_mut().zip(&weights) {
            *share = weights[pixel];
        }
    }
    shares
}

/// A number for each new pixel, in rows as wide as those of pictures in work; what is beyond a picture's own width is not used.
type Rows<T> = Box<[[T; PADDED]; SIDE]>;

/// For every new pixel, the place in the old picture it comes from.
#[derive(Debug)]
pub(super) struct Field {
    /// The old pixel at the upper left of the place, and how far the place is to the right of it and below it.
    pixel: Rows<i32>,
    right: Rows<f32>,
    below: Rows<f32>,
    /// What the four knots about a column (or row) count for.
    weights: [[f32; PADDED]; 4],
}

impl Default for Field {
    fn default() -> Self {
        let empty = || Box::new([[0.0; PADDED]; SIDE]);
        Self { pixel: Box::new([[0; PADDED]; SIDE]), right: empty(), below: empty(), weights: weights() }
    }
}

/// What the four knots about a column (or row) count for: the pieces of a uniform cubic B-spline, from 0 to 1 between two knots.
fn weights() -> [[f32; PADDED]; 4] {
    let pieces: [fn(f32) -> f32; 4] = [
        |t| (1.0 - t).powi(3) / 6.0,
        |t| (3.0 * t.powi(3) - 6.0 * t * t + 4.0) / 6.0,
        |t| (-3.0 * t.powi(3) + 3.0 * t * t + 3.0 * t + 1.0) / 6.0,
        |t| t.powi(3) / 6.0,
    ];
    pieces.map(|piece| std::array::from_fn(|column| piece((column % SPACING) as f32 / SPACING as f32)))
}

impl Field {
    /// Lays a variation's field out: its map, bent.
    ///
    /// Loops and sums are spelt out, so that they are compiled for the instructions this is dispatched to: closures are not.
    #[expect(clippy::needless_range_loop, reason = "four rows of knots and two tables are walked by the same index")]
    #[inline(always)]
    pub fn lay(&mut self, variation: &AugmentParams) {
        let AugmentParams { map: [xx, xy, yx, yy], shift, knots, .. } = variation;
        // In the margin, one pixel before the edge that has a neighbour on either side.
        let furthest = (PADDED - 2) as f32;
        let middle = MIDDLE + MARGIN as f32;
        let Self { pixel, right, below, weights: [first, second, third, fourth] } = self;
        for row in 0..SIDE {
            let v = row as f32 - MIDDLE - shift[1];
            // Down the columns first: what the rows of knots come to at this row, for each column's four.
            let mut bends = [[[0.0; PADDED]; 4]; 2];
            for (bends, knots) in bends.iter_mut().zip(knots) {
                for column in 0..KNOTS {
                    let knot = row / SPACING;
                    let bend = first[row] * knots[knot][column]
                        + second[row] * knots[knot + 1][column]
                        + third[row] * knots[knot + 2][column]
                        + fourth[row] * knots[knot + 3][column];
                    // It is the first knot of its own stretch of columns, the second of the one before, and so on.
                    for (back, bends) in bends.iter_mut().enumerate() {
                        if let Some(block) = column.checked_sub(back).filter(|block| *block < BLOCKS) {
                            bends[block * SPACING..(block + 1) * SPACING].fill(bend);
                        }
                    }
                }
            }
            let [bx, by] = &bends;
            let (pixel, right, below) = (&mut pixel[row], &mut right[row], &mut below[row]);
            for column in 0..PADDED {
                let u = column as f32 - MIDDLE - shift[0];
                let (one, two, three, four) = (first[column], second[column], third[column], fourth[column]);
                let x = one * bx[0][column] + two * bx[1][column] + three * bx[2][column] + four * bx[3][column];
                let y = one * by[0][column] + two * by[1][column] + three * by[2][column] + four * by[3][column];
                let x = (middle + xx * u + xy * v + x).max(0.0).min(furthest);
                let y = (middle + yx * u + yy * v + y).max(0.0).min(furthest);
                let (whole_x, whole_y) = (x as i32, y as i32);
                pixel[column] = whole_y * PADDED as i32 + whole_x;
                right[column] = x - whole_x as f32;
                below[column] = y - whole_y as f32;
            }
        }
    }

    /// Reads the picture at the field's places, between its pixels in proportion to their distance (bilinear); outside it is nothing.
    pub fn resample(&self, picture: &[f32; PADDED * PADDED], pixels: &mut [u8]) {
        // Every place is within the picture, which this tells the compiler.
        let at = |place: usize| picture[place % (PADDED * PADDED)];
        let field = self.pixel.iter().zip(&*self.right).zip(&*self.below);
        for (pixels, ((places, rights), belows)) in pixels.chunks_exact_mut(SIDE).zip(field) {
            for (((pixel, place), right), below) in pixels.iter_mut().zip(places).zip(rights).zip(belows) {
                let place = *place as usize;
                let upper = at(place) + right * (at(place + 1) - at(place));
                let lower = at(place + PADDED) + right * (at(place + PADDED + 1) - at(place + PADDED));
                // Between 0 and 255, so that the whole number is the byte.
                *pixel = (upper + below * (lower - upper) + 0.5) as i32 as u8;
            }
        }
    }
}
