//! The drawings that the person keeps: what is known of them, what the model in use makes of them,
//! and changes of their file, which can be undone.

mod keeping;
mod update;
#[cfg(feature = "gui")]
pub mod view;

use std::collections::{BTreeMap, VecDeque};

pub use keeping::Collection;
pub use update::MyDigitsAction;
pub use update::{FineTuneResult, NOT_TRAINABLE};

use super::notice::{Offer, Severity};
use crate::data::MyDigits;
use crate::data::my_digits::{Edit, KeptDrawing, KeptDrawings};
use crate::ink::{Image, rasterize};
use crate::problem::{Message, Problem};
use crate::protocol::{Command, Question};
use crate::records::DrawingAnswer;
use crate::window::{App, Ctx, Screen};

/// The digits that drawings are kept of.
pub const DIGITS: usize = 10;
/// Changes that can be undone.
const UNDONE: usize = 200;
/// Drawings in one request: recognized in a few hundredths of a second.
const AT_ONCE: usize = 40;

/// A drawing that is kept, as the window shows it.
#[derive(Clone, Debug)]
pub struct MyDrawing {
    pub kept: KeptDrawing,
    pub image: Image,
}

impl MyDrawing {
    /// A drawing that Draw would call "not a digit" is not recognized, whatever digit it is closest
    /// to.
    fn is_recognized(&self, answer: DrawingAnswer) -> bool {
        answer.is_digit && answer.digit == self.kept.digit
    }
}

#[derive(Clone, Debug)]
enum FileStep {
    Read,
    /// Make a change that can be undone.
    Change(Edit),
    Undo(Edit),
}

#[derive(Debug, Default)]
pub struct MyDigitsView {
    /// In the order of the file.
    drawings: Option<Vec<MyDrawing>>,
    /// Lines of the file that hold no drawing of a digit.
    unreadable: usize,
    /// Differs after every change of the drawings.
    version: u64,
    /// Tasks on the file; the first is in progress.
    steps: VecDeque<FileStep>,
    /// Changes that can be undone, the last one at the end.
    undo: Vec<Edit>,
    /// Changes that were undone, the last one at the end.
    redo: Vec<Edit>,
    /// The digit of the drawing that was kept last, until something else is drawn.
    pub(in crate::window) just_kept: Option<u8>,
    /// The prediction of the model in use for each, by its line.
    answers: BTreeMap<Vec<u8>, DrawingAnswer>,
    /// The request in flight, and the lines that it asks about.
    asked: Option<(u64, Vec<Vec<u8>>)>,
    pub fine_tuned: Option<FineTuneResult>,
}

impl MyDigitsView {
    /// The drawings, in the order of the file; none before it was read.
    pub fn drawings(&self) -> &[MyDrawing] {
        self.drawings.as_deref().unwrap_or_default()
    }

    /// Differs after every change of the drawings.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// True once the file was read.
    pub const fn is_loaded(&self) -> bool {
        self.drawings.is_some()
    }

    fn by_digit(&self) -> [Vec<&MyDrawing>; DIGITS] {
        std::array::from_fn(|digit| {
            let drawings = self.drawings().iter();
            drawings
                .filter(|drawing| usize::from(drawing.kept.digit) == digit)
                .collect()
        })
    }

    /// The digits of which there is no drawing.
    pub fn missing(&self) -> Vec<u8> {
        let by_digit = self.by_digit();
        (0..)
            .zip(by_digit)
            .filter(|(_, drawings)| drawings.is_empty())
            .map(|(digit, _)| digit)
            .collect()
    }

    /// True if a change was undone, and no other was made since.
    pub fn can_redo(&self) -> bool {
        !self.redo.is_empty()
    }

    /// The prediction of the model in use for a drawing, once it is known.
    fn answer(&self, drawing: &MyDrawing) -> Option<DrawingAnswer> {
        self.answers.get(drawing.kept.line()).copied()
    }

    /// True if the model in use takes a drawing for another digit, or for none.
    pub fn is_wrong(&self, drawing: &MyDrawing) -> bool {
        self.answer(drawing)
            .is_some_and(|answer| !drawing.is_recognized(answer))
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
    pub fn correct<'d>(&self, mut drawings: impl Iterator<Item = &'d MyDrawing>) -> Option<usize> {
        drawings.try_fold(0, |correct, drawing| {
            Some(correct + usize::from(drawing.is_recognized(self.answer(drawing)?)))
        })
    }

    /// Another model is in use, or its weights have changed.
    pub(in crate::window) fn forget_answers(&mut self) {
        self.answers.clear();
        self.forget_request();
    }

    /// A request will not be answered: the engine was replaced.
    pub(in crate::window) fn forget_request(&mut self) {
        self.asked = None;
    }

