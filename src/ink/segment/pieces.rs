//! The pieces of a drawing: its strokes, and parts of those that may run through several digits. The
//! pieces of the ink in an image: connected pixels, and parts of those that may be several digits which
//! touch.

use super::{Bounds, Piece};

use crate::ink::image::GrayImage;
use crate::ink::{Ink, Stroke};

/// A drawing with more strokes than this is one piece.
const MAX_STROKES: usize = 64;
/// A stroke or a component that is wider than this, relative to the height of the writing, may be
/// several digits.
const WIDE: f32 = 0.8;
/// The least width and height of what a stroke is cut into, relative to the height of the writing.
const MIN_SIZE: [f32; 2] = [0.1, 0.45];
/// How far the two sides of a cut may overlap, relative to the height of the writing.
const CUT_OVERLAP: f32 = 0.4;
const MAX_CUTS: usize = 6;
/// Pixels with less ink belong to the edge of a stroke.
const INK: f32 = 0.25;
/// An image with more components than this is one piece.
const MAX_COMPONENTS: usize = 32;
/// The least distance between two cuts, and of a cut from the ends, relative to the height of the
/// writing.
const APART: f32 = 0.2;
/// The most ink in a column where a cut may be, relative to the height of the writing.
const THIN: f32 = 0.4;

/// The pieces of a drawing, in the order of its strokes.
pub(super) fn pieces_of_ink(ink: &Ink) -> Vec<Piece> {
    let finite = |stroke: &Stroke| {
        stroke
            .iter()
            .copied()
            .filter(|[x, y]| x.is_finite() && y.is_finite())
            .collect::<Stroke>()
    };
    let strokes: Vec<Stroke> = ink
        .strokes
        .iter()
        .map(finite)
        .filter(|stroke| !stroke.is_empty())
        .collect();
    if strokes.len() > MAX_STROKES {
        let bounds = Bounds::of(strokes.iter().flatten().copied());
        return vec![Piece {
            bounds,
            strokes,
            ..Piece::default()
        }];
    }
    let height = strokes
        .iter()
        .map(|stroke| Bounds::of(stroke.iter().copied()).size(1))
        .fold(0.0, f32::max);
    let mut pieces = Vec::new();
    for (index, stroke) in strokes.into_iter().enumerate() {
        let cuts = cuts_of_stroke(&stroke, height);
        let whole = cuts.is_empty();
        let mut from = 0;
        for (part, to) in cuts.into_iter().chain([stroke.len()]).enumerate() {
            let points = stroke.get(from..to).unwrap_or_default().to_vec();
            let cut_from = (!whole).then_some((index, part));
            pieces.push(Piece {
                bounds: Bounds::of(points.iter().copied()),
                strokes: vec![points],
                cut_from,
                ..Piece::default()
            });
            from = to;
        }
    }
    pieces
}

/// The strokes of these pieces; parts that follow each other in one are joined again.
pub(super) fn joined(pieces: &[Piece]) -> Vec<Stroke> {
    let mut parts: Vec<&Piece> = pieces.iter().collect();
    parts.sort_by_key(|piece| piece.cut_from);
    let mut strokes: Vec<Stroke> = Vec::new();
    let mut last = None;
    for piece in parts {
        let follows = piece
            .cut_from
            .is_some_and(|(stroke, part)| part > 0 && last == Some((stroke, part - 1)));
        match strokes.last_mut().filter(|_| follows) {
            Some(stroke) => stroke.extend(piece.strokes.iter().flatten()),
            None => strokes.extend(piece.strokes.iter().cloned()),
        }
        last = piece.cut_from;
    }
    strokes
}

/// Where a stroke may go from one digit on to the next: before which of its points. There the pen
/// moves to the right, and what was drawn before and what comes after reach least over each other.
fn cuts_of_stroke(stroke: &[[f32; 2]], height: f32) -> Vec<usize> {
    let bounds = Bounds::of(stroke.iter().copied());
    if bounds.size(0) <= WIDE * height || bounds.size(1) <= MIN_SIZE[1] * height {
        return Vec::new();
    }
    let before = running_bounds(stroke.iter());
    let mut after = running_bounds(stroke.iter().rev());
    after.reverse();
    let overlap = |cut: usize| before[cut - 1].high[0] - after[cut].low[0];
    // The best cut first; what lies too close to it is not a cut of its own.
    let mut possible: Vec<usize> = (1..stroke.len())
        .filter(|&cut| {
            let sides = [before[cut - 1], after[cut]];
            overlap(cut) <= CUT_OVERLAP * height
                && stroke[cut][0] >= stroke[cut - 1][0]
                && sides.iter().all(|side| {
                    side.size(0) >= MIN_SIZE[0] * height && side.size(1) >= MIN_SIZE[1] * height
                })
        })
        .collect();
    possible.sort_by(|&a, &b| overlap(a).total_cmp(&overlap(b)));
    let mut cuts: Vec<usize> = Vec::new();
    for cut in possible {
        let apart = |other: &usize| (stroke[cut][0] - stroke[*other][0]).abs() >= 0.3 * height;
        if cuts.len() < MAX_CUTS && cuts.iter().all(apart) {
            cuts.push(cut);
        }
    }
    cuts.sort_unstable();
    cuts
}

/// The bounds of the points up to each of them.
fn running_bounds<'a>(points: impl Iterator<Item = &'a [f32; 2]>) -> Vec<Bounds> {
    points
        .scan(Bounds::default(), |bounds, &point| {
            *bounds = bounds.union(Bounds {
                low: point,
                high: point,
            });
            Some(*bounds)
        })
        .collect()
}

/// The most segments of a stroke that are looked at for crossings: longer strokes are looked at in
/// coarser steps.
const SEGMENTS: usize = 64;

/// True when two strokes cross or touch.
pub(super) fn cross(a: &[[f32; 2]], b: &[[f32; 2]]) -> bool {
    let coarse = |stroke: &[[f32; 2]]| -> Vec<[f32; 2]> {
        let step = stroke.len().div_ceil(SEGMENTS).max(1);
        stroke
            .iter()
            .copied()
            .step_by(step)
            .chain(stroke.last().copied())
            .collect()
    };
    let (a, b) = (coarse(a), coarse(b));
    // Twice the area of a triangle, with its sense.
    let turn = |[ax, ay]: [f32; 2], [bx, by]: [f32; 2], [cx, cy]: [f32; 2]| {
        (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    };
    let on_both_sides =
        |[p, q]: &[[f32; 2]; 2], [r, s]: &[[f32; 2]; 2]| turn(*p, *q, *r) * turn(*p, *q, *s) <= 0.0;
    a.array_windows().any(|one| {
        b.array_windows()
            .any(|two| on_both_sides(one, two) && on_both_sides(two, one))
    })
}

pub(super) fn pieces_of_pixels(ink: &GrayImage) -> Vec<Piece> {
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
        let cuts = cuts_of_pixels(ink, &pixels, bounds, height);
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
fn cuts_of_pixels(ink: &GrayImage, pixels: &[usize], bounds: Bounds, height: f32) -> Vec<usize> {
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
