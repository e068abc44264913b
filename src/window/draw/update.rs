//! What a person can do there, and what each action does.

use std::sync::Arc;

use crate::ink::{IMAGE_ENDINGS, Step};
use crate::records::ModelRef;
use crate::run_config::InferenceChoice;
use crate::window::desktop::Purpose;
use crate::window::draw::Tool;
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
        match action {
            DrawAction::PenDown(point) => {
                if !self.ctx.draws_several() {
                    self.my_digits.drawing_begins();
                }
                self.draw.drawing_shown_mut(&mut self.ctx).begin(point);
                self.draw.drawing_changed(&mut self.ctx);
            }
            DrawAction::PenScale(scale) => self.draw.drawing_shown_mut(&mut self.ctx).scale = scale,
            DrawAction::ChooseTool(tool) => {
                self.draw.drawing_shown_mut(&mut self.ctx).end();
                self.draw.tool = tool;
                self.draw.put_eraser_away_if_empty(&mut self.ctx);
            }
            DrawAction::EraserDown(point) => {
                if self
                    .draw
                    .drawing_shown_mut(&mut self.ctx)
                    .begin_erasing(point)
                {
                    self.draw.drawing_changed(&mut self.ctx);
                }
            }
            DrawAction::PenPressure(pressure) => {
                self.draw.drawing_shown_mut(&mut self.ctx).press(pressure);
            }
            DrawAction::PenMove(point) => {
                if self.draw.drawing_shown_mut(&mut self.ctx).extend(point) {
                    self.draw.drawing_changed(&mut self.ctx);
                }
            }
            DrawAction::PenUp => {
                self.draw.drawing_shown_mut(&mut self.ctx).end();
                self.draw.put_eraser_away_if_empty(&mut self.ctx);
            }
            DrawAction::Undo => {
                if !self.ctx.draws_several() {
                    self.undo_just_kept();
                }
                self.draw.drawing_shown_mut(&mut self.ctx).undo();
                self.draw.drawing_changed(&mut self.ctx);
            }
            DrawAction::Redo => {
                self.draw.drawing_shown_mut(&mut self.ctx).redo();
                self.draw.drawing_changed(&mut self.ctx);
            }
            DrawAction::ClearDrawing if self.ctx.draws_several() => {
                self.draw.number.drawing.clear();
                self.draw.drawing_changed(&mut self.ctx);
            }
            DrawAction::ClearDrawing => self.draw.clear_drawing(&mut self.ctx),
            DrawAction::RestoreDrawing(index) => self.draw.restore_drawing(&mut self.ctx, index),
            DrawAction::SetPen(pen) => {
                (self.draw.drawing.pen, self.draw.number.drawing.pen) = (pen, pen);
                self.draw.drawing_changed(&mut self.ctx);
            }
            DrawAction::ChooseCanvas { several } => self.draw.choose_canvas(&mut self.ctx, several),
            DrawAction::ChooseDigit(index) => self.draw.choose_digit(index),
            DrawAction::ShowSteps(shown) => self.ctx.settings.steps_shown = shown,
            DrawAction::SwitchStep { step, on } => self.draw.switch_step(&mut self.ctx, step, on),
            DrawAction::RestoreSteps => self.draw.restore_steps(&mut self.ctx),
            DrawAction::CopyImage => self.copy_image(),
            DrawAction::SaveImage => self.draw.save_image(&mut self.ctx),
            DrawAction::OpenInDraw => {
                let endings = [&IMAGE_ENDINGS[..], &INK_ENDINGS].concat();
                self.ctx.ask_for_file(
                    "Open an image or a drawing",
                    "Images and drawings",
                    &endings,
                    Purpose::OpenInDraw,
                );
            }
            DrawAction::PasteImage { size, pixels } => self.ctx.paste_image(size, pixels),
            DrawAction::UseModel(model) => self.ctx.use_model(model),
            DrawAction::DrawWith(model) => {
                self.ctx.use_model(model);
                self.ctx.show(Screen::Draw);
            }
            DrawAction::ChooseInferenceDevice(choice) => self.choose_inference_device(choice),
            DrawAction::SaveDrawing => {
                if let Some(text) = self.draw.drawing_shown(&self.ctx).json() {
                    self.ctx.ask_for_new_file(
                        "Save the drawing",
                        "drawing.ink.json",
                        Purpose::Save(text.into_bytes()),
                    );
                }
            }
        }
    }
}
