//! The drawing on the canvas and its undo history. Points are in canvas units, independent of screen pixels.

use crate::app::settings::PEN;
use crate::ink::{Ink, Stroke};

/// The side of the canvas in its own units: ten to each pixel of the model's image. The height of the one for several digits.
pub const CANVAS: f32 = 280.0;
/// The width of the canvas for several digits, in the same units.
pub const WIDE_CANVAS: f32 = 2.5 * CANVAS;

/// The share of the canvas that drawings from elsewhere fill, as MNIST's digits fill 20 of 28 pixels.
const FILLED: f32 = 20.0 / 28.0;

/// Strokes and their undo history.
#[derive(Clone, Debug)]
pub struct Drawing {
    strokes: Vec<Stroke>,
    past: Vec<Vec<Stroke>>,
    future: Vec<Vec<Stroke>>,
    pen_down: bool,
    /// The width of the canvas, in its units; [`CANVAS`] is its height.
    width: f32,
    /// Diameter of the pen, in canvas units.
    pub pen: f32,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { strokes: Vec::new(), past: Vec::new(), future: Vec::new(), pen_down: false, width: CANVAS, pen: 20.0 }
    }
}

impl Drawing {
    /// An empty canvas for several digits.
    pub fn wide() -> Self {
        Self { width: WIDE_CANVAS, ..Self::default() }
    }

    /// The width and height of the canvas, in its units.
    pub const fn size(&self) -> [f32; 2] {
        [self.width, CANVAS]
    }

    /// The strokes, the unfinished one last.
    pub fn strokes(&self) -> &[Stroke] {
        &self.strokes
    }

    /// True while a stroke is being drawn.
    pub const fn pen_down(&self) -> bool {
        self.pen_down
    }

    /// Begins a stroke.
    pub fn begin(&mut self, point: [f32; 2]) {
        self.push_undo();
        self.strokes.push(vec![point]);
        self.pen_down = true;
    }

    /// Extends the stroke; true if that changed anything.
    pub fn extend(&mut self, point: [f32; 2]) -> bool {
        let Some(stroke) = self.strokes.last_mut().filter(|_| self.pen_down) else { return false };
        let moved = stroke.last() != Some(&point);
        if moved {
            stroke.push(point);
        }
        moved
    }

    /// Ends the stroke.
    pub const fn end(&mut self) {
        self.pen_down = false;
    }

    /// Replaces the drawing by one from elsewhere; `undo` brings it back. Strokes in other units than the canvas's are scaled to a usual size
    /// and centred.
    pub fn put(&mut self, ink: &Ink) {
        let points = || ink.strokes.iter().flatten().filter(|point| point.iter().all(|value| value.is_finite()));
        let edge = |axis: usize, fold: fn(f32, f32) -> f32, start| points().map(|point| point[axis]).fold(start, fold);
        let (low, high) = ([0, 1].map(|axis| edge(axis, f32::min, f32::MAX)), [0, 1].map(|axis| edge(axis, f32::max, f32::MIN)));
        if points().next().is_none() {
            return;
        }
        let ours = ink.pen.is_some_and(|pen| PEN.contains(&pen))
            && low.iter().all(|low| *low >= 0.0)
            && high.iter().zip(self.size()).all(|(high, edge)| *high <= edge);
        let fitting = [0, 1].map(|axis| FILLED * self.size()[axis] / (high[axis] - low[axis]));
        let scale = if ours || fitting.iter().all(|scale| !scale.is_finite()) { 1.0 } else { fitting[0].min(fitting[1]) };
        let size = self.size();
        let place = |point: &[f32; 2]| {
            if ours { *point } else { [0, 1].map(|axis| (point[axis] - f32::midpoint(low[axis], high[axis])) * scale + size[axis] / 2.0) }
        };
        let fits = |point: &&[f32; 2]| point.iter().all(|value| value.is_finite());
        let strokes = ink.strokes.iter().map(|stroke| stroke.iter().filter(fits).map(place).collect::<Stroke>());
        self.push_undo();
        self.strokes = strokes.filter(|stroke| !stroke.is_empty()).collect();
        self.pen_down = false;
        if let Some(pen) = ink.pen.filter(|pen| pen.is_finite()) {
            self.pen = (pen * scale).clamp(*PEN.start(), *PEN.end());
        }
    }

    /// Undoes the last change.
    pub fn undo(&mut self) {
        if let Some(before) = self.past.pop() {
            self.future.push(std::mem::replace(&mut self.strokes, before));
            self.pen_down = false;
        }
    }

    /// Redoes what was undone.
    pub fn redo(&mut self) {
        if let Some(after) = self.future.pop() {
            self.past.push(std::mem::replace(&mut self.strokes, after));
            self.pen_down = false;
        }
    }

    /// Empties the canvas; `undo` brings the strokes back.
    pub fn clear(&mut self) {
        if !self.strokes.is_empty() {
            self.push_undo();
            self.strokes.clear();
            self.pen_down = false;
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

    /// The drawing as it is classified.
    pub fn ink(&self) -> Ink {
        Ink { strokes: self.strokes.clone(), pen: Some(self.pen) }
    }

    fn push_undo(&mut self) {
        self.past.push(self.strokes.clone());
        self.future.clear();
    }
}
