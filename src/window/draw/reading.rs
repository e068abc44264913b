//! Reading what is on the canvas: one request at a time, then the newest; stale answers are
//! dropped.

use std::ops::RangeInclusive;

use super::why::Explained;
use super::{Canvas, Draw};
use crate::protocol::{Answer, Command, Question};
use crate::records::{
    DigitPrediction, Inspection, JobId, ModelRef, Prediction, PredictionDetails, Recognition,
};
use crate::window::digit_map::NEAREST;
use crate::window::{App, Ctx, Level, Screen};

/// How often a drawing left alone is recognized anew while the model in use is being trained, in
/// seconds of training: the longest if that takes more than one hundredth of the time.
const RECLASSIFY_INTERVAL: RangeInclusive<f32> = 0.2..=1.0;
/// Recognizing a drawing anew is followed by at least this many times its own duration, within that
/// range.
const RECLASSIFY_REST: f32 = 100.0;
/// Beyond that range, by at least this many times its duration: what explains a drawing takes
/// longer.
const LEAST_REST: f32 = 10.0;

/// A reading that takes longer than this, in seconds, is seen to lag behind the pen.
const SLOW: f32 = 0.01;

/// What was read on a canvas. Each change of what is on it has a number, greater than those before;
/// a request carries the number of the change it follows.
#[derive(Clone, Debug, Default)]
pub struct CanvasPredictions {
    newest: u64,
    /// The last change that was asked about.
    asked: u64,
    /// Answers to requests up to this one belong to a canvas that was emptied since.
    emptied: u64,
    answer: Option<(u64, Answer)>,
    /// The digit whose probabilities are shown; the last one, unless another was chosen.
    pub(super) chosen: Option<usize>,
}

impl CanvasPredictions {
    /// Notes that the drawing changed.
    fn changed(&mut self, change: u64, empty: bool) {
        self.newest = change;
        if empty {
            self.emptied = change;
            self.answer = None;
        }
    }

    /// True while what is on the canvas has changed since it was read.
    fn is_behind(&self) -> bool {
        let read = self.answer.as_ref().map_or(0, |(request, _)| *request);
        self.newest > self.emptied.max(read)
    }

    /// The digits of writing with several, from left to right.
    fn digits(&self) -> &[DigitPrediction] {
        match &self.answer {
            Some((_, Answer::Number(digits))) => digits,
            _ => &[],
        }
    }

    fn chosen(&self) -> Option<usize> {
        let last = self.digits().len().checked_sub(1)?;
        Some(self.chosen.map_or(last, |chosen| chosen.min(last)))
    }

    /// The newest prediction of the drawing, or of the digit that was chosen.
    pub fn prediction(&self) -> Option<&Prediction> {
        match &self.answer {
            Some((_, Answer::Drawing(recognition))) => Some(&recognition.prediction),
            _ => Some(&self.digits().get(self.chosen()?)?.prediction),
        }
    }

    /// The explanation of each digit, if that was asked, and the number of the answer.
    pub(super) fn explained(&self) -> (u64, Vec<Explained<'_>>) {
        let explained = if let Some((_, Answer::Drawing(recognition))) = &self.answer {
            let explanation = recognition.explanation.iter();
            let explained = explanation.map(|explanation| Explained {
                prediction: &recognition.prediction,
                explanation,
                bounds: None,
            });
            explained.collect()
        } else {
            let explained = self.digits().iter().filter_map(|digit| {
                Some(Explained {
                    prediction: &digit.prediction,
                    explanation: digit.explanation.as_ref()?,
                    bounds: Some(digit.bounds),
                })
            });
            explained.collect()
        };
        (
            self.answer.as_ref().map_or(0, |(answer, _)| *answer),
            explained,
        )
    }

    /// How long it took, in seconds.
    fn duration(&self) -> f32 {
        let of_digit = |digit: &DigitPrediction| {
            let explaining = digit.explanation.as_ref().map_or(0, |it| it.micros);
            digit.prediction.micros + explaining
        };
        let micros = match &self.answer {
            Some((_, Answer::Drawing(recognition))) => recognition.micros,
            _ => self.digits().iter().map(of_digit).sum(),
        };
        micros as f32 * 1e-6
    }
}

