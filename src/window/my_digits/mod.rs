//! The drawings that the person keeps: what the window knows of them, and what is done with them.

mod answers;
mod collection;
mod fine_tune;
mod keeping;
mod transfer;
mod undo;
mod update;
pub mod view;

use std::collections::{BTreeMap, VecDeque};

use super::notice::Severity;
use crate::data::MyDigits;
use crate::data::my_digits::{Edit, Kept, KeptDrawing};
use crate::ink::{Image, rasterize};
use crate::problem::{Message, Problem};
use crate::records::DrawingAnswer;

use crate::window::Ctx;
pub use collection::Collection;
pub use fine_tune::{FineTuneResult, NOT_TRAINABLE};
pub use update::MyDigitsAction;

/// The digits that drawings are kept of.
pub const DIGITS: usize = 10;

/// A drawing that is kept, as the window shows it.
#[derive(Clone, Debug)]
pub struct MyDrawing {
    pub kept: KeptDrawing,
    pub image: Image,
}

#[derive(Clone, Debug)]
pub enum FileStep {
    Read,
    /// Make a change that can be taken back.
    Change(Edit),
    Undo(Edit),
}

/// What the file holds, as it was read.
#[derive(Debug)]
pub struct Loaded {
    drawings: Vec<MyDrawing>,
    unreadable: usize,
}

#[derive(Debug, Default)]
pub struct MyDigitsView {
    drawings: Option<Vec<MyDrawing>>,
    /// Lines of the file that hold no drawing of a digit.
    pub unreadable: usize,
    version: u64,
    waiting: VecDeque<FileStep>,
    in_progress: bool,
    /// Changes that can be taken back, the last one at the end.
    undo: Vec<Edit>,
    /// Changes that were taken back, the last one at the end.
    redo: Vec<Edit>,
    /// The digit of the drawing that was kept last, until something else is drawn.
    just_kept: Option<u8>,
    /// What the model in use makes of each, by its line.
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

    /// True once the file was read.
    pub const fn is_loaded(&self) -> bool {
        self.drawings.is_some()
    }

    /// A number that differs after every change of the drawings.
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The places of the drawings of each digit.
    pub fn by_digit(&self) -> [Vec<usize>; DIGITS] {
        let mut places: [Vec<usize>; DIGITS] = Default::default();
        for (place, drawing) in self.drawings().iter().enumerate() {
            if let Some(places) = places.get_mut(usize::from(drawing.kept.digit)) {
                places.push(place);
            }
        }
        places
    }

    /// The digits of which there is no drawing.
    pub fn missing(&self) -> Vec<u8> {
        (0..DIGITS as u8)
            .filter(|digit| {
                self.drawings()
                    .iter()
                    .all(|drawing| drawing.kept.digit != *digit)
            })
            .collect()
    }
}

impl MyDigitsView {
    pub(super) fn load_my_digits(&mut self, ctx: &mut Ctx) {
        self.my_digits_step(ctx, FileStep::Read);
    }

    /// Makes a change to it, after those that wait.
    fn change_my_digits(&mut self, ctx: &mut Ctx, edit: Edit) {
        if edit != Edit::default() {
            ctx.withdraw_redo();
            let view = &mut *self;
            view.just_kept = None;
            view.redo.clear();
            view.remember(edit.clone());
            self.my_digits_step(ctx, FileStep::Change(edit));
        }
    }

    fn my_digits_step(&mut self, ctx: &mut Ctx, step: FileStep) {
        self.waiting.push_back(step);
        self.next_my_digits_step(ctx);
    }

    fn next_my_digits_step(&mut self, ctx: &mut Ctx) {
        if self.in_progress {
            return;
        }
        let Some(step) = self.waiting.pop_front() else {
            return;
        };
        self.in_progress = true;
        let folders = ctx.deps.paths.data.clone();
        ctx.background.run(
            move || {
                let file = MyDigits::in_folders(&folders);
                let kept = match &step {
                    FileStep::Read => file.read().map_err(Problem::from),
                    FileStep::Change(edit) | FileStep::Undo(edit) => file.change(edit),
                };
                (step, kept.map(Loaded::of))
            },
            |app, (step, loaded)| app.my_digits.on_my_digits(&mut app.ctx, step, loaded),
        );
    }

    pub(super) fn on_my_digits(
        &mut self,
        ctx: &mut Ctx,
        step: FileStep,
        loaded: Result<Loaded, Problem>,
    ) {
        let view = &mut *self;
        view.in_progress = false;
        match loaded {
            Ok(Loaded {
                drawings,
                unreadable,
            }) => {
                let news = unreadable > view.unreadable;
                (view.drawings, view.unreadable) = (Some(drawings), unreadable);
                view.version += 1;
                if news {
                    ctx.show_notice(Severity::Info, Message::drawings_unreadable(unreadable));
                }
            }
            Err(problem) => {
                view.step_failed(step, ctx.collection.as_mut());
                ctx.show_problem(&problem);
            }
        }
        self.next_my_digits_step(ctx);
    }
}

impl Loaded {
    fn of(kept: Kept) -> Self {
        let drawing = |kept: KeptDrawing| MyDrawing {
            image: rasterize(&kept.ink),
            kept,
        };
        Self {
            drawings: kept.drawings.into_iter().map(drawing).collect(),
            unreadable: kept.unreadable,
        }
    }
}
