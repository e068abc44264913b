//! The eraser: takes out of a stroke what lies under it, so that its ends or parts in between stay.

use super::drawing::PenStroke;

/// Parts that are shorter than this, in canvas units, are not worth keeping.
const CRUMB: f32 = 1.0;

/// What is left of a stroke after the eraser was moved straight between two points, with `reach`
/// from its middle to the farthest point of the pen's path that it takes away; `None` if it
/// touched nothing.
pub fn erase(
    stroke: &PenStroke,
    from: [f32; 2],
    to: [f32; 2],
    reach: f32,
) -> Option<Vec<PenStroke>> {
    let under = |a, b| covered([a, b], [from, to], reach);
    if let [point] = *stroke.points.as_slice() {
        return under(point, point).map(|_| Vec::new());
    }
    if !stroke
        .points
        .array_windows()
        .any(|&[a, b]| under(a, b).is_some())
    {
        return None;
    }
    let mut left = Vec::new();
    let empty = PenStroke {
        scale: stroke.scale,
        ..PenStroke::default()
    };
    let mut part = empty.clone();
    for index in 1..stroke.points.len() {
        let ((a, before), (b, after)) = (stroke.point(index - 1), stroke.point(index));
        let between = |share: f32| {
            let point = [0, 1].map(|axis| a[axis] + (b[axis] - a[axis]) * share);
            (
                point,
                before
                    .zip(after)
                    .map(|(before, after)| before + (after - before) * share),
            )
        };
        if index == 1 && under(a, a).is_none() {
            part.push(a, before);
        }
        match under(a, b) {
            None => part.push(b, after),
            Some([first, last]) => {
                if first > 0.0 {
                    let (point, pressure) = between(first);
                    part.push(point, pressure);
                }
                left.push(std::mem::replace(&mut part, empty.clone()));
                if last < 1.0 {
                    let (point, pressure) = between(last);
                    part.push(point, pressure);
                    part.push(b, after);
                }
            }
        }
    }
    left.push(part);
    Some(
        left.into_iter()
            .filter(|part| part.length() >= CRUMB)
            .collect(),
    )
}

/// The fractions of the way from `a` to `b` between which it lies less than `reach` from the line
/// from `c` to `d`; `None` if it nowhere does.
fn covered([a, b]: [[f32; 2]; 2], [c, d]: [[f32; 2]; 2], reach: f32) -> Option<[f32; 2]> {
    let apart = |axis: usize| {
        a[axis].max(b[axis]) + reach < c[axis].min(d[axis])
            || c[axis].max(d[axis]) + reach < a[axis].min(b[axis])
    };
    if apart(0) || apart(1) {
        return None;
    }
    let minus = |p: [f32; 2], q: [f32; 2]| [p[0] - q[0], p[1] - q[1]];
    let dot = |p: [f32; 2], q: [f32; 2]| p[0] * q[0] + p[1] * q[1];
    let way = minus(b, a);
    // What lies near a line is a disc around each of its ends and a rectangle between them.
    // Together they are convex, so that a straight way enters them once and leaves them once.
    let disc = |middle| {
        let offset = minus(a, middle);
        let (square, half, rest) = (
            dot(way, way),
            dot(way, offset),
            dot(offset, offset) - reach * reach,
        );
        if square <= f32::EPSILON {
            return (rest < 0.0).then_some([0.0, 1.0]);
        }
        let root = half * half - square * rest;
        (root > 0.0).then(|| {
            [
                (-half - root.sqrt()) / square,
                (-half + root.sqrt()) / square,
            ]
        })
    };
    let rectangle = || {
        let along = minus(d, c);
        let length = dot(along, along).sqrt();
        if length <= f32::EPSILON {
            return None;
        }
        let along = along.map(|value| value / length);
        let offset = minus(a, c);
        let [low, high] = between(dot(offset, along), dot(way, along), [0.0, length])?;
        let across = [-along[1], along[0]];
        let [from, to] = between(dot(offset, across), dot(way, across), [-reach, reach])?;
        Some([low.max(from), high.min(to)]).filter(|[low, high]| low < high)
    };
    let parts = [disc(c), disc(d), rectangle()];
    let low = parts
        .iter()
        .flatten()
        .map(|[low, _]| *low)
        .fold(f32::INFINITY, f32::min)
        .max(0.0);
    let high = parts
        .iter()
        .flatten()
        .map(|[_, high]| *high)
        .fold(f32::NEG_INFINITY, f32::max)
        .min(1.0);
    (low < high).then_some([low, high])
}

/// Where `start + share * slope` lies in this range; `None` if it never does.
fn between(start: f32, slope: f32, [low, high]: [f32; 2]) -> Option<[f32; 2]> {
    if slope.abs() <= f32::EPSILON {
        return (low..=high)
            .contains(&start)
            .then_some([f32::NEG_INFINITY, f32::INFINITY]);
    }
    let (first, second) = ((low - start) / slope, (high - start) / slope);
    Some([first.min(second), first.max(second)])
}
