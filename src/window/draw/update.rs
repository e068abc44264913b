//! The actions of the screen, and their effects.

use std::sync::Arc;

use crate::ink::{IMAGE_ENDINGS, Image, Ink, Step};
use crate::records::ModelRef;
use crate::run_config::InferenceChoice;
use crate::window::desktop::Purpose;
use crate::window::draw::why::Why;
use crate::window::draw::{Canvas, Draw, Tool};
use crate::window::{Ctx, MyDigitsView, Request, Screen};

/// How ink files end that can be opened in Draw, besides images.
const INK_ENDINGS: [&str; 5] = ["json", "jsonl", "ndjson", "gz", "ink"];

/// Actions on this screen and on its parts elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum DrawAction {
    ChooseTool(Tool),
    /// The pen touches the canvas here (canvas units, see [`crate::window::CANVAS`]).
    PenDown([f32; 2]),
    /// The canvas is shown with this many screen points per unit.
    PenScale(f32),
    /// The eraser touches the canvas here, whichever tool is chosen.
    EraserDown([f32; 2]),
    /// The pen or the eraser moved here.
    PenMove([f32; 2]),
    /// The pen presses this hard, from 0 to 1, where it goes next.
    PenPressure(f32),
    /// The pen or the eraser was lifted.
    PenUp,
    /// Undo the last change of the drawing: a stroke, erasing, clearing, or a drawing that was put
    /// there.
    Undo,
    Redo,
    ClearDrawing,
    /// Bring back the recent drawing with this index.
    RestoreDrawing(usize),
    /// Set the pen's diameter, in canvas units.
    SetPen(f32),
    /// Show the canvas for one digit or the one for several.
    ChooseCanvas {
        several: bool,
    },
    /// Show the probabilities of this digit on the canvas for several, from 0 on the left.
    ChooseDigit(usize),
    /// Show or fold away the steps from the drawing to the model's input.
    ShowSteps(bool),
    /// Show or fold away what speaks for the verdict.
    ShowWhy(bool),
    /// Show or fold away the images nearest to the drawing.
    ShowNearest(bool),
    /// Show in Train what the network makes of the drawing.
    ShowMapsInTrain(bool),
    /// Explain this class instead of the one that is predicted, or that one again.
    ExplainClass(Option<u8>),
    /// Change the drawing so that it becomes what was asked about.
    ApplyChange,
    /// Carry out one of these steps, or leave it out to see what it does.
    SwitchStep {
        step: Step,
        on: bool,
    },
    /// Carry out all steps again.
    RestoreSteps,
    /// Copy the image that the model took as input.
    CopyImage,
    /// Save it as a PNG file chosen in a dialog.
    SaveImage,
    /// Open an image or ink file chosen in a dialog on the canvas.
    OpenInDraw,
    /// Open an image from the clipboard on the canvas.
    PasteImage {
        /// Its width and height, in pixels.
        size: [usize; 2],
        /// Red, green, blue and alpha of each pixel, with colors multiplied by alpha.
        pixels: Arc<Vec<u8>>,
    },
    UseModel(ModelRef),
    /// Use this model for drawings and go to the canvas.
    DrawWith(ModelRef),
    ChooseInferenceDevice(InferenceChoice),
    /// Save the drawing as an ink file chosen in a dialog.
    SaveDrawing,
}

