//! Augmentation: a training image is changed each time it is seen, so that a network meets more
//! handwriting than there are images. Validation and test images stay as they are.
//!
//! An image becomes what someone else might have written: rotated, scaled, sheared, shifted,
//! elastically distorted (Simard, Steinkraus & Platt 2003, "Best practices for convolutional neural
//! networks applied to visual document analysis"), with a thicker or thinner stroke. Never
//! mirrored, never so much that a digit becomes another.
//!
//! [`AugmentParams`] are what happens to an image; [`Augmenter`] does it on the CPU, and
//! `nn::backend` for whole batches on other devices.
//!
//! Where each new pixel comes from in the old image is an affine map and a smooth random
//! displacement field in one. Simard et al. smooth a random displacement per pixel with a Gaussian
//! of 4 to 6 pixels. Here the displacements are uniform B-splines of degree 3 over random numbers
//! at knots 8 pixels apart: as smooth, of the same reach, and a twentieth of the work.

use crate::ink::{PIXELS, SIDE};
use crate::math::random::Random;
use crate::run_config::Augmentation;

/// Empty pixels around an image while it is augmented.
pub const MARGIN: usize = 2;
/// Side of an image with that margin.
pub const PADDED: usize = SIDE + 2 * MARGIN;

/// How far each change may go: all are uniform between minus this and this.
#[derive(Clone, Copy, Debug)]
struct Strength {
    /// Radians.
    rotation: f32,
    /// Fraction of the size, for width and height each.
    scale: f32,
    /// Pixels to the side per pixel of height.
    shear: f32,
    /// Pixels, along each axis.
    shift: f32,
    /// Standard deviation of the elastic displacement, in pixels along each axis.
    elastic: f32,
    /// Fraction of the way to a stroke that is a pixel wider, or narrower, at each edge.
    thickness: f32,
}

impl Strength {
    const GENTLE: Self = Self {
        rotation: 0.12,
        scale: 0.08,
        shear: 0.10,
        shift: 1.2,
        elastic: 0.45,
        thickness: 0.0,
    };
    const MEDIUM: Self = Self {
        rotation: 0.14,
        scale: 0.09,
        shear: 0.12,
        shift: 1.4,
        elastic: 0.5,
        thickness: 0.35,
    };
    const STRONG: Self = Self {
        rotation: 0.20,
        scale: 0.13,
        shear: 0.18,
        shift: 2.0,
        elastic: 0.85,
        thickness: 0.35,
    };
}

/// How one image is changed, once.
#[derive(Clone, Debug)]
pub struct AugmentParams {
    /// From a new position, relative to the center, to the old one: `[[xx, xy], [yx, yy]]`, row by
    /// row.
    pub map: [f32; 4],
    /// Pixels along x and y.
    pub shift: [f32; 2],
    /// Fraction of the way to a stroke that is a pixel wider (above 0) or narrower at each edge.
    pub thickness: f32,
    /// Displacements along x and y at the knots of the elastic field's splines, in pixels, row by
    /// row.
    pub knots: [[[f32; KNOTS]; KNOTS]; 2],
}

impl AugmentParams {
    /// How many numbers they are.
    pub const COUNT: usize = 4 + 2 + 1 + 2 * KNOTS * KNOTS;

    /// All of them in one row, in the order of the fields, as `nn::backend` takes them.
    pub fn packed(&self) -> [f32; Self::COUNT] {
        let Self {
            map,
            shift,
            thickness,
            knots,
        } = self;
        let knots = knots.as_flattened().as_flattened();
        let mut numbers = map.iter().chain(shift).chain([thickness]).chain(knots);
        std::array::from_fn(|_| numbers.next().copied().unwrap_or_default())
    }
}

/// Augments images; keeps its working memory between them.
#[derive(Debug)]
pub struct Augmenter {
    strength: Strength,
    padded: Box<[f32; PADDED * PADDED]>,
    grid: SamplingGrid,
}

