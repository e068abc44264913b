//! The actions of the screen, and their effects.

use std::path::PathBuf;

use super::{Collection, MyDigitsView};
use crate::data::my_digits::{KeptDrawing, labeled_drawings};
use crate::data::{Dataset, MyDigits, export_drawings, export_set};
use crate::problem::{Message, Problem};
use crate::progress::Unwatched;
use crate::protocol::{Job, JobResult};
use crate::records::{FineTuned, ModelInfo, ModelRef};
use crate::run_config::DatasetFormat;
use crate::window::desktop::Purpose;
use crate::window::draw::Draw;
use crate::window::{Activity, Ctx, JobOutcome, Offer, RunningJob, Screen, Severity};

/// Actions on this screen and on its parts elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub enum MyDigitsAction {
    /// Keep the drawing on the canvas with this digit; `None` for the digit that is asked for, or
    /// that the model named.
    Keep(Option<u8>),
    /// Keep the recent drawing with this index, with this digit.
    KeepRecent(usize, u8),
    Relabel(Box<KeptDrawing>, u8),
    DeleteKept(Box<KeptDrawing>),
    DrawKept(Box<KeptDrawing>),
    /// Take the last change of the kept drawings back.
    UndoKept,
    /// Redo the change of the kept drawings that was undone last.
    RedoKept,
    /// Import an ink file chosen in a dialog into the kept drawings.
    ImportInk,
    /// Export the kept drawings to a file or folder chosen in a dialog.
    ExportMyDigits(DatasetFormat),
    /// Start the guided collection of drawings: each digit several times.
    Collect,
    SkipDigit,
    /// Let it ask for the digit before again.
    PreviousDigit,
    StopCollecting,
    /// Fine-tune the model in use on the kept drawings.
    FineTune,
    /// Go back to the model that was in use before it was fine-tuned.
    UndoFineTune,
}

impl MyDigitsView {
    pub fn update(&mut self, ctx: &mut Ctx, draw: &mut Draw, action: MyDigitsAction) {
        match action {
            MyDigitsAction::Keep(digit) => self.keep(ctx, draw, digit),
            MyDigitsAction::KeepRecent(index, digit) => {
                let recent = draw.recent.get(index);
                let kept = recent.and_then(|(ink, _)| KeptDrawing::new(ink, digit));
                self.change(ctx, Vec::new(), kept.into_iter().collect());
            }
            MyDigitsAction::Relabel(drawing, digit) => self.relabel(ctx, *drawing, digit),
            MyDigitsAction::DeleteKept(drawing) => self.change(ctx, vec![*drawing], Vec::new()),
            MyDigitsAction::DrawKept(drawing) => {
                draw.put_digit(ctx, &drawing.ink);
                ctx.show(Screen::Draw);
            }
            MyDigitsAction::UndoKept => {
                if !self.undo_just_kept(ctx, draw) {
                    self.undo_kept(ctx);
                } else if ctx.screen == Screen::Draw {
                    draw.one.undo();
                    draw.drawing_changed(ctx);
                }
            }
            MyDigitsAction::RedoKept => self.redo_kept(ctx),
            MyDigitsAction::ImportInk => {
                let endings = ["jsonl", "json", "ndjson", "ink", "gz"];
                ctx.ask_for_file(
                    "Import drawings",
                    "Ink files with labels",
                    &endings,
                    Purpose::ImportInk,
                );
            }
            MyDigitsAction::ExportMyDigits(format) => {
                let name = if format == DatasetFormat::Ink {
                    "my-digits.jsonl"
                } else {
                    "my-digits"
                };
                ctx.ask_for_new_file("Export my digits", name, Purpose::ExportMyDigits(format));
            }
            MyDigitsAction::Collect => {
                draw.clear_drawing(ctx);
                ctx.collection = Some(Collection::default());
                ctx.show(Screen::Draw);
            }
            MyDigitsAction::SkipDigit => {
                draw.clear_drawing(ctx);
                ctx.collected(false);
            }
            MyDigitsAction::PreviousDigit => {
                draw.clear_drawing(ctx);
                let was_kept = ctx.collection.as_mut().is_some_and(Collection::go_back);
                if was_kept {
                    self.undo_kept(ctx);
                }
            }
            MyDigitsAction::StopCollecting => ctx.stop_collection(),
            MyDigitsAction::FineTune => self.fine_tune(ctx),
            MyDigitsAction::UndoFineTune => self.undo_fine_tune(ctx),
        }
    }
}

impl Ctx {
    pub(in crate::window) fn import_ink(&self, file: PathBuf) {
        self.background.run(
            move || labeled_drawings(&file),
            |app, drawings| {
                if let Some(drawings) = app.ctx.tell_failure(drawings) {
                    app.my_digits.add_imported(&mut app.ctx, drawings);
                }
            },
        );
    }

