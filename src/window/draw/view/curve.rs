//! The curve of a pen stroke: smooth, and through the points that the pointer reported. The model
//! gets the points as they were drawn.

use eframe::egui::{Pos2, Vec2};

/// Points closer together than this say nothing of the stroke: a pointer stands on whole pixels. In
/// points on the screen.
const SPACING: f32 = 4.0;
/// Neighbours that are averaged are at most so far apart.
const NEAR: f32 = 12.0;
/// A turn whose cosine is smaller than this is a corner, which stays one.
const CORNER: f32 = 0.2;
/// The same between points that are far apart: a hand that fast goes around a bend, and slows down
/// for corners.
const FAST_CORNER: f32 = -0.5;
/// The curve turns by at most this much between two samples, in radians.
const BEND: f32 = 0.06;
/// A straight line between two samples leaves the curve by at most this much, in points on the
/// screen.
const TOLERANCE: f32 = 0.03;
/// The most samples between two points.
const MAX_SAMPLES: f32 = 64.0;

/// A point of a stroke on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Where it is.
    pub at: Pos2,
    /// Half the stroke's width there, in points.
    pub radius: f32,
}

impl Node {
    /// A point of a stroke.
    pub const fn new(at: Pos2, radius: f32) -> Self {
        Self { at, radius }
    }

    fn lerp(self, other: Self, t: f32) -> Self {
        Self {
            at: self.at.lerp(other.at, t),
            radius: self.radius + (other.radius - self.radius) * t,
        }
    }
}

/// The points that the curve goes through, without the staircase of a pointer that stands on whole
/// pixels: those that lie close together are thinned and averaged with their neighbours, except at
/// corners. Ends stay where they are, and points that lie far apart as well.
pub fn knots(points: impl IntoIterator<Item = Node>) -> Vec<Node> {
    let mut points = thinned(points);
    for _ in 0..2 {
        points = averaged(&points);
    }
    points
}

/// The curve from the knot with index `first` to that with index `last`.
pub fn curve(knots: &[Node], first: usize, last: usize) -> Vec<Node> {
    let Some(&start) = knots.get(first) else {
        return Vec::new();
    };
    let mut curve = vec![start];
    for index in first..last {
        let (Some(&from), Some(&to)) = (knots.get(index), knots.get(index + 1)) else {
            break;
        };
        // At the ends and at corners, the neighbour that is missing lies on the line.
        let before = index
            .checked_sub(1)
            .and_then(|index| knots.get(index))
            .filter(|before| !is_corner([before.at, from.at, to.at]));
        let after = knots
            .get(index + 2)
            .filter(|after| !is_corner([from.at, to.at, after.at]));
        let way = to.at - from.at;
        let spline = Spline::new(
            before.map_or(from.at - way, |before| before.at),
            [from.at, to.at],
            after.map_or(to.at + way, |a| a.at),
        );
        let samples = spline.samples();
        curve.extend((1..samples).map(|sample| {
            let t = sample as f32 / samples as f32;
            Node {
                at: spline.at(t),
                ..from.lerp(to, t)
            }
        }));
        curve.push(to);
    }
    curve
}

/// The ends, and between them points that are at least [`SPACING`] apart.
fn thinned(points: impl IntoIterator<Item = Node>) -> Vec<Node> {
    let mut kept: Vec<Node> = Vec::new();
    let mut end = None;
    for point in points {
        if kept
            .last()
            .is_none_or(|last| last.at.distance(point.at) >= SPACING)
        {
            kept.push(point);
            end = None;
        } else {
            end = Some(point);
        }
    }
    if let (Some(end), Some(&first)) = (end, kept.first()) {
        // Rather a point less than one that is too close to the end.
        if kept.len() > 1 {
            kept.pop();
        }
        if end.at.distance(first.at) > 0.1 || kept.len() > 1 {
            kept.push(end);
        } else if let Some(dot) = kept.last_mut() {
            dot.radius = dot.radius.max(end.radius);
        }
    }
    kept
}

/// Each point the mean of itself, counted twice, and its neighbours, unless it is an end, a corner,
/// or they are far away.
fn averaged(points: &[Node]) -> Vec<Node> {
    let mut averaged = points.to_vec();
    for ([before, here, after], averaged) in points.array_windows().zip(averaged.iter_mut().skip(1))
    {
        let near = before.at.distance(here.at) <= NEAR && here.at.distance(after.at) <= NEAR;
        if near && !is_corner([before.at, here.at, after.at]) {
            *averaged = here.lerp(before.lerp(*after, 0.5), 0.5);
        }
    }
    averaged
}

/// Whether the stroke has a corner at the second of these points.
fn is_corner([before, here, after]: [Pos2; 3]) -> bool {
    let (come, go) = (here - before, after - here);
    let fast = come.length().min(go.length()) > NEAR;
    come.normalized().dot(go.normalized()) <= if fast { FAST_CORNER } else { CORNER }
}

/// The centripetal Catmull-Rom curve between two points, given one before and one after them:
/// without the loops and overshoots of the uniform one where points are unevenly spaced (Yuksel,
/// Schaefer & Keyser 2011).
struct Spline {
    from: Pos2,
    to: Pos2,
    /// The tangents at both, scaled to the interval between them.
    tangents: [Vec2; 2],
}

impl Spline {
    fn new(before: Pos2, [from, to]: [Pos2; 2], after: Pos2) -> Self {
        let knot = |a: Pos2, b: Pos2| a.distance(b).sqrt().max(1e-3);
        let (d1, d2, d3) = (knot(before, from), knot(from, to), knot(to, after));
        let m1 = ((from - before) / d1 - (to - before) / (d1 + d2) + (to - from) / d2) * d2;
        let m2 = ((to - from) / d2 - (after - from) / (d2 + d3) + (after - to) / d3) * d2;
        Self {
            from,
            to,
            tangents: [m1, m2],
        }
    }

    /// In how many parts it is drawn so that nobody sees that they are straight.
    fn samples(&self) -> u32 {
        let (way, [m1, m2]) = (self.to - self.from, self.tangents);
        let turn = |a: Vec2, b: Vec2| a.normalized().dot(b.normalized()).clamp(-1.0, 1.0).acos();
        let bends = (turn(m1, way) + turn(way, m2)) / BEND;
        // A cubic leaves its chord by at most an eighth of its second derivative, which is largest
        // at an end.
        let second = (way * 6.0 - m1 * 4.0 - m2 * 2.0)
            .length()
            .max((way * -6.0 + m1 * 2.0 + m2 * 4.0).length());
        bends
            .max((second / (8.0 * TOLERANCE)).sqrt())
            .ceil()
            .clamp(1.0, MAX_SAMPLES) as u32
    }

    /// The point at `t` from 0 to 1.
    fn at(&self, t: f32) -> Pos2 {
        let (t2, t3) = (t * t, t * t * t);
        let (start, end) = (2.0 * t3 - 3.0 * t2 + 1.0, 3.0 * t2 - 2.0 * t3);
        let [m1, m2] = self.tangents;
        (self.from.to_vec2() * start
            + m1 * (t3 - 2.0 * t2 + t)
            + self.to.to_vec2() * end
            + m2 * (t3 - t2))
            .to_pos2()
    }
}
