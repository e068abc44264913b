//! What a person can do there, and what each action does.

use std::sync::Arc;

use crate::ink::{IMAGE_ENDINGS, Step};
use crate::records::ModelRef;
use crate::run_config::InferenceChoice;
use crate::window::desktop::Purpose;
use crate::window::draw::{Canvas, Tool};
use crate::window::{App, Screen};

/// How ink files end that can be opened in Draw, besides images.
const INK_ENDINGS: [&str; 5] = ["json", "jsonl", "ndjson", "gz", "ink"];

/// What a person can do on this screen and with what it shows elsewhere.
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

impl App {
    pub(in crate::window) fn update_draw(&mut self, action: DrawAction) {
        let (draw, ctx) = (&mut self.draw, &mut self.ctx);
        match (action, draw.canvas(ctx)) {
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
                    self.my_digits.just_kept = None;
                }
                draw.forget_closed_images();
                draw.drawing_shown_mut(ctx).begin(point);
                draw.drawing_changed(ctx);
            }
            (DrawAction::EraserDown(point), _) => {
                draw.forget_closed_images();
                if draw.drawing_shown_mut(ctx).begin_erasing(point) {
                    draw.drawing_changed(ctx);
                }
            }
            (DrawAction::PenMove(point), _) => {
                if draw.drawing_shown_mut(ctx).extend(point) {
                    draw.drawing_changed(ctx);
                }
            }
            (DrawAction::PenScale(scale), _) => draw.drawing_shown_mut(ctx).scale = scale,
            (DrawAction::PenPressure(pressure), _) => draw.drawing_shown_mut(ctx).press(pressure),
            (DrawAction::PenUp, _) => {
                draw.drawing_shown_mut(ctx).end();
                draw.put_eraser_away_if_empty(ctx);
            }
            (DrawAction::ChooseTool(tool), _) => {
                draw.drawing_shown_mut(ctx).end();
                draw.tool = tool;
                draw.put_eraser_away_if_empty(ctx);
            }
            (DrawAction::Undo, canvas) => {
                if draw.undo_image(ctx) {
                    return;
                }
                if canvas == Canvas::One {
                    self.undo_just_kept();
                }
                self.draw.drawing_shown_mut(&self.ctx).undo();
                self.draw.drawing_changed(&mut self.ctx);
            }
            (DrawAction::Redo, _) => {
                if !draw.redo_image(ctx) {
                    draw.drawing_shown_mut(ctx).redo();
                    draw.drawing_changed(ctx);
                }
            }
            (DrawAction::ClearDrawing, Canvas::One) => draw.clear_drawing(ctx),
            (DrawAction::ClearDrawing, Canvas::Several) => {
                draw.several.clear();
                draw.drawing_changed(ctx);
            }
            (DrawAction::ClearDrawing, Canvas::Image) => draw.clear_images(ctx),
            (DrawAction::RestoreDrawing(index), _) => {
                if let Some((ink, _)) = draw.recent.remove(index) {
                    draw.put_digit(ctx, &ink);
                }
            }
            (DrawAction::SetPen(pen), _) => {
                (draw.one.pen, draw.several.pen) = (pen, pen);
                draw.drawing_changed(ctx);
            }
            (DrawAction::ChooseCanvas { several }, _) => draw.choose_canvas(ctx, several),
            (DrawAction::ChooseDigit(index), _) => draw.choose_digit(ctx, index),
            (DrawAction::ShowSteps(shown), _) => ctx.settings.steps_shown = shown,
            (DrawAction::SwitchStep { step, on }, _) => draw.switch_step(ctx, step, on),
            (DrawAction::RestoreSteps, _) => draw.restore_steps(ctx),
            (DrawAction::CopyImage, _) => self.copy_image(),
            (DrawAction::SaveImage, _) => draw.save_image(ctx),
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
            (DrawAction::ChooseInferenceDevice(choice), _) => self.choose_inference_device(choice),
            (DrawAction::SaveDrawing, _) => {
                if let Some(text) = draw.drawing_shown(ctx).json() {
                    ctx.ask_for_new_file(
                        "Save the drawing",
                        "drawing.ink.json",
                        Purpose::Save(text.into_bytes()),
                    );
                }
            }
        }
    }
}
