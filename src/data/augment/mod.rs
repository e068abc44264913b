//! Augmentation: a training image is changed each time it is seen, so that a network meets more
//! handwriting than there are images. Validation and test images stay as they are.
//!
//! An image becomes what someone else might have written: rotated, scaled, sheared, shifted,
//! elastically distorted (Simard, Steinkraus & Platt 2003, "Best practices for convolutional neural
//! networks applied to visual document analysis"), with a thicker or thinner stroke. Never
//! mirrored, never so much that a digit becomes another.
//!
//! [`AugmentParams`] say what happens to an image; [`Augmenter`] does it on the CPU, and
//! `nn::backend` for whole batches on other devices.

mod warp;

pub use warp::{KNOTS, spline};

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
    /// Share of the size, for width and height each.
    scale: f32,
    /// Pixels to the side per pixel of height.
    shear: f32,
    /// Pixels, along each axis.
    shift: f32,
    /// Standard deviation of the elastic displacement, in pixels along each axis.
    elastic: f32,
    /// Share of the way to a stroke that is a pixel wider, or narrower, at each edge.
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
    /// Share of the way to a stroke that is a pixel wider (above 0) or narrower at each edge.
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
    grid: warp::SamplingGrid,
}

impl Augmenter {
    /// `None` where augmentation is off.
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
            grid: warp::SamplingGrid::default(),
        })
    }

    /// Random parameters for one image.
    pub fn sample(&self, random: &mut Random) -> AugmentParams {
        let strength = self.strength;
        let mut within = |most: f32| random.range(-most, most);
        let affine = warp::Affine {
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
            knots: warp::knots(strength.elastic, random),
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
/// not depend on which. A type of its own: what is in a closure is not compiled for the
/// instructions it is dispatched to.
struct Prepare<'a> {
    grid: &'a mut warp::SamplingGrid,
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
    let neighbours = rows.clone().zip(rows.clone().skip(1)).zip(rows.skip(2));
    for (to, ((above, row), below)) in image.chunks_exact_mut(PADDED).skip(1).zip(neighbours) {
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
