//! Keeping the drawing on the canvas, changing the label of one that is kept, and deleting it.

use super::{Collection, MyDigitsView};
use crate::data::my_digits::{Edit, KeptDrawing};
use crate::records::Prediction;
use crate::window::draw::{Canvas, Draw};
use crate::window::{App, Ctx};

impl MyDigitsView {
    /// Something else is drawn: what was kept before stays as it is.
    pub(in crate::window) const fn drawing_begins(&mut self) {
        self.just_kept = None;
    }
}

impl App {
    /// Keeps the drawing on the canvas with this digit, or without one with the digit that is asked
    /// for or was named, and clears the canvas.
    pub(in crate::window) fn keep(&mut self, digit: Option<u8>) {
        let asked = self.ctx.collection.as_ref().map(Collection::digit);
        let Some(digit) = asked
            .or(digit)
            .or_else(|| self.draw.digit_to_keep(&self.ctx))
            .filter(|_| self.draw.can_keep(&self.ctx))
        else {
            return;
        };
        let Some(kept) = KeptDrawing::new(&self.draw.one.drawing.ink(), digit) else {
            return;
        };
        self.my_digits.change_my_digits(
            &mut self.ctx,
            Edit {
                add: vec![kept],
                ..Edit::default()
            },
        );
        self.draw.clear_drawing(&mut self.ctx);
        self.my_digits.just_kept = Some(digit);
        self.ctx.collected(true);
    }

    pub(in crate::window) fn keep_recent(&mut self, index: usize, digit: u8) {
        let drawing = self
            .draw
            .recent
            .get(index)
            .and_then(|(ink, _)| KeptDrawing::new(ink, digit));
        self.my_digits.change_my_digits(
            &mut self.ctx,
            Edit {
                add: drawing.into_iter().collect(),
                ..Edit::default()
            },
        );
    }

    /// Takes it back that the last drawing was kept, and puts it on the canvas again; false where
    /// something else came after it.
    pub(in crate::window) fn undo_just_kept(&mut self) -> bool {
        let is_last = self.just_kept().is_some() && self.my_digits.can_undo();
        if is_last {
            self.my_digits.just_kept = None;
            self.my_digits.undo_kept(&mut self.ctx);
            if let Some(collection) = &mut self.ctx.collection {
                collection.go_back();
            }
        }
        is_last
    }

    /// The digit that the last drawing was kept with, while that can be taken back from Draw.
    pub fn just_kept(&self) -> Option<u8> {
        self.my_digits
            .just_kept
            .filter(|_| self.draw.one.drawing.strokes().is_empty())
    }
}

impl Draw {
    /// The digit that the drawing on the canvas is kept with if it was recognized correctly: the
    /// one that the model named, if it names digits.
    pub fn digit_to_keep(&self, ctx: &Ctx) -> Option<u8> {
        let names_digit =
            |prediction: &&Prediction| prediction.is_digit && prediction.model.classes.are_digits();
        self.prediction()
            .filter(names_digit)
            .filter(|_| self.can_keep(ctx))
            .map(|prediction| prediction.digit)
    }

    /// True if there is a drawing to keep on the canvas.
    pub fn can_keep(&self, ctx: &Ctx) -> bool {
        self.canvas(ctx) != Canvas::Image
            && !self.one.drawing.strokes().is_empty()
            && !self.one.drawing.pen_down()
    }
}

impl MyDigitsView {
    pub(in crate::window) fn relabel(&mut self, ctx: &mut Ctx, drawing: KeptDrawing, digit: u8) {
        if let Some(changed) = drawing.relabelled(digit).filter(|_| drawing.digit != digit) {
            self.change_my_digits(
                ctx,
                Edit {
                    remove: vec![drawing],
                    add: vec![changed],
                },
            );
        }
    }

    pub(in crate::window) fn delete_kept(&mut self, ctx: &mut Ctx, drawing: KeptDrawing) {
        self.change_my_digits(
            ctx,
            Edit {
                remove: vec![drawing],
                ..Edit::default()
            },
        );
    }
}
