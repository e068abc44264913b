//! How a pen stroke looks on screen: a smooth line with round ends and joins. The model gets the points as they were drawn.

use eframe::egui::{Color32, Pos2, Shape, Stroke, epaint::PathStroke};

/// A turn sharper than this (cosine of the angle) splits the line, with a disc over the joint: egui draws thick lines well only
/// where they bend little.
const MIN_COSINE: f32 = 0.97;
/// The distance between samples of the curve, in points on the screen.
const SAMPLE: f32 = 3.0;

/// The shapes that paint a stroke of this width through `points`.
pub fn shapes(points: &[Pos2], width: f32, color: Color32) -> Vec<Shape> {
    let curve = smooth(points);
    let disc = |center| Shape::circle_filled(center, width / 2.0, color);
    let line = |piece: &[Pos2]| Shape::line(piece.to_vec(), PathStroke::from(Stroke::new(width, color)));
    let (Some(&first), Some(&last)) = (curve.first(), curve.last()) else { return Vec::new() };
    let mut shapes = vec![disc(first)];
    let mut start = 0;
    for (index, [before, here, after]) in curve.array_windows().enumerate() {
        if is_sharp(*before, *here, *after) {
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

fn is_sharp(a: Pos2, b: Pos2, c: Pos2) -> bool {
    (b - a).normalized().dot((c - b).normalized()) < MIN_COSINE
}

/// A uniform Catmull-Rom curve that passes through all points (Catmull & Rom 1974). Repeated points are merged.
pub fn smooth(points: &[Pos2]) -> Vec<Pos2> {
    let mut distinct: Vec<Pos2> = Vec::with_capacity(points.len());
    for &point in points {
        if distinct.last().is_none_or(|last| last.distance_sq(point) > 0.01) {
            distinct.push(point);
        }
    }
    let Some(&start) = distinct.first() else { return Vec::new() };
    let mut curve = vec![start];
    for (index, pair) in distinct.windows(2).enumerate() {
        let &[from, to] = pair else { continue };
        let before = index.checked_sub(1).and_then(|index| distinct.get(index)).copied().unwrap_or(from);
        let after = distinct.get(index + 2).copied().unwrap_or(to);
        let samples = (from.distance(to) / SAMPLE).ceil().clamp(1.0, 32.0) as u32;
        for sample in 1..=samples {
            curve.push(catmull_rom([before, from, to, after], sample as f32 / samples as f32));
        }
    }
    curve
}

fn catmull_rom([p0, p1, p2, p3]: [Pos2; 4], t: f32) -> Pos2 {
    let (v0, v1, v2, v3) = (p0.to_vec2(), p1.to_vec2(), p2.to_vec2(), p3.to_vec2());
    let (t2, t3) = (t * t, t * t * t);
    let twice = 2.0 * v1 + (v2 - v0) * t + (2.0 * v0 - 5.0 * v1 + 4.0 * v2 - v3) * t2 + (3.0 * v1 - v0 - 3.0 * v2 + v3) * t3;
    (0.5 * twice).to_pos2()
}
