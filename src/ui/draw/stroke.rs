//! How a pen stroke looks on screen: a smooth line with round ends and joins. The model gets the points as they were drawn.

use eframe::egui::{Color32, Pos2, Shape, Stroke, epaint::PathStroke};

/// A turn sharper than this (cosine of the angle) splits the line, with a disc over the joint: egui draws thick lines well only
/// where they bend little.
const MIN_COSINE: f32 = 0.97;
/// The distance between samples of the curve, in points on the screen.
const SAMPLE: f32 = 2.0;
/// Points closer together than this say nothing of the stroke: a pointer stands on whole pixels. In points on the screen.
const SPACING: f32 = 4.0;
/// Neighbours that are averaged are at most so far apart.
const NEAR: f32 = 12.0;
/// A turn whose cosine is smaller than this is a corner, which stays one.
const CORNER: f32 = 0.2;

/// The shapes that paint a stroke of this width through `points`.
pub fn shapes(points: &[Pos2], width: f32, color: Color32) -> Vec<Shape> {
    let curve = smooth(points);
    let disc = |center| Shape::circle_filled(center, width / 2.0, color);
    let line = |piece: &[Pos2]| Shape::line(piece.to_vec(), PathStroke::from(Stroke::new(width, color)));
    let (Some(&first), Some(&last)) = (curve.first(), curve.last()) else { return Vec::new() };
    let mut shapes = vec![disc(first)];
    let mut start = 0;
    for (index, [before, here, after]) in curve.array_windows().enumerate() {
        if turn(*before, *here, *after) < MIN_COSINE {
            shapes.extend(curve.get(start..=index + 1).map(line));
            shapes.push(disc(*here));
            start = index + 1;
        }
    }
    if curve.len() > 1 {
        shapes.extend(curve.get(start..).map(line));
        shapes.push(disc(last));
    }
    shapes
}

/// The curve through the points, without the staircase of a pointer that stands on whole pixels: points that lie close together are thinned
/// and averaged with their neighbours, except at corners. Ends stay where they are, and points that lie far apart as well.
pub fn smooth(points: &[Pos2]) -> Vec<Pos2> {
    let mut points = thinned(points);
    for _ in 0..2 {
        points = averaged(&points);
    }
    let Some(&start) = points.first() else { return Vec::new() };
    let mut curve = vec![start];
    for (index, pair) in points.windows(2).enumerate() {
        let &[from, to] = pair else { continue };
        // At the ends and at corners, the neighbour that is missing lies on the line.
        let before = index.checked_sub(1).and_then(|index| points.get(index)).copied().filter(|&before| turn(before, from, to) > CORNER);
        let after = points.get(index + 2).copied().filter(|&after| turn(from, to, after) > CORNER);
        let (before, after) = (before.unwrap_or(from - (to - from)), after.unwrap_or(to + (to - from)));
        let samples = (from.distance(to) / SAMPLE).ceil().clamp(1.0, 64.0) as u32;
        for sample in 1..=samples {
            curve.push(catmull_rom([before, from, to, after], sample as f32 / samples as f32));
        }
    }
    curve
}

/// The ends, and between them points that are at least [`SPACING`] apart.
fn thinned(points: &[Pos2]) -> Vec<Pos2> {
    let Some((&first, rest)) = points.split_first() else { return Vec::new() };
    let mut kept = vec![first];
    for &point in rest {
        if kept.last().is_none_or(|last| last.distance(point) >= SPACING) {
            kept.push(point);
        }
    }
    if let Some(&last) = rest.last()
        && kept.last() != Some(&last)
    {
        // Rather a point less than one that is too close to the end.
        if kept.len() > 1 {
            kept.pop();
        }
        if last.distance(first) > 0.1 {
            kept.push(last);
        }
    }
    kept
}

/// Each point the mean of itself, counted twice, and its neighbours, unless it is an end, a corner, or they are far away.
fn averaged(points: &[Pos2]) -> Vec<Pos2> {
    let mut averaged = points.to_vec();
    for (index, [before, here, after]) in points.array_windows().enumerate() {
        let near = before.distance(*here) <= NEAR && here.distance(*after) <= NEAR;
        if near
            && turn(*before, *here, *after) > CORNER
            && let Some(point) = averaged.get_mut(index + 1)
        {
            *point = ((before.to_vec2() + here.to_vec2() * 2.0 + after.to_vec2()) / 4.0).to_pos2();
        }
    }
    averaged
}

/// The cosine of the angle by which the line turns at `b`.
fn turn(a: Pos2, b: Pos2, c: Pos2) -> f32 {
    (b - a).normalized().dot((c - b).normalized())
}

/// A point of the centripetal Catmull-Rom curve between the middle two of these, at `t` from 0 to 1: without the loops and overshoots of the
/// uniform one where points are unevenly spaced (Yuksel, Schaefer & Keyser 2011).
fn catmull_rom([p0, p1, p2, p3]: [Pos2; 4], t: f32) -> Pos2 {
    let knot = |from: Pos2, to: Pos2| from.distance(to).sqrt().max(1e-3);
    let (d1, d2, d3) = (knot(p0, p1), knot(p1, p2), knot(p2, p3));
    // The tangents at the middle points, scaled to the interval between them.
    let m1 = ((p1 - p0) / d1 - (p2 - p0) / (d1 + d2) + (p2 - p1) / d2) * d2;
    let m2 = ((p2 - p1) / d2 - (p3 - p1) / (d2 + d3) + (p3 - p2) / d3) * d2;
    let (t2, t3) = (t * t, t * t * t);
    let (start, end) = (2.0 * t3 - 3.0 * t2 + 1.0, 3.0 * t2 - 2.0 * t3);
    (p1.to_vec2() * start + m1 * (t3 - 2.0 * t2 + t) + p2.to_vec2() * end + m2 * (t3 - t2)).to_pos2()
}