    /// Writes the drawings there. A file was chosen to be replaced; of folders, only empty ones
    /// are.
    pub(in crate::window) fn export_my_digits(&self, to: PathBuf, format: DatasetFormat) {
        let data = self.deps.paths.data.clone();
        let write = move || -> Result<PathBuf, Problem> {
            let file = MyDigits::in_folders(&data);
            let sources = [file.path()];
            if format == DatasetFormat::Ink {
                export_drawings(&file.read()?.drawings, &to, true, &sources)?;
            } else {
                let set = Dataset::of_digits(file.split()?);
                export_set(&set, format, &to, false, &sources, &mut Unwatched)?;
            }
            Ok(to)
        };
        self.background
            .run(write, |app, written| app.ctx.tell_written(written));
    }
}

impl MyDigitsView {
    /// Adds drawings, but none twice.
    fn add_imported(&mut self, ctx: &mut Ctx, mut drawings: Vec<KeptDrawing>) {
        let found = drawings.len();
        drawings.retain(|drawing| {
            let mut known = self.drawings().iter();
            known.all(|known| known.kept.line() != drawing.line())
        });
        ctx.show_notice(Severity::Info, Message::ink_imported(drawings.len(), found));
        self.change(ctx, Vec::new(), drawings);
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct FineTuneResult {
    pub tuned: FineTuned,
    pub before: ModelRef,
}

/// Why the network of an imported ONNX file cannot be fine-tuned.
pub const NOT_TRAINABLE: &str = "The network of an ONNX file cannot be trained";

impl MyDigitsView {
    /// Takes the model over if it has become better.
    pub fn job_ended(
        &mut self,
        ctx: &mut Ctx,
        ended: RunningJob,
        outcome: JobOutcome,
    ) -> Option<Problem> {
        let (before, tuned) = match (ended.job, outcome) {
            (Job::FineTune(before), Ok(JobResult::FineTune(tuned))) => (before, tuned),
            (_, outcome) => return outcome.err()?.problem(),
        };
        let saved = tuned
            .saved
            .as_ref()
            .map(|summary| summary.model_path.clone());
        // My digits shows it itself.
        if ctx.screen != Screen::MyDigits {
            let offer = saved.is_some().then_some(Offer {
                label: "Use the previous model",
                action: MyDigitsAction::UndoFineTune.into(),
            });
            ctx.show_notice_with(Severity::Info, Message::fine_tuned(&tuned), offer);
        }
        self.fine_tuned = Some(FineTuneResult { tuned, before });
        if let Some(path) = saved {
            ctx.use_model(ModelRef::File(path));
            ctx.list_finished();
        }
        None
    }

    /// Why the model in use cannot be fine-tuned now, if it cannot.
    pub fn why_not_fine_tune(&self, ctx: &Ctx) -> Option<&'static str> {
        if self.drawings().is_empty() {
            return Some("Keep some drawings first");
        }
        if ctx.is_training() {
            return Some("Unavailable while training is in progress");
        }
        match &ctx.model_in_use {
            Some(ModelInfo {
                reference: ModelRef::Starter | ModelRef::File(_),
                network,
                ..
            }) => (!network.model().is_trainable()).then_some(NOT_TRAINABLE),
            _ => Some("Choose a saved model in Draw first"),
        }
    }

    pub fn fine_tune(&mut self, ctx: &mut Ctx) {
        if self.why_not_fine_tune(ctx).is_some() || ctx.jobs.doing(Activity::FineTuning).is_some() {
            return;
        }
        if let Some(model) = &ctx.model_in_use {
            let model = model.reference.clone();
            self.fine_tuned = None;
            ctx.submit(Job::FineTune(model));
        }
    }

    /// True while the fine-tuned model is in use.
    pub fn can_undo_fine_tune(&self, ctx: &Ctx) -> bool {
        let result = self.fine_tuned.as_ref();
        let saved = result.and_then(|result| result.tuned.saved.as_ref());
        saved.is_some_and(|saved| ctx.is_in_use(&ModelRef::File(saved.model_path.clone())))
    }

    /// Goes back to the model that was in use before; the fine-tuned one stays among the saved
    /// models.
    pub fn undo_fine_tune(&mut self, ctx: &mut Ctx) {
        if let Some(FineTuneResult { before, .. }) = self.fine_tuned.take() {
            ctx.withdraw_offer(MyDigitsAction::UndoFineTune);
            ctx.use_model(before);
        }
    }

    /// My digits shows the result: no notice is needed there.
    pub fn withdraw_fine_tuned(&mut self, ctx: &mut Ctx) {
        if let Some(result) = &self.fine_tuned {
            let said = Message::fine_tuned(&result.tuned);
            ctx.notices.retain(|notice| notice.message != said);
        }
    }
}
