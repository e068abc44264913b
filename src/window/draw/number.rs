//! The canvas for several digits, and what the model reads there.

use super::{Drawing, PredictionQueue, Tool};
use crate::ink::{Bounds, Ink};
use crate::protocol::Command;
use crate::records::{DigitPrediction, Prediction};
use crate::window::{App, Screen};

/// Ink that is wider than this, relative to its height, is more than one digit.
const ONE_DIGIT: f32 = 1.5;

#[derive(Clone, Debug)]
pub struct NumberCanvas {
    pub drawing: Drawing,
    pub(in crate::window) readings: PredictionQueue<Vec<DigitPrediction>>,
    /// The digit whose probabilities are shown; the last one, unless another was chosen.
    chosen: Option<usize>,
}

impl Default for NumberCanvas {
    fn default() -> Self {
        Self {
            drawing: Drawing::wide(),
            readings: PredictionQueue::default(),
            chosen: None,
        }
    }
}

impl NumberCanvas {
    /// The digits that were read, from left to right.
    pub fn digits(&self) -> &[DigitPrediction] {
        self.readings.prediction().map_or(&[], Vec::as_slice)
    }

    /// What was read belongs to something else.
    pub(in crate::window) fn forget(&mut self) {
        self.chosen = None;
        self.readings.changed(true);
    }

    /// The number of the digit whose probabilities are shown, from 0 on the left.
    pub fn chosen(&self) -> Option<usize> {
        let last = self.digits().len().checked_sub(1)?;
        Some(self.chosen.map_or(last, |chosen| chosen.min(last)))
    }
}

impl App {
    /// True while the canvas for several digits is shown. The guided collection asks for one digit
    /// at a time.
    pub fn draws_several(&self) -> bool {
        self.ctx.settings.several_digits
            && self.ctx.screen == Screen::Draw
            && self.ctx.collection.is_none()
    }

    /// True where what is on the canvas is read as writing with several digits: there, and of an
    /// image.
    pub fn reads_several(&self) -> bool {
        self.draws_several() || self.image_shown().is_some()
    }

    /// True if nothing is on the canvas that is shown.
    pub(in crate::window) fn is_canvas_empty(&self) -> bool {
        self.image_shown().is_none() && self.drawing_shown().strokes().is_empty()
    }

    /// The drawing on the canvas that is shown.
    pub fn drawing_shown(&self) -> &Drawing {
        if self.draws_several() {
            &self.draw.number.drawing
        } else {
            &self.draw.drawing
        }
    }

    pub(in crate::window) fn drawing_shown_mut(&mut self) -> &mut Drawing {
        if self.draws_several() {
            &mut self.draw.number.drawing
        } else {
            &mut self.draw.drawing
        }
    }

    /// The newest prediction of the drawing on the canvas, or of the digit on it that was chosen.
    pub fn prediction_shown(&self) -> Option<&Prediction> {
        if !self.reads_several() {
            return self.prediction();
        }
        Some(
            &self
                .draw
                .number
                .digits()
                .get(self.draw.number.chosen()?)?
                .prediction,
        )
    }

    pub(in crate::window) fn choose_canvas(&mut self, several: bool) {
        self.drawing_shown_mut().end();
        self.ctx.settings.several_digits = several;
        self.put_eraser_away_if_empty();
        // The model may have changed since it was looked at last.
        if self.image_shown().is_some() {
            self.steps_changed()
        } else {
            self.drawing_changed()
        }
    }

    pub(in crate::window) fn choose_digit(&mut self, index: usize) {
        self.draw.number.chosen = Some(index);
    }

    /// The drawing on the canvas that is shown changed.
    pub(in crate::window) fn drawing_changed(&mut self) {
        self.put_eraser_away_if_empty();
        if self.draws_several() {
            self.draw.number.chosen = None;
            self.read_again();
        } else if let Some(request) = self
            .draw
            .predictions
            .changed(self.draw.drawing.strokes().is_empty())
        {
            self.classify(request);
        }
    }

    /// On an empty canvas there is nothing to erase, and the prompt invites to draw.
    pub(in crate::window) fn put_eraser_away_if_empty(&mut self) {
        let drawing = self.drawing_shown();
        if drawing.strokes().is_empty() && !drawing.pen_down() {
            self.draw.tool = Tool::Pen;
        }
    }

    /// True while the drawing on the canvas has changed since it was recognised.
    pub fn is_behind(&self) -> bool {
        if self.reads_several() {
            self.draw.number.readings.is_behind()
        } else {
            self.draw.predictions.is_behind()
        }
    }

    /// Recognises what is on the canvas again: the model or its weights are others.
    pub(in crate::window) fn recognize_again(&mut self) {
        if self.reads_several() {
            self.read_again()
        } else {
            self.drawing_changed()
        }
    }

    /// Reads the canvas for several digits again; the digit that was chosen stays chosen.
    fn read_again(&mut self) {
        let empty = match self.image_shown() {
            // What is written in it is not known yet.
            Some(_) => self
                .image_reading()
                .is_none_or(|reading| reading.candidates.is_empty()),
            None => self.draw.number.drawing.strokes().is_empty(),
        };
        if let Some(request) = self.draw.number.readings.changed(empty) {
            self.read_number(request);
        }
    }

    pub(in crate::window) fn classify(&mut self, request: u64) {
        let (ink, steps) = (self.draw.drawing.ink(), self.steps_in_use());
        self.ctx.send(Command::Classify {
            request,
            ink,
            steps,
        });
    }

    pub(in crate::window) fn read_number(&mut self, request: u64) {
        if self.image_shown().is_some() {
            return self.read_image(request);
        }
        let (ink, steps) = (self.draw.number.drawing.ink(), self.steps_in_use());
        self.ctx.send(Command::ReadNumber {
            request,
            ink,
            steps,
        });
    }

    /// Pending requests will not be answered: the engine was replaced.
    pub(in crate::window) fn forget_requests(&mut self) {
        self.draw.predictions.forget_request();
        self.my_digits.forget_request();
        self.draw.number.readings.forget_request();
    }

    /// Puts ink from a file on a canvas that suits it: one that is wider than a digit on the one
    /// for several.
    pub(in crate::window) fn put_ink(&mut self, ink: &Ink, pressures: &[Vec<f32>]) {
        let finite = |point: &[f32; 2]| point.iter().all(|value| value.is_finite());
        let bounds = Bounds::of(ink.strokes.iter().flatten().copied().filter(finite));
        self.ctx.go_to(Screen::Draw);
        self.ctx.settings.several_digits |=
            bounds.size(0) > ONE_DIGIT * bounds.size(1) && ink.strokes.len() > 1;
        self.drawing_shown_mut().put_pressed(ink, pressures);
        self.drawing_changed();
    }
}
