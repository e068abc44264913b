//! The drawing on a canvas, and what can be undone and redone there: one history of strokes,
//! erasing, clearing and opening another drawing. Points are in canvas units, independent of screen
//! pixels.

use std::collections::VecDeque;

use super::eraser::erase;
use crate::ink::{Bounds, Ink, Stroke};
use crate::settings::PEN;

/// The side of the canvas in its own units: ten to each pixel of the model's image. The height of
/// the one for several digits.
pub const CANVAS: f32 = 280.0;
/// The width of the canvas for several digits, in the same units.
pub const WIDE_CANVAS: f32 = 2.5 * CANVAS;

/// The fraction of the canvas that drawings that are opened fill, as MNIST's digits fill 20 of 28
/// pixels.
const FILLED: f32 = 20.0 / 28.0;
/// The eraser's diameter, in diameters of the pen.
const ERASER: f32 = 1.5;
/// The smallest eraser, in canvas units.
const MIN_ERASER: f32 = 20.0;

const MAX_CHANGES: usize = 500;
/// The most points of strokes that are remembered, in all changes together: about 10 MB.
const MAX_POINTS: usize = 1_000_000;

/// The effect of the pointer on the canvas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    #[default]
    Pen,
    Eraser,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PenStroke {
    /// The points, in canvas units.
    pub points: Stroke,
    /// How hard the pen pressed at each point, from 0 to 1; empty if it does not say. Only the
    /// stroke's width on the canvas follows it.
    pub pressures: Vec<f32>,
    /// Screen points per canvas unit when the stroke was drawn. A pointer reports whole pixels, so
    /// this is how fine the points can be.
    pub scale: f32,
}

/// An empty stroke, as if drawn on a canvas of 280 screen points: strokes from a file have no
/// scale.
impl Default for PenStroke {
    fn default() -> Self {
        Self {
            points: Stroke::new(),
            pressures: Vec::new(),
            scale: 1.0,
        }
    }
}

impl From<Stroke> for PenStroke {
    fn from(points: Stroke) -> Self {
        Self {
            points,
            ..Self::default()
        }
    }
}

impl PenStroke {
    /// The point with this index, and the pressure there.
    pub(super) fn point(&self, index: usize) -> ([f32; 2], Option<f32>) {
        (self.points[index], self.pressures.get(index).copied())
    }

    /// Adds a point. If the pressure is not known, it is what it was at the point before; the
    /// first that is known holds for those before.
    pub(super) fn push(&mut self, point: [f32; 2], pressure: Option<f32>) {
        if let Some(pressure) = pressure.or_else(|| self.pressures.last().copied()) {
            self.pressures.resize(self.points.len(), pressure);
            self.pressures.push(pressure);
        }
        self.points.push(point);
    }

    /// The way the pen went, in canvas units.
    pub(super) fn length(&self) -> f32 {
        self.points
            .array_windows()
            .map(|[from, to]| (to[0] - from[0]).hypot(to[1] - from[1]))
            .sum()
    }
}

#[derive(Clone, Debug)]
pub struct Drawing {
    strokes: Vec<PenStroke>,
    /// Changes that can be undone.
    past: VecDeque<Change>,
    /// Those that were.
    future: Vec<Change>,
    down: Down,
    /// How hard the pen presses, until that is noted with a point.
    pressure: Option<f32>,
    /// Screen points per canvas unit, for the strokes to come.
    pub scale: f32,
    /// The width of the canvas, in its units; [`CANVAS`] is its height.
    width: f32,
    /// Diameter of the pen, in canvas units.
    pub pen: f32,
}

/// The present state of the canvas.
#[derive(Clone, Copy, Debug)]
enum Down {
    Nothing,
    Pen,
    /// The eraser, at this point.
    Eraser {
        at: [f32; 2],
        /// It has taken something away since it was put down.
        erased: bool,
    },
}

impl Default for Drawing {
    fn default() -> Self {
        Self {
            strokes: Vec::new(),
            past: VecDeque::new(),
            future: Vec::new(),
            down: Down::Nothing,
            pressure: None,
            scale: 1.0,
            width: CANVAS,
            pen: 20.0,
        }
    }
}

impl Drawing {
    /// An empty canvas for several digits.
    pub fn wide() -> Self {
        Self {
            width: WIDE_CANVAS,
            ..Self::default()
        }
    }

