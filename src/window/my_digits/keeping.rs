//! Keeping the drawing on the canvas, changing the label of one that is kept, and deleting it.

use super::{Collection, MyDigitsView};
use crate::data::my_digits::{Edit, KeptDrawing};
use crate::records::Prediction;
use crate::window::App;

impl MyDigitsView {
    /// Something else is drawn: what was kept before stays as it is.
    pub(in crate::window) const fn drawing_begins(&mut self) {
        self.just_kept = None;
    }
}

impl App {
    /// The digit that the drawing on the canvas is kept with if it was recognised correctly: the
    /// one that the model named, if it names digits.
    pub fn digit_to_keep(&self) -> Option<u8> {
        let names_digit =
            |prediction: &&Prediction| prediction.is_digit && prediction.model.classes.are_digits();
        self.prediction()
            .filter(names_digit)
            .filter(|_| self.can_keep())
            .map(|prediction| prediction.digit)
    }

    /// True if there is a drawing to keep on the canvas.
    pub fn can_keep(&self) -> bool {
        self.image_shown().is_none()
            && !self.draw.drawing.strokes().is_empty()
            && !self.draw.drawing.pen_down()
    }

    /// Keeps the drawing on the canvas with this digit, or without one with the digit that is asked
    /// for or was named, and clears the canvas.
    pub(in crate::window) fn keep(&mut self, digit: Option<u8>) {
        let asked = self.ctx.collection.as_ref().map(Collection::digit);
        let Some(digit) = asked
            .or(digit)
            .or_else(|| self.digit_to_keep())
            .filter(|_| self.can_keep())
        else {
            return;
        };
        let Some(kept) = KeptDrawing::new(&self.draw.drawing.ink(), digit) else {
            return;
        };
        self.change_my_digits(Edit {
            add: vec![kept],
            ..Edit::default()
        });
        self.clear_drawing();
        self.my_digits.just_kept = Some(digit);
        self.collected(true);
    }

    pub(in crate::window) fn keep_recent(&mut self, index: usize, digit: u8) {
        let drawing = self
            .draw
            .recent_drawings
            .iter()
            .nth(index)
            .and_then(|recent| KeptDrawing::new(&recent.ink, digit));
        self.change_my_digits(Edit {
            add: drawing.into_iter().collect(),
            ..Edit::default()
        });
    }

    pub(in crate::window) fn relabel(&mut self, drawing: KeptDrawing, digit: u8) {
        if let Some(changed) = drawing.relabelled(digit).filter(|_| drawing.digit != digit) {
            self.change_my_digits(Edit {
                remove: vec![drawing],
                add: vec![changed],
            });
        }
    }

    pub(in crate::window) fn delete_kept(&mut self, drawing: KeptDrawing) {
        self.change_my_digits(Edit {
            remove: vec![drawing],
            ..Edit::default()
        });
    }

    /// Takes it back that the last drawing was kept, and puts it on the canvas again; false where
    /// something else came after it.
    pub(in crate::window) fn undo_just_kept(&mut self) -> bool {
        let is_last = self.just_kept().is_some() && self.my_digits.can_undo();
        if is_last {
            self.my_digits.just_kept = None;
            self.undo_kept();
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
            .filter(|_| self.draw.drawing.strokes().is_empty())
    }
}