impl App {
    /// Pending requests will not be answered: the engine was replaced.
    pub(in crate::window) fn forget_requests(&mut self) {
        self.draw.asked = None;
        self.my_digits.forget_request();
        self.map.forget();
    }
}

impl Draw {
    pub(super) const fn reading_mut(&mut self, canvas: Canvas) -> &mut CanvasPredictions {
        &mut self.readings[canvas as usize]
    }

    /// The predictions for the canvas that is shown.
    pub(super) fn reading(&self, ctx: &Ctx) -> &CanvasPredictions {
        &self.readings[self.canvas(ctx) as usize]
    }

    /// The digits that were read on the canvas that is shown, from left to right.
    pub fn digits(&self, ctx: &Ctx) -> &[DigitPrediction] {
        self.reading(ctx).digits()
    }

    /// The number of the digit whose probabilities are shown, from 0 on the left.
    pub fn chosen(&self, ctx: &Ctx) -> Option<usize> {
        self.reading(ctx).chosen()
    }

    /// The newest prediction of the drawing on the canvas for one digit.
    pub fn prediction(&self) -> Option<&Prediction> {
        self.readings[Canvas::One as usize].prediction()
    }

    /// The newest prediction of the drawing on the canvas that is shown, or of the digit on it that
    /// was chosen.
    pub fn prediction_shown(&self, ctx: &Ctx) -> Option<&Prediction> {
        self.reading(ctx).prediction()
    }

    /// The prediction for the drawing of one digit, and the number of the answer.
    pub fn recognition(&self) -> Option<(u64, &Recognition)> {
        match &self.readings[Canvas::One as usize].answer {
            Some((answer, Answer::Drawing(recognition))) => Some((*answer, recognition)),
            _ => None,
        }
    }

    /// What the network computed for the drawing of one digit, if that was asked, and the number of
    /// the answer.
    pub fn inspection(&self) -> Option<(u64, &Inspection)> {
        let (answer, recognition) = self.recognition()?;
        Some((answer, recognition.inspection.as_ref()?))
    }

    /// True while what is on the canvas that is shown has changed since it was read.
    pub fn is_behind(&self, ctx: &Ctx) -> bool {
        self.reading(ctx).is_behind()
    }

    pub(super) fn choose_digit(&mut self, ctx: &mut Ctx, index: usize) {
        self.reading_mut(self.canvas(ctx)).chosen = Some(index);
        // What was asked was asked about another digit.
        if self.why.class.take().is_some() {
            self.recognize_again(ctx);
        }
    }

    /// Drops the predictions, which belong to something else.
    pub(super) fn forget_reading(&mut self, ctx: &mut Ctx, canvas: Canvas) {
        let change = ctx.next_id();
        self.why.class = None;
        let reading = self.reading_mut(canvas);
        reading.chosen = None;
        reading.changed(change, true);
    }

    /// The drawing below the image, or on the canvas that is shown, changed.
    pub(in crate::window) fn drawing_changed(&mut self, ctx: &mut Ctx) {
        self.put_eraser_away_if_empty(ctx);
        let canvas = ctx.drawing_canvas();
        self.reading_mut(canvas).chosen = None;
        // Of several, it was asked about the one that was chosen.
        if canvas == Canvas::Several || self.one.strokes().is_empty() {
            self.why.class = None;
        }
        self.read(ctx, canvas);
    }

    /// Recognizes what is on the canvas that is shown again: the model, its weights or the steps
    /// are others. The digit that was chosen stays chosen.
    pub(in crate::window) fn recognize_again(&mut self, ctx: &mut Ctx) {
        let canvas = self.canvas(ctx);
        if canvas == Canvas::Image && self.prepared_image(ctx).is_none() {
            self.prepare_image(ctx);
        } else if !self.is_canvas_empty(ctx) {
            self.read(ctx, canvas);
        }
    }

    fn read(&mut self, ctx: &mut Ctx, canvas: Canvas) {
        let empty = match canvas {
            Canvas::One => self.one.strokes().is_empty(),
            Canvas::Several => self.several.strokes().is_empty(),
            Canvas::Image => self
                .prepared_image(ctx)
                .is_none_or(|prepared| prepared.candidates.is_empty()),
        };
        let change = ctx.next_id();
        self.reading_mut(canvas).changed(change, empty);
        self.ask(ctx);
    }

