//! Which ink speaks for a class and which against it.
//!
//! Patches of ink are the players of a cooperative game whose value is the class's log-odds with
//! some of them on the paper (Lundberg & Lee 2017, "A Unified Approach to Interpreting Model
//! Predictions"). A patch's Shapley value is the mean of what it adds over all orders in which the
//! patches can come; here over some random orders, each in two directions (antithetic sampling),
//! and each with another grid of patches, so that their edges are not seen.

use std::ops::RangeInclusive;

use crate::ink::{Image, PIXELS, SIDE};
use crate::math::random::Random;
use crate::problem::Problem;

/// Pixels along a side of a patch.
const PATCH: usize = 3;
/// How many orders are tried, each in two directions.
const ORDERS: RangeInclusive<u64> = 2..=8;
/// The work that may be spent on a drawing, in floating-point operations of the network.
const FLOPS: u64 = 600_000_000;
/// Patches that a usual drawing has ink in.
const USUAL_PATCHES: u64 = 26;
const SEED: u64 = 1;

/// How many orders are tried with a model that takes so many operations for an image, so that the
/// picture follows the pen.
pub fn orders(flops: u64) -> u64 {
    let of_order = 2 * USUAL_PATCHES * flops.max(1);
    (FLOPS / of_order).clamp(*ORDERS.start(), *ORDERS.end())
}

/// The Shapley value of each pixel, and the value of the game for an empty image and for this one.
/// `value` returns it for images of 784 bytes each.
pub fn shapley_values(
    image: &Image,
    orders: u64,
    value: impl Fn(&[u8]) -> Result<Vec<f32>, Problem>,
) -> Result<(Vec<f32>, [f32; 2]), Problem> {
    let mut random = Random::stream(SEED, "attribution", 0);
    let sequences: Vec<Vec<Vec<usize>>> = (0..orders)
        .flat_map(|_| {
            let mut patches = patches(image, [0; 2].map(|_: u8| random.below(PATCH)));
            random.shuffle(&mut patches);
            let mut reversed = patches.clone();
            reversed.reverse();
            [patches, reversed]
        })
        .collect();
    let mut images = Image::BLANK.pixels().to_vec();
    images.extend_from_slice(image.pixels());
    for sequence in &sequences {
        let mut drawn = *Image::BLANK.pixels();
        for patch in sequence {
            for &pixel in patch {
                drawn[pixel] = image.pixels()[pixel];
            }
            images.extend_from_slice(&drawn);
        }
    }
    let found = value(&images)?;
    let [blank, whole, partial @ ..] = found.as_slice() else {
        return Ok((vec![0.0; PIXELS], [0.0; 2]));
    };
    let mut values = vec![0.0; PIXELS];
    let mut partial = partial.iter();
    for sequence in &sequences {
        let mut before = *blank;
        for (patch, &now) in sequence.iter().zip(&mut partial) {
            let ink = |pixel: usize| f32::from(image.pixels()[pixel]);
            let of_patch: f32 = patch.iter().map(|&pixel| ink(pixel)).sum();
            let added = (now - before) / (sequences.len() as f32 * of_patch);
            for &pixel in patch {
                values[pixel] += added * ink(pixel);
            }
            before = now;
        }
    }
    Ok((values, [*blank, *whole]))
}

/// The pixels with ink in each patch that has any, of a grid that is moved by so many pixels.
fn patches(image: &Image, [right, down]: [usize; 2]) -> Vec<Vec<usize>> {
    let columns = (SIDE + PATCH).div_ceil(PATCH);
    let mut patches = vec![Vec::new(); columns * columns];
    for (pixel, &gray) in image.pixels().iter().enumerate() {
        let (row, column) = (
            (pixel / SIDE + down) / PATCH,
            (pixel % SIDE + right) / PATCH,
        );
        if gray > 0 {
            patches[row * columns + column].push(pixel);
        }
    }
    patches.retain(|patch| !patch.is_empty());
    patches
}
