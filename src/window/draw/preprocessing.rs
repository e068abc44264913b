//! "How Inkling sees it": the steps from the canvas to the image that the model takes as input,
//! which of them are left out for the moment, and what each of them gives.

use std::ops::Range;

use crate::ink::{Ink, Stage, Step, Steps, Writing};
use crate::window::Ctx;
use crate::window::Screen;
use crate::window::draw::Draw;

/// The steps of preprocessing, as the window shows them.
#[derive(Clone, Debug)]
pub struct Preprocessing {
    /// Those that are carried out in Draw; all of them at every start.
    steps: Steps,
    stages: Option<(ShownStages, Vec<Stage>)>,
    /// Differs after every change of the stages.
    version: u64,
    /// Those of an image are being made.
    pending: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ShownStages {
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
    /// where nothing is drawn, or nobody looks.
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

    /// The steps for what is on the canvas: only Draw shows that one is left out.
    pub(in crate::window) fn steps_in_use(&self, ctx: &Ctx) -> Steps {
        let steps = if ctx.screen == Screen::Draw && ctx.wizard.is_none() {
            self.preprocessing.steps
        } else {
            Steps::ALL
        };
        steps.on_page(self.drawing_shown(ctx).size())
    }

    pub(in crate::window) fn switch_step(&mut self, ctx: &mut Ctx, step: Step, on: bool) {
        self.preprocessing.steps = if on {
            self.preprocessing.steps.with(step)
        } else {
            self.preprocessing.steps.without(step)
        };
        self.steps_changed(ctx);
    }

    pub(in crate::window) fn restore_steps(&mut self, ctx: &mut Ctx) {
        self.preprocessing.steps = Steps::ALL;
        self.steps_changed(ctx);
    }

    /// Recognizes what is on the canvas again, with other steps.
    pub(in crate::window) fn steps_changed(&mut self, ctx: &mut Ctx) {
        if self.image_shown(ctx).is_some() && self.image_reading(ctx).is_none() {
            self.prepare_image(ctx);
        } else if !self.is_canvas_empty(ctx) {
            self.recognize_again(ctx);
        }
    }

    /// Follows what is on the canvas with the stages, while they are shown. Those of an image are
    /// made on another thread.
    pub(in crate::window) fn update_stages(&mut self, ctx: &mut Ctx) {
        if !ctx.settings.steps_shown || ctx.screen != Screen::Draw {
            self.preprocessing.stages = None;
            return;
        }
        let several = self.reads_several(ctx);
        // Which pieces are a digit is known when they were read.
        if several && self.number.readings.is_behind() {
            return;
        }
        let image = self.image_shown(ctx).is_some();
        let reading = self.image_reading(ctx).cloned();
        let content = match &reading {
            Some(reading) => Content::Image(reading.image),
            None if image => return,
            None => Content::Ink(self.drawing_shown(ctx).ink()),
        };
        let digit = self
            .number
            .chosen()
            .filter(|_| several)
            .and_then(|chosen| self.number.digits().get(chosen));
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
        match (&shown.content, reading) {
            (Content::Ink(ink), _) => {
                let stages = stages_of(
                    &Writing::of_ink_with(ink, &shown.steps),
                    shown.pieces.clone(),
                );
                self.set_stages(shown, stages);
            }
            (Content::Image(_), Some(reading))
                if !std::mem::replace(&mut self.preprocessing.pending, true) =>
            {
                ctx.background.run(
                    move || {
                        let own = stages_of(&reading.writing, shown.pieces.clone());
                        let stages = reading.stages.iter().cloned().chain(own).collect();
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