    /// Asks about the canvas that is shown, or another that has changed since it was asked about,
    /// unless a request is still to be answered.
    fn ask(&mut self, ctx: &mut Ctx) {
        if self.asked.is_some() {
            return;
        }
        let Some(canvas) = [self.canvas(ctx), Canvas::One, Canvas::Several]
            .into_iter()
            .find(|canvas| {
                let reading = &self.readings[*canvas as usize];
                reading.newest > reading.asked.max(reading.emptied)
            })
        else {
            return;
        };
        let what = match canvas {
            Canvas::One => Question::Drawing {
                ink: self.one.ink(),
                steps: self.steps_for(ctx, &self.one),
                details: self.details(ctx),
            },
            Canvas::Several => Question::Number {
                ink: self.several.ink(),
                steps: self.steps_for(ctx, &self.several),
                why: self.why_spec(ctx),
            },
            Canvas::Image => Question::Candidates {
                candidates: self
                    .prepared_image(ctx)
                    .map(|prepared| prepared.candidates.clone())
                    .unwrap_or_default(),
                why: self.why_spec(ctx),
            },
        };
        let reading = self.reading_mut(canvas);
        reading.asked = reading.newest;
        let request = reading.newest;
        self.asked = Some((request, canvas));
        ctx.send(Command::Read { request, what });
    }

    /// The details that are shown of the drawing of one digit besides the prediction.
    pub(in crate::window) fn details(&self, ctx: &Ctx) -> PredictionDetails {
        match ctx.screen {
            Screen::Inside if ctx.inside == Level::Map => PredictionDetails {
                nearest: NEAREST,
                ..PredictionDetails::default()
            },
            Screen::Inside => PredictionDetails {
                inspection: true,
                look: ctx.inside.look(),
                ..PredictionDetails::default()
            },
            Screen::Draw if self.nearest_shown => PredictionDetails {
                nearest: NEAREST,
                ..PredictionDetails::default()
            },
            Screen::Draw if self.why.shown => PredictionDetails {
                why: self.why_spec(ctx),
                ..PredictionDetails::default()
            },
            Screen::Draw => PredictionDetails {
                inspection: !ctx.settings.steps_shown && self.can_inspect(),
                ..PredictionDetails::default()
            },
            Screen::Train => PredictionDetails {
                inspection: self.maps_in_train && self.can_inspect(),
                ..PredictionDetails::default()
            },
            _ => PredictionDetails::default(),
        }
    }

    /// False while a pen draws that a look into a large network would hold up.
    pub(super) fn can_inspect(&self) -> bool {
        let last = self.readings[Canvas::One as usize].duration();
        !self.one.pen_down() || last < SLOW
    }

    /// A request was answered; `None` if that failed.
    pub(in crate::window) fn on_answer(
        &mut self,
        ctx: &mut Ctx,
        request: u64,
        answer: Option<Answer>,
    ) {
        let Some((_, canvas)) = self.asked.take_if(|(asked, _)| *asked == request) else {
            return;
        };
        let reading = self.reading_mut(canvas);
        if let Some(answer) = answer
            && request > reading.emptied
        {
            reading.answer = Some((request, answer));
        }
        self.ask(ctx);
    }

    /// Recognizes the drawing anew with the weights as they are now, so that one sees them learn.
    pub(in crate::window) fn reclassify(&mut self, ctx: &mut Ctx, run: JobId, elapsed: f32) {
        let duration = self.reading(ctx).duration();
        let interval = (duration * RECLASSIFY_REST)
            .clamp(*RECLASSIFY_INTERVAL.start(), *RECLASSIFY_INTERVAL.end())
            .max(duration * LEAST_REST);
        if ctx.is_in_use(&ModelRef::Training(run))
            && !self.is_canvas_empty(ctx)
            && !self.is_behind(ctx)
            && elapsed - self.classified_at >= interval
        {
            self.classified_at = elapsed;
            self.recognize_again(ctx);
        }
    }
}