    /// A request that failed stays asked: asked again immediately, it would fail again.
    pub(in crate::window) fn on_answers(&mut self, request: u64, answers: Vec<DrawingAnswer>) {
        if let Some((_, lines)) = self.asked.take_if(|(asked, _)| *asked == request) {
            self.answers.extend(lines.into_iter().zip(answers));
        }
    }

    pub(in crate::window) fn load_my_digits(&mut self, ctx: &Ctx) {
        self.do_step(ctx, FileStep::Read);
    }

    /// Changes the file, after the changes that wait.
    fn change(&mut self, ctx: &mut Ctx, remove: Vec<KeptDrawing>, add: Vec<KeptDrawing>) {
        if !remove.is_empty() || !add.is_empty() {
            self.just_kept = None;
            self.redo.clear();
            self.make(ctx, Edit { remove, add });
        }
    }

    /// Makes a change that can be undone.
    fn make(&mut self, ctx: &mut Ctx, edit: Edit) {
        ctx.withdraw_offer(MyDigitsAction::RedoKept);
        self.undo.push(edit.clone());
        if self.undo.len() > UNDONE {
            self.undo.remove(0);
        }
        self.do_step(ctx, FileStep::Change(edit));
    }

    /// Undoes the last change of the kept drawings; My digits shows what that was.
    fn undo_kept(&mut self, ctx: &mut Ctx) {
        let Some(edit) = self.undo.pop() else {
            return;
        };
        ctx.withdraw_offer(MyDigitsAction::RedoKept);
        self.redo.push(edit.clone());
        if ctx.screen == Screen::MyDigits {
            let offer = Offer {
                label: "Redo",
                action: MyDigitsAction::RedoKept.into(),
            };
            ctx.show_notice_with(Severity::Info, Message::undone(&edit), Some(offer));
        }
        self.do_step(ctx, FileStep::Undo(edit.inverse()));
    }

    /// Redoes the change that was undone last.
    fn redo_kept(&mut self, ctx: &mut Ctx) {
        if let Some(edit) = self.redo.pop() {
            self.make(ctx, edit);
        }
    }

    fn do_step(&mut self, ctx: &Ctx, step: FileStep) {
        self.steps.push_back(step);
        if self.steps.len() == 1 {
            self.begin_step(ctx);
        }
    }

    fn begin_step(&self, ctx: &Ctx) {
        let Some(step) = self.steps.front().cloned() else {
            return;
        };
        let folders = ctx.deps.paths.data.clone();
        let work = move || -> Result<(Vec<MyDrawing>, usize), Problem> {
            let file = MyDigits::in_folders(&folders);
            let KeptDrawings {
                drawings,
                unreadable,
                ..
            } = match &step {
                FileStep::Read => file.read()?,
                FileStep::Change(edit) | FileStep::Undo(edit) => file.change(edit)?,
            };
            let shown = |kept: KeptDrawing| MyDrawing {
                image: rasterize(&kept.ink),
                kept,
            };
            Ok((drawings.into_iter().map(shown).collect(), unreadable))
        };
        ctx.background.run(work, |app, found| {
            app.my_digits.step_done(&mut app.ctx, found);
        });
    }

    fn step_done(&mut self, ctx: &mut Ctx, found: Result<(Vec<MyDrawing>, usize), Problem>) {
        let step = self.steps.pop_front();
        match found {
            Ok((drawings, unreadable)) => {
                let before = std::mem::replace(&mut self.unreadable, unreadable);
                self.drawings = Some(drawings);
                self.version += 1;
                if unreadable > before {
                    ctx.show_notice(Severity::Info, Message::drawings_unreadable(unreadable));
                }
            }
            Err(problem) => {
                self.step_failed(step, ctx.collection.as_mut());
                ctx.show_problem(&problem);
            }
        }
        self.begin_step(ctx);
    }

    /// The file is as it was: what was not changed is not undone, and what was not undone
    /// can still be.
    fn step_failed(&mut self, step: Option<FileStep>, collection: Option<&mut Collection>) {
        match step {
            None | Some(FileStep::Read) => {}
            Some(FileStep::Change(edit)) => {
                if let Some(place) = self.undo.iter().rposition(|other| *other == edit) {
                    self.undo.remove(place);
                }
                // The canvas's own history brings the drawing back, and the collection asks for it
                // again.
                self.just_kept = None;
                if let Some(collection) = collection.filter(|_| edit.remove.is_empty()) {
                    collection.go_back();
                }
            }
            Some(FileStep::Undo(edit)) => {
                let edit = edit.inverse();
                self.redo.retain(|other| *other != edit);
                self.undo.push(edit);
            }
        }
    }
}

impl App {
    /// Asks what the model in use makes of the drawings, a few at a time, while they are shown.
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
