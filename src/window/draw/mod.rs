//! The canvas and what the model makes of what is on it.

mod drawing;
mod eraser;
mod images;
mod inference_device;
mod preprocessing;
mod reading;
mod update;
pub mod verdict;
#[cfg(feature = "gui")]
pub mod view;
pub mod why;

use std::collections::VecDeque;

pub use drawing::{CANVAS, Drawing, PenStroke, Tool, WIDE_CANVAS};
pub use images::OpenImage;
pub use inference_device::{about_inference_comparison, device_name, inference_row};
pub use update::DrawAction;

use self::images::OpenImages;
use self::inference_device::InferenceDevice;
use self::preprocessing::Preprocessing;
use self::reading::CanvasPredictions;
use self::why::Why;
use crate::ink::{Bounds, Ink};
use crate::records::Prediction;
use crate::run_config::Classes;
use crate::window::timeline::Timeline;
use crate::window::{Ctx, Screen};

/// Recent drawings that are kept.
const RECENT: usize = 100;
/// Ink that is wider than this, relative to its height, is more than one digit.
const ONE_DIGIT: f32 = 1.5;

/// The canvas that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canvas {
    /// The canvas for one digit.
    One,
    /// The wide one, for several digits, which are read from left to right.
    Several,
    /// An image that lies over either, and is read as writing with one digit or several.
    Image,
}

/// The canvas, and what the model reads on it.
pub struct Draw {
    /// The drawing on the canvas for one digit, also while the other canvas or an image is shown.
    pub one: Drawing,
    /// That on the canvas for several digits.
    pub several: Drawing,
    images: OpenImages,
    /// The predictions for each [`Canvas`].
    readings: [CanvasPredictions; 3],
    /// The request that is still to be answered, and what it is about.
    asked: Option<(u64, Canvas)>,
    /// The effect of the pointer on the canvas.
    pub tool: Tool,
    /// The drawings that were cleared from the canvas since the program started, and what the model
    /// made of them, the newest first.
    pub recent: VecDeque<(Ink, Prediction)>,
    inference: InferenceDevice,
    preprocessing: Preprocessing,
    /// The explanation of the drawing.
    pub why: Why,
    /// Whether the images nearest to the drawing are shown.
    pub nearest_shown: bool,
    /// Whether Train shows what the network makes of the drawing.
    pub maps_in_train: bool,
    /// The network in use as it was during its run.
    pub timeline: Timeline,
    /// Training seconds at which the drawing was last classified again automatically.
    pub(in crate::window) classified_at: f32,
}

impl Ctx {
    /// The classes of the model in use.
    pub fn classes(&self) -> Classes {
        self.model_in_use
            .as_ref()
            .map(|model| model.classes.clone())
            .unwrap_or_default()
    }

    /// True while the canvas for several digits is shown, or lies below an image. The guided
    /// collection asks for one digit at a time.
    pub fn draws_several(&self) -> bool {
        self.settings.several_digits && self.screen == Screen::Draw && self.collection.is_none()
    }

    fn drawing_canvas(&self) -> Canvas {
        if self.draws_several() {
            Canvas::Several
        } else {
            Canvas::One
        }
    }
}

impl Draw {
    /// Empty canvases, with a pen of this diameter.
    pub fn new(pen: f32) -> Self {
        let (mut one, mut several) = (Drawing::default(), Drawing::wide());
        (one.pen, several.pen) = (pen, pen);
        Self {
            one,
            several,
            readings: Default::default(),
            images: OpenImages::default(),
            asked: None,
            tool: Tool::Pen,
            recent: VecDeque::new(),
            inference: InferenceDevice::default(),
            preprocessing: Preprocessing::default(),
            why: Why::default(),
            nearest_shown: false,
            maps_in_train: false,
            timeline: Timeline::default(),
            classified_at: 0.0,
        }
    }

    pub fn canvas(&self, ctx: &Ctx) -> Canvas {
        match self.image_shown(ctx) {
            Some(_) => Canvas::Image,
            None => ctx.drawing_canvas(),
        }
    }

    /// The drawing on the canvas that is shown, or that lies below an image.
    pub fn drawing_shown(&self, ctx: &Ctx) -> &Drawing {
        if ctx.draws_several() {
            &self.several
        } else {
            &self.one
        }
    }

    fn drawing_shown_mut(&mut self, ctx: &Ctx) -> &mut Drawing {
        if ctx.draws_several() {
            &mut self.several
        } else {
            &mut self.one
        }
    }

    /// True if nothing is on the canvas that is shown.
    pub(in crate::window) fn is_canvas_empty(&self, ctx: &Ctx) -> bool {
        self.image_shown(ctx).is_none() && self.drawing_shown(ctx).strokes().is_empty()
    }

    fn choose_canvas(&mut self, ctx: &mut Ctx, several: bool) {
        self.drawing_shown_mut(ctx).end();
        ctx.settings.several_digits = several;
        self.why.class = None;
        self.put_eraser_away_if_empty(ctx);
        // The model may have changed since it was looked at last.
        if self.canvas(ctx) == Canvas::Image {
            self.recognize_again(ctx);
        } else {
            self.drawing_changed(ctx);
        }
    }

    /// On an empty canvas there is nothing to erase, and the prompt invites to draw.
    fn put_eraser_away_if_empty(&mut self, ctx: &Ctx) {
        let drawing = self.drawing_shown(ctx);
        if drawing.strokes().is_empty() && !drawing.pen_down() {
            self.tool = Tool::Pen;
        }
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

    /// Puts a drawing of one digit in the place of the one there is, which is among the recent ones
    /// then.
    pub(in crate::window) fn put_digit(&mut self, ctx: &mut Ctx, ink: &Ink) {
        ctx.settings.several_digits = false;
        self.keep_drawing();
        self.one.put(ink);
        self.drawing_changed(ctx);
    }

    /// Clears the canvas for one digit; the drawing is among the recent ones then.
    pub(in crate::window) fn clear_drawing(&mut self, ctx: &mut Ctx) {
        self.keep_drawing();
        self.one.clear();
        self.drawing_changed(ctx);
    }

    /// Puts the drawing among the recent ones, if the model has seen it; once, however often it is
    /// cleared and brought back.
    fn keep_drawing(&mut self) {
        if let Some(prediction) = self.prediction().cloned() {
            let ink = self.one.ink();
            self.recent.retain(|(known, _)| *known != ink);
            self.recent.push_front((ink, prediction));
            self.recent.truncate(RECENT);
        }
    }
}
