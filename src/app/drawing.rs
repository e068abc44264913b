//! Owns the drawing on the canvas and its undo history.
//! Must not know pixels of a screen: points are in canvas units.

use crate::ink::{Ink, Stroke};

/// The side of the canvas in its own units: ten to each pixel of the picture.
pub const CANVAS: f32 = 280.0;

/// Strokes, with everything that can be taken back.
#[derive(Clone, Debug)]
pub struct Drawing {
    strokes: Vec<Stroke>,
    past: Vec<Vec<Stroke>>,
    future: Vec<Vec<Stroke>>,
    pen_down: bool,
    /// Diameter of the pen, in canvas units.
    pub pen: f32,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { strokes: Vec::new(), past: Vec::new(), future: Vec::new(), pen_down: false, pen: 20.0 }
    }
}

impl Drawing {
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
        self.remember();
        self.strokes.push(vec![point]);
        self.pen_down = true;
    }

    /// Goes on with the stroke; true when that changed anything.
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

    /// Puts other strokes in the place of these; `undo` brings them back.
    pub fn replace(&mut self, ink: Ink) {
        self.remember();
        (self.strokes, self.pen_down) = (fitted(ink.strokes), false);
    }

    /// Takes the last change back.
    pub fn undo(&mut self) {
        if let Some(before) = self.past.pop() {
            self.future.push(std::mem::replace(&mut self.strokes, before));
            self.pen_down = false;
        }
    }

    /// Brings back what was taken back.
    pub fn redo(&mut self) {
        if let Some(after) = self.future.pop() {
            self.past.push(std::mem::replace(&mut self.strokes, after));
            self.pen_down = false;
        }
    }

    /// Empties the canvas; `undo` brings the strokes back.
    pub fn clear(&mut self) {
        if !self.strokes.is_empty() {
            self.remember();
            self.strokes.clear();
            self.pen_down = false;
        }
    }

    /// True when there is something to take back.
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// True when there is something to bring back.
    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    /// The drawing as it is read.
    pub fn ink(&self) -> Ink {
        Ink { strokes: self.strokes.clone(), pen: Some(self.pen) }
    }

    fn remember(&mut self) {
        self.past.push(self.strokes.clone());
        self.future.clear();
    }
}

/// Strokes in any units, as large as a hand would draw them on the canvas.
fn fitted(strokes: Vec<Stroke>) -> Vec<Stroke> {
    /// Share of the canvas that is filled.
    const FILLED: f32 = 0.7;
    let points = || strokes.iter().flatten();
    let range = |axis: usize| points().fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], point| [low.min(point[axis]), high.max(point[axis])]);
    let ranges = [range(0), range(1)];
    let longest = ranges.iter().map(|[low, high]| high - low).fold(0.0, f32::max);
    if !longest.is_finite() {
        return Vec::new();
    }
    let scale = if longest > 0.0 { FILLED * CANVAS / longest } else { 1.0 };
    let place = |value: f32, [low, high]: [f32; 2]| CANVAS / 2.0 + (value - (low + high) / 2.0) * scale;
    strokes.iter().map(|stroke| stroke.iter().map(|[x, y]| [place(*x, ranges[0]), place(*y, ranges[1])]).collect()).collect()
}
