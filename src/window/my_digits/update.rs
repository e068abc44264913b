//! What a person can do there, and what each action does.

use crate::data::my_digits::KeptDrawing;
use crate::run_config::SetFormat;
use crate::window::{App, Screen};

/// What a person can do on this screen and with what it shows elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum MyDigitsAction {
    /// Keep the drawing on the canvas with this digit; `None` for the digit that is asked for, or
    /// that the model named.
    Keep(Option<u8>),
    /// Keep the recent drawing with this index, with this digit.
    KeepRecent(usize, u8),
    Relabel(Box<KeptDrawing>, u8),
    DeleteKept(Box<KeptDrawing>),
    /// Put a kept drawing on the canvas.
    DrawKept(Box<KeptDrawing>),
    /// Take the last change of the kept drawings back.
    UndoKept,
    /// Make the change of the kept drawings again that was taken back last.
    RedoKept,
    /// Import an ink file chosen in a dialog into the kept drawings.
    ImportInk,
    /// Export the kept drawings to a file or folder chosen in a dialog.
    ExportMyDigits(SetFormat),
    /// Start the guided collection of drawings: each digit this many times.
    Collect(usize),
    /// Skip the digit that it asks for.
    SkipDigit,
    /// Let it ask for the digit before again.
    PreviousDigit,
    StopCollecting,
    /// Fine-tune the model in use on the kept drawings.
    FineTune,
    /// Go back to the model that was in use before it was fine-tuned.
    UndoFineTune,
}

impl App {
    pub(in crate::window) fn update_my_digits(&mut self, action: MyDigitsAction) {
        match action {
            MyDigitsAction::Keep(digit) => self.keep(digit),
            MyDigitsAction::KeepRecent(index, digit) => self.keep_recent(index, digit),
            MyDigitsAction::Relabel(drawing, digit) => {
                self.my_digits.relabel(&mut self.ctx, *drawing, digit);
            }
            MyDigitsAction::DeleteKept(drawing) => {
                self.my_digits.delete_kept(&mut self.ctx, *drawing);
            }
            MyDigitsAction::DrawKept(drawing) => {
                self.draw.put_digit(&mut self.ctx, &drawing.ink);
                self.ctx.show(Screen::Draw);
            }
            MyDigitsAction::UndoKept => {
                if !self.undo_just_kept() {
                    self.my_digits.undo_kept(&mut self.ctx);
                } else if self.ctx.screen == Screen::Draw {
                    self.draw.one.drawing.undo();
                    self.draw.drawing_changed(&mut self.ctx);
                }
            }
            MyDigitsAction::RedoKept => self.my_digits.redo_kept(&mut self.ctx),
            MyDigitsAction::ImportInk => self.ctx.choose_ink_to_import(),
            MyDigitsAction::ExportMyDigits(format) => self.ctx.choose_set_file(format),
            MyDigitsAction::Collect(rounds) => self.draw.start_collection(&mut self.ctx, rounds),
            MyDigitsAction::SkipDigit => self.draw.skip_digit(&mut self.ctx),
            MyDigitsAction::PreviousDigit => self.previous_digit(),
            MyDigitsAction::StopCollecting => self.ctx.stop_collection(),
            MyDigitsAction::FineTune => self.my_digits.fine_tune(&mut self.ctx),
            MyDigitsAction::UndoFineTune => self.my_digits.undo_fine_tune(&mut self.ctx),
        }
    }
}
