//! The pieces of a drawing: its strokes, and parts of those that may run through several digits.

use super::{Bounds, Piece};
use crate::ink::strokes::{Ink, Stroke};

/// A drawing with more strokes than this is one piece.
const MAX_STROKES: usize = 64;
/// A stroke that is wider than this, relative to the height of the writing, may run through several
/// digits.
const WIDE: f32 = 0.8;
/// The least width and height of what a stroke is cut into, relative to the height of the writing.
const MIN_SIZE: [f32; 2] = [0.1, 0.45];
/// How far the two sides of a cut may overlap, relative to the height of the writing.
const OVERLAP: f32 = 0.4;
const MAX_CUTS: usize = 6;

/// The pieces of a drawing, in the order of its strokes.
pub(super) fn pieces(ink: &Ink) -> Vec<Piece> {
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
        let cuts = cuts(&stroke, height);
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
fn cuts(stroke: &[[f32; 2]], height: f32) -> Vec<usize> {
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
            overlap(cut) <= OVERLAP * height
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
