//! Fine-tuning the model in use on the drawings.

use crate::problem::{Message, Problem};
use crate::protocol::{Job, JobResult};
use crate::records::{FineTuned, ModelInfo, ModelRef};
use crate::window::{
    Activity, Ctx, JobOutcome, MyDigitsAction, MyDigitsView, Offer, RunningJob, Screen, Severity,
};

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
        // My digits says it itself.
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

    /// My digits says what came of it: a notice that says the same is not needed there.
    pub fn withdraw_fine_tuned(&mut self, ctx: &mut Ctx) {
        if let Some(result) = &self.fine_tuned {
            let said = Message::fine_tuned(&result.tuned);
            ctx.notices.retain(|notice| notice.message != said);
        }
    }
}
