//! A curve of changing width as triangles: smooth edges, round ends and round corners.

use std::f32::consts::{PI, TAU};
use std::ops::Range;

use eframe::egui::{Color32, Mesh, Vec2, vec2};

use super::curve::{Node, curve, knots};

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
    /// The gap on the outer side is filled by an arc over this angle: clockwise where it is
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

    /// A sector of a disc: from this direction over this angle, clockwise where it is positive.
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
