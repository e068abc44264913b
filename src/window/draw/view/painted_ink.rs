//! The ink on the canvas as triangles. What has not changed since the last frame is not computed
//! again: of a stroke that grows, only its end.

use std::sync::Arc;

use eframe::egui::{Color32, Mesh, Pos2, pos2};

use super::curve::{Node, curve, knots};
use super::ribbon::ribbon;
use crate::window::PenStroke;

/// A stroke is cut into pieces of this many knots, which are computed one by one.
const PIECE: usize = 64;
/// The share of its width that a pen's stroke has where it hardly presses, and how much that grows
/// to where it presses hardest.
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
    pub fn meshes(
        &mut self,
        strokes: &[PenStroke],
        look: Look,
    ) -> impl Iterator<Item = &Arc<Mesh>> {
        if self.look.replace(look) != Some(look) {
            self.strokes.clear();
        }
        self.strokes
            .resize_with(strokes.len(), PaintedStroke::default);
        for (painted, stroke) in self.strokes.iter_mut().zip(strokes) {
            painted.update(stroke, &look);
        }
        self.strokes
            .iter()
            .flat_map(|stroke| stroke.pieces.iter().map(|piece| &piece.mesh))
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
        // A piece ends as its neighbours begin, whose curves depend on the knots around them.
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

/// The knots of a stroke on the screen. Those of the canvas on which it was drawn are enlarged:
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
