//! Owns how a training picture is changed each time it is seen, so that a network meets more handwritings than there are pictures.
//! Must not know batches, nor when it is used: validation and test pictures stay as they are.
//!
//! A picture becomes what another hand might have written: turned, scaled, slanted, shifted, bent (Simard, Steinkraus & Platt 2003, "Best
//! practices for convolutional neural networks applied to visual document analysis"), and with a thicker or thinner stroke. Never
//! mirrored, never so much that a digit becomes another.

mod thickness;
mod warp;

pub use warp::{KNOTS, spline};

use crate::ink::{PIXELS, SIDE};
use crate::math::random::Random;
use crate::run_config::Augmentation;

/// Pixels of nothing around a picture in work.
pub const MARGIN: usize = 2;
/// Side of a picture in work.
pub const PADDED: usize = SIDE + 2 * MARGIN;

/// How far each change may go. All are drawn evenly between minus this and this.
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
    /// Standard deviation of the bending, in pixels along each axis.
    elastic: f32,
    /// Share of the way to a stroke that is a pixel wider, or narrower, at each edge.
    thickness: f32,
}

impl Strength {
    const GENTLE: Self = Self { rotation: 0.12, scale: 0.08, shear: 0.10, shift: 1.2, elastic: 0.45, thickness: 0.0 };
    const MEDIUM: Self = Self { rotation: 0.14, scale: 0.09, shear: 0.12, shift: 1.4, elastic: 0.5, thickness: 0.35 };
    const STRONG: Self = Self { rotation: 0.20, scale: 0.13, shear: 0.18, shift: 2.0, elastic: 0.85, thickness: 0.35 };
}

/// How one picture is changed, once.
#[derive(Clone, Debug)]
pub struct AugmentParams {
    /// From a new place, relative to the middle, to the old one: `[[xx, xy], [yx, yy]]`, row by row.
    pub map: [f32; 4],
    /// Pixels along x and y.
    pub shift: [f32; 2],
    /// Share of the way to a stroke that is a pixel wider (above 0) or narrower at each edge.
    pub thickness: f32,
    /// Displacements along x and y at the knots of the bending's splines, in pixels, row by row.
    pub knots: [[[f32; KNOTS]; KNOTS]; 2],
}

/// Changes pictures; keeps its working memory between them.
#[derive(Debug)]
pub struct Augmenter {
    strength: Strength,
    picture: Box<[f32; PADDED * PADDED]>,
    field: warp::Field,
}

impl Augmenter {
    /// For pictures changed so; `None` where they are not.
    pub fn new(augmentation: Augmentation) -> Option<Self> {
        let strength = match augmentation {
            Augmentation::Off => return None,
            Augmentation::Gentle => Strength::GENTLE,
            Augmentation::Medium => Strength::MEDIUM,
            Augmentation::Strong => Strength::STRONG,
        };
        Some(Self { strength, picture: Box::new([0.0; PADDED * PADDED]), field: warp::Field::default() })
    }

    /// How a picture is changed, as `random` wills.
    pub fn sample(&self, random: &mut Random) -> AugmentParams {
        let strength = self.strength;
        let mut within = |most: f32| random.range(-most, most);
        let change = warp::Affine {
            rotation: within(strength.rotation),
            scale: [1.0 + within(strength.scale), 1.0 + within(strength.scale)],
            shear: within(strength.shear),
            shift: [within(strength.shift), within(strength.shift)],
        };
        let thickness = within(strength.thickness);
        AugmentParams { map: change.inverse(), shift: change.shift, thickness, knots: warp::knots(strength.elastic, random) }
    }

    /// Changes a picture of 784 pixels as `random` wills.
    pub fn apply(&mut self, pixels: &mut [u8], random: &mut Random) {
        debug_assert_eq!(pixels.len(), PIXELS);
        let variation = self.sample(random);
        let Self { picture, field, .. } = self;
        // The stroke of the picture before may have grown into the margin.
        picture.fill(0.0);
        for (row, pixels) in picture.chunks_exact_mut(PADDED).skip(MARGIN).zip(pixels.chunks_exact(SIDE)) {
            for (to, &pixel) in row[MARGIN..].iter_mut().zip(pixels) {
                *to = f32::from(pixel);
            }
        }
        pulp::Arch::new().dispatch(Prepare { field, picture, variation: &variation });
        // Not dispatched: processors that can gather from many places at once take longer to do so than to visit one after the other.
        field.resample(picture, pixels);
    }
}

/// What comes before a picture is read, to be done with the best instructions this processor has; what comes out does not depend on which.
/// A type of its own: what is in a closure is not compiled for the instructions it is dispatched to.
struct Prepare<'a> {
    field: &'a mut warp::Field,
    picture: &'a mut [f32; PADDED * PADDED],
    variation: &'a AugmentParams,
}

impl pulp::NullaryFnOnce for Prepare<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { field, picture, variation } = self;
        field.lay(variation);
        if variation.thickness != 0.0 {
            thickness::thicken(picture, variation.thickness);
        }
    }
}
