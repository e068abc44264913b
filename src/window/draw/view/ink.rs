//! The ink on the canvas: the smooth curve of a pen stroke, through the points that the pointer
//! reported, as triangles with smooth edges, round ends and round corners. The model gets the
//! points as they were drawn.
//!
//! What has not changed since the last frame is not computed again: of a stroke that grows, only
//! its end.

use std::f32::consts::{PI, TAU};
use std::ops::Range;
use std::sync::Arc;

use eframe::egui::{Color32, Mesh, Pos2, Vec2, pos2, vec2};

use crate::window::PenStroke;

/// Points closer together than this say nothing of the stroke: a pointer stands on whole pixels. In
/// points on the screen.
const SPACING: f32 = 4.0;
/// Neighbors that are averaged are at most so far apart.
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
/// pixels: those that lie close together are thinned and averaged with their neighbors, except at
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
        // At the ends and at corners, the neighbor that is missing lies on the line.
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

/// Each point the mean of itself, counted twice, and its neighbors, unless it is an end, a corner,
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
/// without the loops and overshoots of the uniform one when points are unevenly spaced (Yuksel,
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

/// A straight edge in place of a bent one leaves it by at most this much, in pixels.
const FLATNESS: f32 = 0.06;

/// A whole stroke through these points.
pub fn stroke(points: impl IntoIterator<Item = Node>, color: Color32, pixel: f32) -> Mesh {
    let knots = knots(points);
    let curve = curve(&knots, 0, knots.len().saturating_sub(1));
    ribbon(&curve, 0..curve.len().saturating_sub(1), color, pixel)
}

/// Draws the parts of a curve with these indices, from the node of the same index to the next;
/// rounded where that is an end of the whole curve. `pixel` is the size of a pixel in points: edges
/// fade over one.
pub fn ribbon(curve: &[Node], parts: Range<usize>, color: Color32, pixel: f32) -> Mesh {
    let mut ribbon = Ribbon {
        mesh: Mesh::default(),
        color,
        pixel,
    };
    if let [dot] = *curve {
        ribbon.fan(dot, Vec2::RIGHT, TAU);
        return ribbon.mesh;
    }
    let direction = |part: usize| {
        let way = curve.get(part + 1)?.at - curve.get(part)?.at;
        Some(if way == Vec2::ZERO {
            Vec2::RIGHT
        } else {
            way.normalized()
        })
    };
    if parts.start == 0
        && let (Some(&first), Some(along)) = (curve.first(), direction(0))
    {
        // From its left side, seen along the curve, around behind it.
        ribbon.fan(first, along.rot90(), -PI);
    }
    let mut section = None;
    for part in parts {
        let (Some(&from), Some(&to), Some(along)) =
            (curve.get(part), curve.get(part + 1), direction(part))
        else {
            break;
        };
        let before = part.checked_sub(1).and_then(direction).unwrap_or(along);
        let start = match ribbon.joint(from, before, along) {
            Joint::Smooth(across) => section.unwrap_or_else(|| ribbon.section(from, across)),
            Joint::Round(turn) => {
                let outer = if turn > 0.0 {
                    before.rot90()
                } else {
                    -before.rot90()
                };
                ribbon.fan(from, outer, turn);
                ribbon.section(from, along.rot90())
            }
        };
        let after = direction(part + 1).unwrap_or(along);
        let joint = ribbon.joint(to, along, after);
        let end = ribbon.section(
            to,
            if let Joint::Smooth(across) = joint {
                across
            } else {
                along.rot90()
            },
        );
        ribbon.connect(start, end);
        section = matches!(joint, Joint::Smooth(_)).then_some(end);
        if part + 2 == curve.len() {
            ribbon.fan(to, -along.rot90(), -PI);
        }
    }
    ribbon.mesh
}

enum Joint {
    /// They share a cross-section; this is half of it, for a radius of 1.
    Smooth(Vec2),
    /// The gap on the outer side is filled by an arc over this angle: clockwise if it is
    /// positive.
    Round(f32),
}

/// A cross-section: the index of the first of its four points, from the left edge to the right one.
#[derive(Clone, Copy)]
struct Section(u32);

struct Ribbon {
    mesh: Mesh,
    color: Color32,
    pixel: f32,
}

impl Ribbon {
    fn joint(&self, node: Node, before: Vec2, after: Vec2) -> Joint {
        let cosine = before.dot(after);
        // Half the angle's cosine squared, doubled.
        let both = 1.0 + cosine;
        if cosine > 0.5 && node.radius * (1.0 - (both / 2.0).sqrt()) <= FLATNESS * self.pixel {
            return Joint::Smooth((before.rot90() + after.rot90()) / both);
        }
        Joint::Round((before.x * after.y - before.y * after.x).atan2(cosine))
    }

    /// A cross-section; `across` points to the left.
    fn section(&mut self, node: Node, across: Vec2) -> Section {
        let first = self.mesh.vertices.len() as u32;
        let [solid, faded] = self.edges(node.radius);
        for (offset, color) in [
            (faded, Color32::TRANSPARENT),
            (solid, self.color),
            (-solid, self.color),
            (-faded, Color32::TRANSPARENT),
        ] {
            self.mesh.colored_vertex(node.at + across * offset, color);
        }
        Section(first)
    }

    fn connect(&mut self, Section(from): Section, Section(to): Section) {
        for edge in 0..3 {
            self.mesh
                .add_triangle(from + edge, from + edge + 1, to + edge);
            self.mesh
                .add_triangle(from + edge + 1, to + edge + 1, to + edge);
        }
    }

