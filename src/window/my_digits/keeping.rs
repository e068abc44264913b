//! Keeping the drawing on the canvas, and the guided collection: each digit several times, one
//! after the other.

use super::{DIGITS, MyDigitsView};
use crate::data::my_digits::KeptDrawing;
use crate::window::draw::{Canvas, Draw};
use crate::window::{Ctx, Screen};

/// The guided collection, while it is in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// For each of those before: true if it was kept, false if it was skipped.
    past: Vec<bool>,
}

impl Collection {
    /// How often each digit is drawn.
    pub const ROUNDS: usize = 3;

    pub const fn total(&self) -> usize {
        Self::ROUNDS * DIGITS
    }

    pub fn digit(&self) -> u8 {
        (self.past.len() % DIGITS) as u8
    }

    /// The round, from 1.
    pub fn round(&self) -> usize {
        self.past.len() / DIGITS + 1
    }

    /// How many are left, with the one that is asked for.
    pub fn left(&self) -> usize {
        self.total().saturating_sub(self.past.len())
    }

    /// The fraction that is done, from 0 to 1.
    pub fn fraction(&self) -> f32 {
        self.past.len() as f32 / self.total().max(1) as f32
    }

    /// True if there is something to go back to.
    pub fn can_go_back(&self) -> bool {
        !self.past.is_empty()
    }

    /// Asks for the one before again; true if that was kept.
    pub(super) fn go_back(&mut self) -> bool {
        self.past.pop().unwrap_or(false)
    }
}

impl Ctx {
    pub(super) fn stop_collection(&mut self) {
        if self.collection.take().is_some() {
            self.show(Screen::MyDigits);
        }
    }

    /// Goes on to the next digit; after the last one, to the drawings.
    pub(super) fn collected(&mut self, kept: bool) {
        let Some(collection) = &mut self.collection else {
            return;
        };
        collection.past.push(kept);
        if collection.left() == 0 {
            self.stop_collection();
        }
    }
}

impl MyDigitsView {
    /// Keeps the drawing on the canvas with this digit, or without one with the digit that is asked
    /// for or was named, and clears the canvas.
    pub(super) fn keep(&mut self, ctx: &mut Ctx, draw: &mut Draw, digit: Option<u8>) {
        let asked = ctx.collection.as_ref().map(Collection::digit);
        let Some(digit) = asked
            .or(digit)
            .or_else(|| draw.digit_to_keep(ctx))
            .filter(|_| draw.can_keep(ctx))
        else {
            return;
        };
        let Some(kept) = KeptDrawing::new(&draw.one.ink(), digit) else {
            return;
        };
        self.change(ctx, Vec::new(), vec![kept]);
        draw.clear_drawing(ctx);
        self.just_kept = Some(digit);
        ctx.collected(true);
    }

    /// Takes it back that the last drawing was kept, and puts it on the canvas again; false if
    /// something else came after it.
    pub(in crate::window) fn undo_just_kept(&mut self, ctx: &mut Ctx, draw: &Draw) -> bool {
        let is_last = self.just_kept(draw).is_some() && !self.undo.is_empty();
        if is_last {
            self.just_kept = None;
            self.undo_kept(ctx);
            if let Some(collection) = &mut ctx.collection {
                collection.go_back();
            }
        }
        is_last
    }

    /// The digit that the last drawing was kept with, while that can be undone from Draw.
    pub fn just_kept(&self, draw: &Draw) -> Option<u8> {
        self.just_kept.filter(|_| draw.one.strokes().is_empty())
    }
}

impl Draw {
    /// The digit that the drawing on the canvas is kept with if it was recognized correctly: the
    /// one that the model named, if it names digits.
    pub fn digit_to_keep(&self, ctx: &Ctx) -> Option<u8> {
        self.prediction()
            .filter(|prediction| prediction.is_digit && prediction.model.classes.are_digits())
            .filter(|_| self.can_keep(ctx))
            .map(|prediction| prediction.digit)
    }

    /// True if there is a drawing to keep on the canvas.
    pub fn can_keep(&self, ctx: &Ctx) -> bool {
        let drawing = &self.one;
        self.canvas(ctx) != Canvas::Image && !drawing.strokes().is_empty() && !drawing.pen_down()
    }
}

impl MyDigitsView {
    pub(super) fn relabel(&mut self, ctx: &mut Ctx, drawing: KeptDrawing, digit: u8) {
        if let Some(changed) = drawing.relabeled(digit).filter(|_| drawing.digit != digit) {
            self.change(ctx, vec![drawing], vec![changed]);
        }
    }
}