    /// The width and height of the canvas, in its units.
    pub const fn size(&self) -> [f32; 2] {
        [self.width, CANVAS]
    }

    pub fn strokes(&self) -> &[PenStroke] {
        &self.strokes
    }

    /// True while a stroke is being drawn or erased.
    pub const fn pen_down(&self) -> bool {
        !matches!(self.down, Down::Nothing)
    }

    /// Diameter of the eraser, in canvas units: it grows with the pen.
    pub fn eraser(&self) -> f32 {
        (self.pen * ERASER).max(MIN_ERASER)
    }

    /// The pen presses this hard at the next point, from 0 to 1.
    pub const fn press(&mut self, pressure: f32) {
        if pressure.is_finite() {
            self.pressure = Some(pressure.clamp(0.0, 1.0));
        }
    }

    pub fn begin(&mut self, point: [f32; 2]) {
        self.remember(Change::Remove);
        let mut stroke = PenStroke {
            scale: self.scale,
            ..PenStroke::default()
        };
        stroke.push(point, self.pressure.take());
        self.strokes.push(stroke);
        self.down = Down::Pen;
    }

    /// Puts the eraser down; true if that changed anything.
    pub fn begin_erasing(&mut self, point: [f32; 2]) -> bool {
        self.down = Down::Eraser {
            at: point,
            erased: false,
        };
        self.erase_to(point)
    }

    /// Extends the stroke, or moves the eraser; true if that changed anything.
    pub fn extend(&mut self, point: [f32; 2]) -> bool {
        let pressure = self.pressure.take();
        match (self.down, self.strokes.last_mut()) {
            (Down::Pen, Some(stroke)) => {
                let moved = stroke.points.last() != Some(&point);
                if moved {
                    stroke.push(point, pressure);
                } else if let (Some(pressure), Some(last)) = (pressure, stroke.pressures.last_mut())
                {
                    // A pen that presses harder on the spot makes a larger dot.
                    *last = last.max(pressure);
                }
                moved
            }
            (Down::Eraser { .. }, Some(_)) => self.erase_to(point),
            _ => false,
        }
    }

    /// Ends the stroke, or lifts the eraser.
    pub const fn end(&mut self) {
        self.down = Down::Nothing;
    }

    /// Takes away what lies under the eraser on its way to this point: of each stroke the part that
    /// it touches.
    fn erase_to(&mut self, point: [f32; 2]) -> bool {
        let Down::Eraser { at, erased } = self.down else {
            return false;
        };
        let reach = f32::midpoint(self.eraser(), self.pen);
        let left: Vec<_> = self
            .strokes
            .iter()
            .map(|stroke| erase(stroke, at, point, reach))
            .collect();
        let touched = left.iter().any(Option::is_some);
        if touched {
            // What the eraser takes away until it is lifted comes back immediately.
            if !erased {
                self.remember(Change::Replace(self.strokes.clone(), None));
            }
            let before = std::mem::take(&mut self.strokes);
            self.strokes = before
                .into_iter()
                .zip(left)
                .flat_map(|(stroke, left)| left.unwrap_or_else(|| vec![stroke]))
                .collect();
        }
        self.down = Down::Eraser {
            at: point,
            erased: erased || touched,
        };
        touched
    }

    /// Replaces the drawing by another; `undo` brings it back. Strokes in other units than the
    /// canvas's are scaled to a usual size and centered.
    pub fn put(&mut self, ink: &Ink) {
        self.put_pressed(ink, &[]);
    }