impl Augmenter {
    /// `None` if augmentation is off.
    pub fn new(augmentation: Augmentation) -> Option<Self> {
        let strength = match augmentation {
            Augmentation::Off => return None,
            Augmentation::Gentle => Strength::GENTLE,
            Augmentation::Medium => Strength::MEDIUM,
            Augmentation::Strong => Strength::STRONG,
        };
        Some(Self {
            strength,
            padded: Box::new([0.0; PADDED * PADDED]),
            grid: SamplingGrid::default(),
        })
    }

    /// Random parameters for one image.
    pub fn sample(&self, random: &mut Random) -> AugmentParams {
        let strength = self.strength;
        let mut within = |most: f32| random.range(-most, most);
        let affine = Affine {
            rotation: within(strength.rotation),
            scale: [1.0 + within(strength.scale), 1.0 + within(strength.scale)],
            shear: within(strength.shear),
            shift: [within(strength.shift), within(strength.shift)],
        };
        let thickness = within(strength.thickness);
        AugmentParams {
            map: affine.inverse(),
            shift: affine.shift,
            thickness,
            knots: knots(strength.elastic, random),
        }
    }

    /// Augments an image of 784 pixels with random parameters.
    pub fn apply(&mut self, pixels: &mut [u8], random: &mut Random) {
        debug_assert_eq!(pixels.len(), PIXELS);
        let params = self.sample(random);
        let Self { padded, grid, .. } = self;
        // The stroke of the image before may have grown into the margin.
        padded.fill(0.0);
        for (row, pixels) in padded
            .chunks_exact_mut(PADDED)
            .skip(MARGIN)
            .zip(pixels.chunks_exact(SIDE))
        {
            for (to, &pixel) in row[MARGIN..].iter_mut().zip(pixels) {
                *to = f32::from(pixel);
            }
        }
        pulp::Arch::new().dispatch(Prepare {
            grid,
            padded,
            params: &params,
        });
        // Not dispatched: CPUs with gather instructions take longer with them than with one load
        // after the other.
        grid.resample(padded, pixels);
    }
}

/// What comes before resampling, compiled for the best instructions this CPU has; the result does
/// not depend on which. A separate type: what is in a closure is not compiled for the
/// instructions it is dispatched to.
struct Prepare<'a> {
    grid: &'a mut SamplingGrid,
    padded: &'a mut [f32; PADDED * PADDED],
    params: &'a AugmentParams,
}

impl pulp::NullaryFnOnce for Prepare<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self {
            grid,
            padded,
            params,
        } = self;
        grid.fill(params);
        if params.thickness != 0.0 {
            thicken(padded, params.thickness);
        }
    }
}

/// Thicker and thinner strokes: gray-scale dilation and erosion (Serra 1982), in part. Moves every
/// pixel towards the largest (for `amount` above 0) or the smallest of itself and its
/// four neighbors, by this fraction of the difference. The outermost pixels stay.
#[inline(always)]
fn thicken(image: &mut [f32; PADDED * PADDED], amount: f32) {
    if amount > 0.0 {
        spread(image, amount, f32::max);
    } else {
        spread(image, -amount, f32::min);
    }
}

#[inline(always)]
fn spread(image: &mut [f32; PADDED * PADDED], fraction: f32, extreme: impl Fn(f32, f32) -> f32) {
    let before = *image;
    // A row at a time, its neighbors side by side, so that the compiler does many pixels at once.
    let rows = before.chunks_exact(PADDED);
    let neighbors = rows.clone().zip(rows.clone().skip(1)).zip(rows.skip(2));
    for (to, ((above, row), below)) in image.chunks_exact_mut(PADDED).skip(1).zip(neighbors) {
        let (inner, left, right) = (&row[1..PADDED - 1], &row[..PADDED - 2], &row[2..]);
        let sides = left
            .iter()
            .zip(right)
            .zip(above[1..].iter().zip(&below[1..]));
        for ((to, &pixel), ((&left, &right), (&above, &below))) in
            to[1..PADDED - 1].iter_mut().zip(inner).zip(sides)
        {
            let reached = extreme(extreme(pixel, extreme(left, right)), extreme(above, below));
            *to = pixel + fraction * (reached - pixel);
        }
    }
}