impl Draw {
    pub fn update(&mut self, ctx: &mut Ctx, mine: &mut MyDigitsView, action: DrawAction) {
        match (action, self.canvas(ctx)) {
            // There is nothing to draw on.
            (
                DrawAction::PenDown(_)
                | DrawAction::EraserDown(_)
                | DrawAction::PenMove(_)
                | DrawAction::SaveDrawing,
                Canvas::Image,
            ) => {}
            (DrawAction::PenDown(point), canvas) => {
                if canvas == Canvas::One {
                    mine.just_kept = None;
                }
                self.forget_closed_images();
                self.drawing_shown_mut(ctx).begin(point);
                self.drawing_changed(ctx);
            }
            (DrawAction::EraserDown(point), _) => {
                self.forget_closed_images();
                if self.drawing_shown_mut(ctx).begin_erasing(point) {
                    self.drawing_changed(ctx);
                }
            }
            (DrawAction::PenMove(point), _) => {
                if self.drawing_shown_mut(ctx).extend(point) {
                    self.drawing_changed(ctx);
                }
            }
            (DrawAction::PenScale(scale), _) => self.drawing_shown_mut(ctx).scale = scale,
            (DrawAction::PenPressure(pressure), _) => self.drawing_shown_mut(ctx).press(pressure),
            (DrawAction::PenUp, canvas) => {
                self.drawing_shown_mut(ctx).end();
                self.put_eraser_away_if_empty(ctx);
                let waited = self.why.class.is_some() || canvas == Canvas::Several;
                if self.why.shown && waited || !self.can_inspect() {
                    self.recognize_again(ctx);
                }
            }
            (DrawAction::ChooseTool(tool), _) => {
                self.drawing_shown_mut(ctx).end();
                self.tool = tool;
                self.put_eraser_away_if_empty(ctx);
            }
            (DrawAction::Undo, canvas) => {
                if self.undo_image(ctx) {
                    return;
                }
                if canvas == Canvas::One {
                    mine.undo_just_kept(ctx, self);
                }
                self.drawing_shown_mut(ctx).undo();
                self.drawing_changed(ctx);
            }
            (DrawAction::Redo, _) => {
                if !self.redo_image(ctx) {
                    self.drawing_shown_mut(ctx).redo();
                    self.drawing_changed(ctx);
                }
            }
            (DrawAction::ClearDrawing, Canvas::One) => self.clear_drawing(ctx),
            (DrawAction::ClearDrawing, Canvas::Several) => {
                self.several.clear();
                self.drawing_changed(ctx);
            }
            (DrawAction::ClearDrawing, Canvas::Image) => self.clear_images(ctx),
            (DrawAction::RestoreDrawing(index), _) => {
                if let Some((ink, _)) = self.recent.remove(index) {
                    self.put_digit(ctx, &ink);
                }
            }
            (DrawAction::SetPen(pen), _) => {
                (self.one.pen, self.several.pen) = (pen, pen);
                self.drawing_changed(ctx);
            }
            (DrawAction::ChooseCanvas { several }, _) => self.choose_canvas(ctx, several),
            (DrawAction::ChooseDigit(index), _) => self.choose_digit(ctx, index),
            (DrawAction::ShowSteps(shown), _) => {
                ctx.settings.steps_shown = shown;
                if shown {
                    (self.why, self.nearest_shown) = (Why::default(), false);
                }
                self.recognize_again(ctx);
            }
            (DrawAction::ShowWhy(shown), _) => {
                self.why = Why { shown, class: None };
                ctx.settings.steps_shown &= !shown;
                self.nearest_shown &= !shown;
                self.recognize_again(ctx);
            }
            (DrawAction::ShowNearest(shown), _) => {
                self.nearest_shown = shown;
                if shown {
                    self.why = Why::default();
                    ctx.settings.steps_shown = false;
                }
                self.recognize_again(ctx);
            }
            (DrawAction::ShowMapsInTrain(shown), _) => {
                self.maps_in_train = shown;
                self.recognize_again(ctx);
            }
            (DrawAction::ExplainClass(class), _) => {
                self.why.class = class;
                self.recognize_again(ctx);
            }
            (DrawAction::ApplyChange, _) => self.apply_change(ctx),
            (DrawAction::SwitchStep { step, on }, _) => self.switch_step(ctx, step, on),
            (DrawAction::RestoreSteps, _) => self.restore_steps(ctx),
            (DrawAction::CopyImage, _) => {
                if let Some(image) = self.input_image(ctx) {
                    ctx.request(Request::CopyImage(Box::new(image)));
                }
            }
            (DrawAction::SaveImage, _) => {
                if let Some(image) = self.input_image(ctx) {
                    ctx.ask_for_new_file(
                        "Save the model's input",
                        "digit-28x28.png",
                        Purpose::Save(image.to_png()),
                    );
                }
            }
            (DrawAction::OpenInDraw, _) => {
                let endings = [&IMAGE_ENDINGS[..], &INK_ENDINGS].concat();
                ctx.ask_for_file(
                    "Open an image or a drawing",
                    "Images and drawings",
                    &endings,
                    Purpose::OpenInDraw,
                );
            }
            (DrawAction::PasteImage { size, pixels }, _) => ctx.paste_image(size, pixels),
            (DrawAction::UseModel(model), _) => ctx.use_model(model),
            (DrawAction::DrawWith(model), _) => {
                ctx.use_model(model);
                ctx.show(Screen::Draw);
            }
            (DrawAction::ChooseInferenceDevice(choice), _) => {
                ctx.settings.inference_device = choice;
                self.inference.gave_up = false;
                ctx.request(Request::UpdateInferenceDevice);
            }
            (DrawAction::SaveDrawing, _) => {
                if let Some(text) = self.drawing_shown(ctx).json() {
                    ctx.ask_for_new_file(
                        "Save the drawing",
                        "drawing.ink.json",
                        Purpose::Save(text.into_bytes()),
                    );
                }
            }
        }
    }

    /// Carries out the change that is shown; `Undo` takes it back.
    fn apply_change(&mut self, ctx: &mut Ctx) {
        let Some(strokes) = self.changed_strokes(ctx) else {
            return;
        };
        let canvas = self.canvas(ctx);
        let chosen = self.chosen(ctx);
        let drawing = self.drawing_shown_mut(ctx);
        // What lies beside the canvas would have all of it scaled to fit.
        let size = drawing.size();
        let on_canvas = |point: [f32; 2]| [0, 1].map(|axis| point[axis].clamp(0.0, size[axis]));
        let strokes = strokes
            .into_iter()
            .map(|stroke| stroke.into_iter().map(on_canvas).collect());
        let strokes = strokes.collect();
        let pen = Some(drawing.pen);
        drawing.put(&Ink { strokes, pen });
        self.drawing_changed(ctx);
        self.reading_mut(canvas).chosen = chosen;
    }

    /// The image that the model took as input, unless nothing is drawn.
    fn input_image(&self, ctx: &Ctx) -> Option<Image> {
        self.prediction_shown(ctx)
            .map(|prediction| prediction.image.clone())
    }
}