    /// The same if it is known how hard the pen pressed: as [`crate::ink::InkEntry::pressures`].
    pub fn put_pressed(&mut self, ink: &Ink, pressures: &[Vec<f32>]) {
        let finite = |point: &[f32; 2]| point.iter().all(|value| value.is_finite());
        let bounds = Bounds::of(ink.strokes.iter().flatten().copied().filter(finite));
        if bounds == Bounds::default() {
            return;
        }
        let size = self.size();
        let ours = ink.pen.is_some_and(|pen| PEN.contains(&pen))
            && (0..2).all(|axis| bounds.low[axis] >= 0.0 && bounds.high[axis] <= size[axis]);
        let fitting = [0, 1].map(|axis| FILLED * size[axis] / bounds.size(axis));
        let scale = if ours || fitting.iter().all(|scale| !scale.is_finite()) {
            1.0
        } else {
            fitting[0].min(fitting[1])
        };
        let place = |point: [f32; 2]| {
            if ours {
                return point;
            }
            [0, 1].map(|axis| (point[axis] - bounds.middle(axis)) * scale + size[axis] / 2.0)
        };
        let stroke = |(index, points): (usize, &Stroke)| {
            let mut stroke = PenStroke::default();
            for (at, &point) in points.iter().enumerate().filter(|(_, point)| finite(point)) {
                let pressure = pressures.get(index).and_then(|pressures| pressures.get(at));
                stroke.push(place(point), pressure.copied());
            }
            stroke
        };
        let strokes = ink
            .strokes
            .iter()
            .enumerate()
            .map(stroke)
            .filter(|stroke| !stroke.points.is_empty())
            .collect();
        let pen = ink
            .pen
            .filter(|pen| pen.is_finite())
            .map(|pen| (pen * scale).clamp(*PEN.start(), *PEN.end()));
        let width = pen.map(|pen| std::mem::replace(&mut self.pen, pen));
        let before = std::mem::replace(&mut self.strokes, strokes);
        self.remember(Change::Replace(before, width));
        self.end();
    }

    pub fn undo(&mut self) {
        if let Some(change) = self.past.pop_back() {
            let back = change.apply(&mut self.strokes, &mut self.pen);
            self.future.push(back);
            self.end();
        }
    }

    pub fn redo(&mut self) {
        if let Some(change) = self.future.pop() {
            let back = change.apply(&mut self.strokes, &mut self.pen);
            self.past.push_back(back);
            self.end();
        }
    }

    /// Remembers how to take a change back that is being made. What was undone before cannot be
    /// redone any more; what was changed longest ago is forgotten.
    fn remember(&mut self, change: Change) {
        self.future.clear();
        self.past.push_back(change);
        let mut points: usize = self.past.iter().map(Change::points).sum();
        while self.past.len() > MAX_CHANGES || (points > MAX_POINTS && self.past.len() > 1) {
            points -= self.past.pop_front().map_or(0, |oldest| oldest.points());
        }
    }

    /// Empties the canvas; `undo` brings the strokes back.
    pub fn clear(&mut self) {
        if !self.strokes.is_empty() {
            let before = std::mem::take(&mut self.strokes);
            self.remember(Change::Replace(before, None));
            self.end();
        }
    }

    /// True if there is something to undo.
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// True if there is something to redo.
    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    /// The content of an ink file with the drawing; `None` when nothing is drawn.
    pub fn json(&self) -> Option<String> {
        self.ink().json_with(
            &self
                .strokes
                .iter()
                .map(|stroke| stroke.pressures.clone())
                .collect::<Vec<_>>(),
        )
    }

    pub fn ink(&self) -> Ink {
        Ink {
            strokes: self
                .strokes
                .iter()
                .map(|stroke| stroke.points.clone())
                .collect(),
            pen: Some(self.pen),
        }
    }
}

/// A change that takes another one back.
#[derive(Clone, Debug)]
enum Change {
    Remove,
    Add(PenStroke),
    /// Put these strokes in the place of all there are, and with them a pen of this diameter, if
    /// it changed too.
    Replace(Vec<PenStroke>, Option<f32>),
}

impl Change {
    /// Carries it out; returns the change that takes it back.
    fn apply(self, strokes: &mut Vec<PenStroke>, pen: &mut f32) -> Self {
        match self {
            Self::Remove => strokes
                .pop()
                .map_or(Self::Replace(Vec::new(), None), Self::Add),
            Self::Add(stroke) => {
                strokes.push(stroke);
                Self::Remove
            }
            Self::Replace(others, width) => {
                let width = width.map(|width| std::mem::replace(pen, width));
                Self::Replace(std::mem::replace(strokes, others), width)
            }
        }
    }

    fn points(&self) -> usize {
        match self {
            Self::Remove => 0,
            Self::Add(stroke) => stroke.points.len(),
            Self::Replace(strokes, _) => strokes.iter().map(|stroke| stroke.points.len()).sum(),
        }
    }
}