/// Pixels between two knots.
const SPACING: usize = 8;
/// Intervals between knots along an axis that hold pixels.
const BLOCKS: usize = SIDE.div_ceil(SPACING);
/// Knots along an axis that some pixel depends on.
pub const KNOTS: usize = BLOCKS + 3;
/// The spline's standard deviation over numbers uniform in ±1: `1/√3` for those, and `151/315` of
/// the variance left along each axis.
const SPLINE_DEVIATION: f32 = 0.276_76;
/// The center of an image.
const CENTER: f32 = (SIDE as f32 - 1.0) / 2.0;

/// An affine map of an image about its center.
#[derive(Clone, Copy, Debug)]
struct Affine {
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
    /// The inverse of scaling, then shearing, then rotating: from the new position to the old one.
    pub fn inverse(self) -> [f32; 4] {
        let Self {
            rotation,
            scale: [wide, high],
            shear,
            ..
        } = self;
        let (sin, cos) = rotation.sin_cos();
        [
            (cos + shear * sin) / wide,
            (sin - shear * cos) / wide,
            -sin / high,
            cos / high,
        ]
    }
}

/// Random displacements at the knots, whose splines have a standard deviation of `elastic` pixels.
fn knots(elastic: f32, random: &mut Random) -> [[[f32; KNOTS]; KNOTS]; 2] {
    let amplitude = elastic / SPLINE_DEVIATION;
    let mut knots = [[[0.0_f32; KNOTS]; KNOTS]; 2];
    for knot in knots.as_flattened_mut().as_flattened_mut() {
        *knot = random.range(-amplitude, amplitude);
    }
    knots
}

/// The weight of each knot along an axis at each pixel: `[pixel][knot]`.
pub fn spline() -> [[f32; KNOTS]; SIDE] {
    let weights = weights();
    let mut spline = [[0.0; KNOTS]; SIDE];
    for (pixel, knots) in spline.iter_mut().enumerate() {
        for (knot, weights) in knots[pixel / SPACING..].iter_mut().zip(&weights) {
            *knot = weights[pixel];
        }
    }
    spline
}

/// A number for each new pixel, in rows as wide as padded images; what is beyond the
/// image's own width is not used.
type Rows<T> = Box<[[T; PADDED]; SIDE]>;

/// For every new pixel, the position in the old image it comes from.
#[derive(Debug)]
struct SamplingGrid {
    /// The old pixel at the upper left of the position, and how far the position is to the right of
    /// it and below it.
    pixel: Rows<i32>,
    right: Rows<f32>,
    below: Rows<f32>,
    /// The weights of the four knots about a column (or row).
    weights: [[f32; PADDED]; 4],
}

impl Default for SamplingGrid {
    fn default() -> Self {
        let empty = || Box::new([[0.0; PADDED]; SIDE]);
        Self {
            pixel: Box::new([[0; PADDED]; SIDE]),
            right: empty(),
            below: empty(),
            weights: weights(),
        }
    }
}

/// The weights of the four knots about a column (or row): the pieces of a uniform cubic B-spline,
/// from 0 to 1 between two knots.
fn weights() -> [[f32; PADDED]; 4] {
    let pieces: [fn(f32) -> f32; 4] = [
        |t| (1.0 - t).powi(3) / 6.0,
        |t| (3.0 * t.powi(3) - 6.0 * t * t + 4.0) / 6.0,
        |t| (-3.0 * t.powi(3) + 3.0 * t * t + 3.0 * t + 1.0) / 6.0,
        |t| t.powi(3) / 6.0,
    ];
    pieces.map(|piece| {
        std::array::from_fn(|column| piece((column % SPACING) as f32 / SPACING as f32))
    })
}

