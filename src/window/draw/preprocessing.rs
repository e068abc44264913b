//! "How Inkling sees it": the steps from the canvas to the image that the model takes as input,
//! which of them are left out for the moment, and what each of them gives.

use std::ops::Range;

use super::{Canvas, Draw, Drawing};
use crate::ink::{Ink, Stage, Step, Steps, Writing};
use crate::window::{Ctx, Screen};

/// The steps of preprocessing, as the window shows them.
#[derive(Clone, Debug)]
pub struct Preprocessing {
    /// Those that are carried out in Draw; all of them at every start.
    steps: Steps,
    stages: Option<(ShownStages, Vec<Stage>)>,
    /// Differs after every change of the stages.
    version: u64,
    /// The stages of an image are being made.
    pending: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct ShownStages {
    content: Content,
    /// The pieces of the writing that are one digit; `None` for all of it.
    pieces: Option<Range<usize>>,
    steps: Steps,
}

#[derive(Clone, Debug, PartialEq)]
enum Content {
    Ink(Ink),
    Image(u64),
}

impl Default for Preprocessing {
    fn default() -> Self {
        Self {
            steps: Steps::ALL,
            stages: None,
            version: 0,
            pending: false,
        }
    }
}

impl Draw {
    /// The steps that are carried out in Draw.
    pub const fn steps(&self) -> &Steps {
        &self.preprocessing.steps
    }

    /// What the steps give of what is on the canvas, or of the digit on it that was chosen; nothing
    /// if nothing is drawn, or nobody looks.
    pub fn stages(&self) -> &[Stage] {
        self.preprocessing
            .stages
            .as_ref()
            .map_or(&[], |(_, stages)| stages)
    }

    /// A number that differs after every change of the stages.
    pub const fn stages_version(&self) -> u64 {
        self.preprocessing.version
    }

    /// The steps for what is on the canvas that is shown.
    pub(in crate::window) fn steps_in_use(&self, ctx: &Ctx) -> Steps {
        self.steps_for(ctx, self.drawing_shown(ctx))
    }

    /// The steps for the canvas with this drawing: only Draw shows that one is left out.
    pub(super) fn steps_for(&self, ctx: &Ctx, drawing: &Drawing) -> Steps {
        let steps = if ctx.screen == Screen::Draw && ctx.wizard.is_none() {
            self.preprocessing.steps
        } else {
            Steps::ALL
        };
        steps.on_page(drawing.size())
    }

    pub(super) fn switch_step(&mut self, ctx: &mut Ctx, step: Step, on: bool) {
        self.preprocessing.steps = if on {
            self.preprocessing.steps.with(step)
        } else {
            self.preprocessing.steps.without(step)
        };
        self.recognize_again(ctx);
    }

    pub(super) fn restore_steps(&mut self, ctx: &mut Ctx) {
        self.preprocessing.steps = Steps::ALL;
        self.recognize_again(ctx);
    }

    /// Follows what is on the canvas with the stages, while they are shown. An image's stages are
    /// made on another thread.
    pub(in crate::window) fn update_stages(&mut self, ctx: &mut Ctx) {
        if !ctx.settings.steps_shown || ctx.screen != Screen::Draw {
            self.preprocessing.stages = None;
            return;
        }
        let canvas = self.canvas(ctx);
        // Which pieces are a digit is known when they were read.
        if canvas != Canvas::One && self.is_behind(ctx) {
            return;
        }
        let prepared = self.prepared_image(ctx).cloned();
        let content = match &prepared {
            Some(prepared) => Content::Image(prepared.image),
            None if canvas == Canvas::Image => return,
            None => Content::Ink(self.drawing_shown(ctx).ink()),
        };
        let digit = self
            .chosen(ctx)
            .and_then(|chosen| self.digits(ctx).get(chosen));
        let pieces = digit.map(|digit| digit.pieces.clone());
        let shown = ShownStages {
            content,
            pieces,
            steps: self.steps_in_use(ctx),
        };
        if self
            .preprocessing
            .stages
            .as_ref()
            .is_some_and(|(of, _)| *of == shown)
        {
            return;
        }
        let stages_of = |writing: &Writing, pieces: Option<Range<usize>>| {
            writing.stages(pieces.unwrap_or(0..writing.piece_count()))
        };
        match (&shown.content, prepared) {
            (Content::Ink(ink), _) => {
                let stages = stages_of(
                    &Writing::of_ink_with(ink, &shown.steps),
                    shown.pieces.clone(),
                );
                self.set_stages(shown, stages);
            }
            (Content::Image(_), Some(prepared))
                if !std::mem::replace(&mut self.preprocessing.pending, true) =>
            {
                ctx.background.run(
                    move || {
                        let own = stages_of(&prepared.writing, shown.pieces.clone());
                        let stages = prepared.stages.iter().cloned().chain(own).collect();
                        (shown, stages)
                    },
                    |app, (shown, stages)| {
                        app.draw.preprocessing.pending = false;
                        app.draw.set_stages(shown, stages);
                    },
                );
            }
            // They are made of the newest when that has come to its end.
            (Content::Image(_), _) => {}
        }
    }

    fn set_stages(&mut self, shown: ShownStages, stages: Vec<Stage>) {
        self.preprocessing.stages = Some((shown, stages));
        self.preprocessing.version += 1;
    }
}
