//! The canvas for several digits, and what the model reads there.

use super::{Drawing, PredictionQueue, Tool};
use crate::ink::{Bounds, Ink};
use crate::protocol::Command;
use crate::records::{DigitPrediction, Prediction};
use crate::window::Ctx;
use crate::window::draw::Draw;
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
    /// Pending requests will not be answered: the engine was replaced.
    pub(in crate::window) fn forget_requests(&mut self) {
        self.draw.predictions.forget_request();
        self.my_digits.forget_request();
        self.draw.number.readings.forget_request();
    }
}

impl Ctx {
    /// True while the canvas for several digits is shown. The guided collection asks for one digit
    /// at a time.
    pub fn draws_several(&self) -> bool {
        self.settings.several_digits && self.screen == Screen::Draw && self.collection.is_none()
    }
}

impl Draw {
    /// True where what is on the canvas is read as writing with several digits: there, and of an
    /// image.
    pub fn reads_several(&self, ctx: &Ctx) -> bool {
        ctx.draws_several() || self.image_shown(ctx).is_some()
    }

    /// True if nothing is on the canvas that is shown.
    pub(in crate::window) fn is_canvas_empty(&self, ctx: &Ctx) -> bool {
        self.image_shown(ctx).is_none() && self.drawing_shown(ctx).strokes().is_empty()
    }

    /// The drawing on the canvas that is shown.
    pub fn drawing_shown(&self, ctx: &Ctx) -> &Drawing {
        if ctx.draws_several() {
            &self.number.drawing
        } else {
            &self.drawing
        }
    }

    pub(in crate::window) fn drawing_shown_mut(&mut self, ctx: &mut Ctx) -> &mut Drawing {
        if ctx.draws_several() {
            &mut self.number.drawing
        } else {
            &mut self.drawing
        }
    }

    /// The newest prediction of the drawing on the canvas, or of the digit on it that was chosen.
    pub fn prediction_shown(&self, ctx: &Ctx) -> Option<&Prediction> {
        if !self.reads_several(ctx) {
            return self.prediction();
        }
        Some(&self.number.digits().get(self.number.chosen()?)?.prediction)
    }

    pub(in crate::window) fn choose_canvas(&mut self, ctx: &mut Ctx, several: bool) {
        self.drawing_shown_mut(ctx).end();
        ctx.settings.several_digits = several;
        self.put_eraser_away_if_empty(ctx);
        // The model may have changed since it was looked at last.
        if self.image_shown(ctx).is_some() {
            self.steps_changed(ctx);
        } else {
            self.drawing_changed(ctx);
        }
    }

    pub(in crate::window) fn choose_digit(&mut self, index: usize) {
        self.number.chosen = Some(index);
    }

    /// The drawing on the canvas that is shown changed.
    pub(in crate::window) fn drawing_changed(&mut self, ctx: &mut Ctx) {
        self.put_eraser_away_if_empty(ctx);
        if ctx.draws_several() {
            self.number.chosen = None;
            self.read_again(ctx);
        } else if let Some(request) = self.predictions.changed(self.drawing.strokes().is_empty()) {
            self.classify(ctx, request);
        }
    }

    /// On an empty canvas there is nothing to erase, and the prompt invites to draw.
    pub(in crate::window) fn put_eraser_away_if_empty(&mut self, ctx: &mut Ctx) {
        let drawing = self.drawing_shown(ctx);
        if drawing.strokes().is_empty() && !drawing.pen_down() {
            self.tool = Tool::Pen;
        }
    }

    /// True while the drawing on the canvas has changed since it was recognized.
    pub fn is_behind(&self, ctx: &Ctx) -> bool {
        if self.reads_several(ctx) {
            self.number.readings.is_behind()
        } else {
            self.predictions.is_behind()
        }
    }

    /// Recognizes what is on the canvas again: the model or its weights are others.
    pub(in crate::window) fn recognize_again(&mut self, ctx: &mut Ctx) {
        if self.reads_several(ctx) {
            self.read_again(ctx);
        } else {
            self.drawing_changed(ctx);
        }
    }

    /// Reads the canvas for several digits again; the digit that was chosen stays chosen.
    fn read_again(&mut self, ctx: &mut Ctx) {
        let empty = match self.image_shown(ctx) {
            // What is written in it is not known yet.
            Some(_) => self
                .image_reading(ctx)
                .is_none_or(|reading| reading.candidates.is_empty()),
            None => self.number.drawing.strokes().is_empty(),
        };
        if let Some(request) = self.number.readings.changed(empty) {
            self.read_number(ctx, request);
        }
    }

    pub(in crate::window) fn classify(&mut self, ctx: &mut Ctx, request: u64) {
        let (ink, steps) = (self.drawing.ink(), self.steps_in_use(ctx));
        ctx.send(Command::Classify {
            request,
            ink,
            steps,
        });
    }

    pub(in crate::window) fn read_number(&mut self, ctx: &mut Ctx, request: u64) {
        if self.image_shown(ctx).is_some() {
            return self.read_image(ctx, request);
        }
        let (ink, steps) = (self.number.drawing.ink(), self.steps_in_use(ctx));
        ctx.send(Command::ReadNumber {
            request,
            ink,
            steps,
        });
    }

    /// Puts ink from a file on a canvas that suits it: one that is wider than a digit on the one
    /// for several.
    pub(in crate::window) fn put_ink(&mut self, ctx: &mut Ctx, ink: &Ink, pressures: &[Vec<f32>]) {
        let finite = |point: &[f32; 2]| point.iter().all(|value| value.is_finite());
        let bounds = Bounds::of(ink.strokes.iter().flatten().copied().filter(finite));
        ctx.go_to(Screen::Draw);
        ctx.settings.several_digits |=
            bounds.size(0) > ONE_DIGIT * bounds.size(1) && ink.strokes.len() > 1;
        self.drawing_shown_mut(ctx).put_pressed(ink, pressures);
        self.drawing_changed(ctx);
    }
}
