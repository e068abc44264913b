//! What the model in use makes of the drawings: asked for a few at a time, while they are shown.

use super::{MyDigitsView, MyDrawing};
use crate::protocol::{Command, Question};
use crate::records::DrawingAnswer;
use crate::window::App;
use crate::window::action::Screen;

/// Drawings in one request: recognized in a few hundredths of a second.
const AT_ONCE: usize = 40;

impl MyDigitsView {
    /// What the model in use makes of a drawing, once it is known.
    pub fn answer(&self, drawing: &MyDrawing) -> Option<DrawingAnswer> {
        self.answers.get(drawing.kept.line()).copied()
    }

    /// True where the model in use takes a drawing for another digit, or for none.
    pub fn is_wrong(&self, drawing: &MyDrawing) -> bool {
        self.answer(drawing)
            .is_some_and(|answer| !is_right(answer, drawing))
    }

    /// How many drawings do not look like a digit to the model in use, of those about which that is
    /// known.
    pub fn not_digits(&self) -> usize {
        self.drawings()
            .iter()
            .filter_map(|drawing| self.answer(drawing))
            .filter(|answer| !answer.is_digit)
            .count()
    }

    /// How many of these drawings are recognized correctly, once that is known of all.
    pub fn correct<'d>(&self, drawings: impl Iterator<Item = &'d MyDrawing>) -> Option<usize> {
        let mut correct = 0;
        for drawing in drawings {
            correct += usize::from(is_right(self.answer(drawing)?, drawing));
        }
        Some(correct)
    }

    /// Another model is in use, or its weights have changed.
    pub(in crate::window) fn forget_answers(&mut self) {
        self.answers.clear();
        self.asked = None;
    }

    /// A request will not be answered: the engine was replaced.
    pub(in crate::window) fn forget_request(&mut self) {
        self.asked = None;
    }
}

/// What Draw would call "not a digit" is not recognized, whatever digit it is closest to.
fn is_right(answer: DrawingAnswer, drawing: &MyDrawing) -> bool {
    answer.is_digit && answer.digit == drawing.kept.digit
}

impl App {
    /// Asks for answers where they are shown and not known yet.
    pub(in crate::window) fn update_answers(&mut self) {
        let shown = self.ctx.screen == Screen::MyDigits
            && self.ctx.model_in_use.is_some()
            && self.machine.may_send_my_digits(&self.ctx) != Some(false);
        if !shown || self.my_digits.asked.is_some() {
            return;
        }
        let unknown = self
            .my_digits
            .drawings()
            .iter()
            .filter(|drawing| self.my_digits.answer(drawing).is_none());
        let (lines, drawings): (Vec<_>, Vec<_>) = unknown
            .take(AT_ONCE)
            .map(|drawing| (drawing.kept.line().to_vec(), drawing.kept.ink.clone()))
            .unzip();
        if !drawings.is_empty() {
            let request = self.ctx.next_id();
            self.my_digits.asked = Some((request, lines));
            self.ctx.send(Command::Read {
                request,
                what: Question::Drawings(drawings),
            });
        }
    }
}

impl MyDigitsView {
    /// A request that failed stays asked: asked again at once, it would fail again.
    pub(in crate::window) fn on_answers(&mut self, request: u64, answers: Vec<DrawingAnswer>) {
        if let Some((_, lines)) = self.asked.take_if(|(asked, _)| *asked == request) {
            self.answers.extend(lines.into_iter().zip(answers));
        }
    }
}
