//! The pieces of the ink in an image: connected pixels, and parts of those that may be several
//! digits which touch.

use super::{Bounds, Piece};
use crate::ink::gray_image::GrayImage;

/// Pixels with less ink belong to the edge of a stroke.
const INK: f32 = 0.25;
/// An image with more components than this is one piece.
const MAX_COMPONENTS: usize = 32;
/// A component that is wider than this, relative to the height of the writing, may be several
/// digits.
const WIDE: f32 = 0.8;
/// The least distance between two cuts, and of a cut from the ends, relative to the height of the
/// writing.
const APART: f32 = 0.2;
/// The most ink in a column where a cut may be, relative to the height of the writing.
const THIN: f32 = 0.4;
const MAX_CUTS: usize = 6;

pub(super) fn pieces(ink: &GrayImage) -> Vec<Piece> {
    let components = ink.components(ink.values.iter().map(|value| *value > INK).collect());
    let bounds_of = |pixels: &[usize]| ink.bounds(pixels.iter().copied());
    if components.len() > MAX_COMPONENTS {
        let pixels = components.concat();
        return vec![Piece {
            bounds: bounds_of(&pixels),
            pixels,
            ..Piece::default()
        }];
    }
    let height = components
        .iter()
        .map(|pixels| bounds_of(pixels).size(1))
        .fold(0.0, f32::max);
    let mut pieces = Vec::new();
    for (index, pixels) in components.into_iter().enumerate() {
        let bounds = bounds_of(&pixels);
        let cuts = cuts(ink, &pixels, bounds, height);
        let whole = cuts.is_empty();
        let mut parts = vec![Vec::new(); cuts.len() + 1];
        for pixel in pixels {
            let part = cuts.iter().filter(|&&cut| pixel % ink.width >= cut).count();
            if let Some(part) = parts.get_mut(part) {
                part.push(pixel);
            }
        }
        for (part, pixels) in parts.into_iter().enumerate() {
            let cut_from = (!whole).then_some((index, part));
            pieces.push(Piece {
                bounds: bounds_of(&pixels),
                pixels,
                cut_from,
                ..Piece::default()
            });
        }
    }
    pieces
}

/// The image with the ink of these pixels and of the edges around them alone.
pub(super) fn only<'a>(ink: &GrayImage, pixels: impl Iterator<Item = &'a usize>) -> GrayImage {
    let mut values = vec![0.0; ink.values.len()];
    for &pixel in pixels {
        for neighbor in ink.neighborhood(pixel) {
            // The ink of another piece stays there.
            if neighbor == pixel || ink.values[neighbor] <= INK {
                values[neighbor] = ink.values[neighbor];
            }
        }
    }
    GrayImage { values, ..*ink }
}

/// The first columns of the parts that follow the first: where a vertical line meets least ink.
fn cuts(ink: &GrayImage, pixels: &[usize], bounds: Bounds, height: f32) -> Vec<usize> {
    if bounds.size(0) <= WIDE * height || bounds.size(1) <= 0.45 * height {
        return Vec::new();
    }
    let first = bounds.low[0] as usize;
    let mut columns = vec![0.0_f32; bounds.size(0) as usize];
    for pixel in pixels {
        columns[pixel % ink.width - first] += 1.0;
    }
    let margin = (APART * height).max(1.0) as usize;
    let mut possible: Vec<usize> = (margin..columns.len().saturating_sub(margin))
        .filter(|&column| columns[column] <= THIN * height)
        .collect();
    // Of equals, the middle one: two digits that touch leave a gap above and below.
    let middle = |column: usize| {
        let equal = |other: &&f32| **other <= columns[column] + 1.0;
        let left = columns[..column].iter().rev().take_while(equal).count();
        let right = columns[column..].iter().take_while(equal).count();
        left.abs_diff(right)
    };
    possible.sort_by(|&a, &b| {
        columns[a]
            .total_cmp(&columns[b])
            .then(middle(a).cmp(&middle(b)))
    });
    let mut cuts: Vec<usize> = Vec::new();
    for column in possible {
        if cuts.len() < MAX_CUTS && cuts.iter().all(|cut| cut.abs_diff(column) >= margin) {
            cuts.push(column);
        }
    }
    cuts.sort_unstable();
    cuts.into_iter().map(|column| column + first).collect()
}