    /// A sector of a disc: from this direction over this angle, clockwise if it is positive.
    fn fan(&mut self, node: Node, from: Vec2, angle: f32) {
        let [solid, faded] = self.edges(node.radius);
        let flat = 2.0 * (1.0 - FLATNESS * self.pixel / node.radius.max(self.pixel)).acos();
        let steps = (angle.abs() / flat).ceil().clamp(1.0, 1000.0) as u32;
        let center = self.mesh.vertices.len() as u32;
        self.mesh.colored_vertex(node.at, self.color);
        for step in 0..=steps {
            let (sine, cosine) = (angle * step as f32 / steps as f32).sin_cos();
            let outward = vec2(
                from.x * cosine - from.y * sine,
                from.x * sine + from.y * cosine,
            );
            self.mesh
                .colored_vertex(node.at + outward * solid, self.color);
            self.mesh
                .colored_vertex(node.at + outward * faded, Color32::TRANSPARENT);
            if step > 0 {
                let here = center + 1 + 2 * step;
                self.mesh.add_triangle(center, here - 2, here);
                self.mesh.add_triangle(here - 2, here - 1, here);
                self.mesh.add_triangle(here - 1, here + 1, here);
            }
        }
    }

    /// How far from the middle the edge begins to fade, and where it ends.
    fn edges(&self, radius: f32) -> [f32; 2] {
        let radius = radius.max(self.pixel / 2.0);
        [radius - self.pixel / 2.0, radius + self.pixel / 2.0]
    }
}

/// A stroke is cut into pieces of this many knots, which are computed one by one.
const PIECE: usize = 64;
/// The fraction of its width that a pen's stroke has where it hardly presses, and how much that
/// grows to where it presses hardest.
const PRESSED: [f32; 2] = [0.4, 1.2];

/// Where the ink is and how it looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The upper left corner of the canvas.
    pub origin: Pos2,
    /// The size of a canvas unit, in points.
    pub scale: f32,
    /// The diameter of the pen, in points.
    pub width: f32,
    pub color: Color32,
    /// The size of a pixel, in points.
    pub pixel: f32,
}

#[derive(Debug, Default)]
pub struct PaintedInk {
    look: Option<Look>,
    strokes: Vec<PaintedStroke>,
}

#[derive(Debug, Default)]
struct PaintedStroke {
    stroke: PenStroke,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    knots: Vec<Node>,
    mesh: Arc<Mesh>,
}

impl PaintedInk {
    /// The parts of all strokes, each with the number of its stroke.
    pub fn meshes(
        &mut self,
        strokes: &[PenStroke],
        look: Look,
    ) -> impl Iterator<Item = (usize, &Arc<Mesh>)> {
        if self.look.replace(look) != Some(look) {
            self.strokes.clear();
        }
        self.strokes
            .resize_with(strokes.len(), PaintedStroke::default);
        for (painted, stroke) in self.strokes.iter_mut().zip(strokes) {
            painted.update(stroke, &look);
        }
        let strokes = self.strokes.iter().enumerate();
        strokes.flat_map(|(index, stroke)| {
            let pieces = stroke.pieces.iter();
            pieces.map(move |piece| (index, &piece.mesh))
        })
    }
}

impl PaintedStroke {
    fn update(&mut self, stroke: &PenStroke, look: &Look) {
        if self.stroke == *stroke {
            return;
        }
        self.stroke.clone_from(stroke);
        let knots = shown_knots(stroke, look);
        let starts = (0..knots.len())
            .step_by(PIECE)
            .filter(|&start| start == 0 || start + 1 < knots.len());
        let mut before = std::mem::take(&mut self.pieces).into_iter();
        self.pieces = starts
            .map(|start| Piece::of(&knots, start, before.next(), look))
            .collect();
    }
}

impl Piece {
    /// The piece that starts at the knot with this index: the one `before` if its knots are still
    /// the same.
    fn of(knots: &[Node], start: usize, before: Option<Self>, look: &Look) -> Self {
        let end = (start + PIECE).min(knots.len() - 1);
        // A piece ends as its neighbors begin, whose curves depend on the knots around them.
        let around = &knots[start.saturating_sub(3)..(end + 4).min(knots.len())];
        if let Some(piece) = before.filter(|piece| piece.knots == around) {
            return piece;
        }
        let mut line = curve(knots, start.saturating_sub(1), start);
        let first = line.len() - 1;
        line.extend(curve(knots, start, end).into_iter().skip(1));
        let last = line.len() - 1;
        line.extend(
            curve(knots, end, (end + 1).min(knots.len() - 1))
                .into_iter()
                .skip(1),
        );
        Self {
            knots: around.to_vec(),
            mesh: Arc::new(ribbon(&line, first..last, look.color, look.pixel)),
        }
    }
}

/// The knots of a stroke on the screen. On the canvas on which it was drawn, they are enlarged:
/// there the pointer's whole pixels are close together, and enlarged they would no longer be
/// averaged.
fn shown_knots(stroke: &PenStroke, look: &Look) -> Vec<Node> {
    let enlarged = look.scale / stroke.scale;
    let points = stroke.points.iter().enumerate().map(|(index, &[x, y])| {
        let share = stroke
            .pressures
            .get(index)
            .map_or(1.0, |pressure| PRESSED[0] + PRESSED[1] * pressure);
        Node::new(pos2(x, y) * stroke.scale, look.width / 2.0 * share)
    });
    let mut knots = knots(points);
    knots
        .iter_mut()
        .for_each(|knot| knot.at = look.origin + knot.at.to_vec2() * enlarged);
    knots
}