impl SamplingGrid {
    /// Computes the positions: the affine map plus the displacement field.
    ///
    /// Loops and sums are spelled out, so that they are compiled for the instructions this is
    /// dispatched to: closures are not.
    #[expect(
        clippy::needless_range_loop,
        reason = "four rows of knots and two tables are walked by the same index"
    )]
    #[inline(always)]
    pub fn fill(&mut self, params: &AugmentParams) {
        let AugmentParams {
            map: [xx, xy, yx, yy],
            shift,
            knots,
            ..
        } = params;
        // The last position that has a pixel to its right and below it.
        let furthest = (PADDED - 2) as f32;
        let middle = CENTER + MARGIN as f32;
        let Self {
            pixel,
            right,
            below,
            weights: [first, second, third, fourth],
        } = self;
        for row in 0..SIDE {
            let v = row as f32 - CENTER - shift[1];
            // Along the columns first: the sums over four rows of knots at this row, for each
            // column's four columns of knots.
            let mut displacements = [[[0.0; PADDED]; 4]; 2];
            for (displacements, knots) in displacements.iter_mut().zip(knots) {
                for column in 0..KNOTS {
                    let knot = row / SPACING;
                    let sum = first[row] * knots[knot][column]
                        + second[row] * knots[knot + 1][column]
                        + third[row] * knots[knot + 2][column]
                        + fourth[row] * knots[knot + 3][column];
                    // It is the first knot of its interval of columns, the second of the one
                    // before, and so on.
                    for (back, displacements) in displacements.iter_mut().enumerate() {
                        if let Some(block) =
                            column.checked_sub(back).filter(|block| *block < BLOCKS)
                        {
                            displacements[block * SPACING..(block + 1) * SPACING].fill(sum);
                        }
                    }
                }
            }
            let [dx, dy] = &displacements;
            let (pixel, right, below) = (&mut pixel[row], &mut right[row], &mut below[row]);
            for column in 0..PADDED {
                let u = column as f32 - CENTER - shift[0];
                let (one, two, three, four) =
                    (first[column], second[column], third[column], fourth[column]);
                let x = one * dx[0][column]
                    + two * dx[1][column]
                    + three * dx[2][column]
                    + four * dx[3][column];
                let y = one * dy[0][column]
                    + two * dy[1][column]
                    + three * dy[2][column]
                    + four * dy[3][column];
                let x = (middle + xx * u + xy * v + x).max(0.0).min(furthest);
                let y = (middle + yx * u + yy * v + y).max(0.0).min(furthest);
                let (whole_x, whole_y) = (x as i32, y as i32);
                pixel[column] = whole_y * PADDED as i32 + whole_x;
                right[column] = x - whole_x as f32;
                below[column] = y - whole_y as f32;
            }
        }
    }

    /// Samples the padded image at these positions (bilinear).
    pub fn resample(&self, padded: &[f32; PADDED * PADDED], pixels: &mut [u8]) {
        // The remainder tells the compiler that every index is within the image.
        let at = |index: usize| padded[index % (PADDED * PADDED)];
        let grid = self.pixel.iter().zip(&*self.right).zip(&*self.below);
        for (pixels, ((indices, rights), belows)) in pixels.chunks_exact_mut(SIDE).zip(grid) {
            for (((pixel, index), right), below) in
                pixels.iter_mut().zip(indices).zip(rights).zip(belows)
            {
                let index = *index as usize;
                let upper = at(index) + right * (at(index + 1) - at(index));
                let lower =
                    at(index + PADDED) + right * (at(index + PADDED + 1) - at(index + PADDED));
                // Between 0 and 255, so that its integer part is the byte.
                *pixel = (upper + below * (lower - upper) + 0.5) as i32 as u8;
            }
        }
    }
}
