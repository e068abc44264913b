//! The curve of the pen through a skeleton's points.

/// The points of a centripetal Catmull-Rom spline (Catmull & Rom 1974; Yuksel, Schaefer & Keyser
/// 2011: no loops or cusps between points) about `step` apart. A point given twice is a corner: the
/// curve stops there and starts afresh.
pub(super) fn curve(knots: &[[f32; 2]], step: f32) -> Vec<[f32; 2]> {
    let mut points = Vec::with_capacity(knots.len() * 8);
    points.extend(knots.first());
    for run in knots.chunk_by(|a, b| a != b) {
        for index in 1..run.len() {
            let (from, to) = (run[index - 1], run[index]);
            let before = if index > 1 {
                run[index - 2]
            } else {
                mirrored(from, to)
            };
            let after = run
                .get(index + 1)
                .copied()
                .unwrap_or_else(|| mirrored(to, from));
            piece([before, from, to, after], step, &mut points);
        }
    }
    points
}

/// The point as far before `at` as `next` is after it.
fn mirrored(at: [f32; 2], next: [f32; 2]) -> [f32; 2] {
    [2.0 * at[0] - next[0], 2.0 * at[1] - next[1]]
}

/// Appends the curve from the second knot (left out) to the third.
fn piece(knots: [[f32; 2]; 4], step: f32, points: &mut Vec<[f32; 2]>) {
    let chord = |a: [f32; 2], b: [f32; 2]| (b[0] - a[0]).hypot(b[1] - a[1]);
    let [k0, k1, k2, k3] = knots;
    let [d0, d1, d2] = [chord(k0, k1), chord(k1, k2), chord(k2, k3)].map(|d| d.max(1e-6).sqrt());
    // Tangents at k1 and k2 of the non-uniform spline, scaled to the unit interval.
    let tangent = |a: [f32; 2], b: [f32; 2], c: [f32; 2], before: f32, after: f32, axis: usize| {
        d1 * ((b[axis] - a[axis]) / before - (c[axis] - a[axis]) / (before + after)
            + (c[axis] - b[axis]) / after)
    };
    let count = (chord(k1, k2) / step).ceil().clamp(1.0, 64.0) as usize;
    for i in 1..=count {
        let t = i as f32 / count as f32;
        let (t2, t3) = (t * t, t * t * t);
        points.push([0, 1].map(|axis| {
            let m1 = tangent(k0, k1, k2, d0, d1, axis);
            let m2 = tangent(k1, k2, k3, d1, d2, axis);
            (2.0 * t3 - 3.0 * t2 + 1.0) * k1[axis]
                + (t3 - 2.0 * t2 + t) * m1
                + (3.0 * t2 - 2.0 * t3) * k2[axis]
                + (t3 - t2) * m2
        }));
    }
}
