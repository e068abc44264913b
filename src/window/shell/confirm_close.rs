//! What becomes of the run or the sweep when the window closes meanwhile.

use eframe::egui::{Id, Modal, RichText, Ui};

use crate::window::style;
use crate::window::{App, Phase, RunView};

/// The answer to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseAnswer {
    StayOpen,
    /// The window stays open and shows what could be saved of the run.
    SaveFirst,
    /// The run or the sweep is interrupted, to be resumed at the next start.
    ResumeLater,
    /// The run is stopped and saved as a model.
    StopAndSave,
}

/// Asks what is to become of the run or the sweep; `None` while there is no answer. Escape keeps
/// the window open.
pub fn confirm_close(ui: &Ui, app: &App) -> Option<CloseAnswer> {
    let run = app.train.run.as_ref().filter(|_| !app.is_sweeping());
    let unsaved = run.filter(|run| run.phase == Phase::NotSaved);
    let has_model = unsaved.is_none() && run.is_some_and(RunView::has_completed_epoch);
    // Without a checkpoint there is nothing to resume.
    let is_lost = unsaved.is_some_and(|run| run.checkpoint.is_none());
    let modal = Modal::new(Id::unique("before closing")).frame(style::dialog_frame(ui)).show(ui.ctx(), |ui| {
        ui.set_width(440.0_f32.min(ui.ctx().content_rect().width() - 80.0));
        let sweeping = app.is_sweeping();
        let title = if sweeping { "A sweep is in progress" } else { "Training is in progress" };
        ui.label(RichText::new(if unsaved.is_some() { "The run is not saved yet" } else { title }).heading());
        ui.label(if is_lost {
            "It has ended, and neither the run nor a checkpoint of it could be saved: it cannot be resumed the next time you open Inkling."
        } else if unsaved.is_some() {
            "It has ended, but could not be saved. You can resume it from its checkpoint the next time you open Inkling, and save it then."
        } else if sweeping {
            "Resume it the next time you open Inkling, under Sweep. All trials that have ended are kept; those that are training now begin again then."
        } else if has_model {
            "Resume it the next time you open Inkling, or stop it now and save the weights of its last completed epoch as a model."
        } else {
            "You can resume it the next time you open Inkling. It cannot be saved as a model yet: its first epoch is not complete."
        });
        ui.add_space(style::GAP);
        let mut answer = None;
        ui.horizontal_wrapped(|ui| {
            if is_lost {
                if ui.add(style::primary_button(ui, "Save what fits")).on_hover_text(RunView::about_rescue()).clicked() {
                    answer = Some(CloseAnswer::SaveFirst);
                }
                let about = "Closes the window. The run is lost if nothing of it can be saved";
                if ui.add(style::secondary_button("Close anyway")).on_hover_text(about).clicked() {
                    answer = Some(CloseAnswer::ResumeLater);
                }
            } else if ui.add(style::primary_button(ui, "Resume next time")).on_hover_text("Closes the window").clicked() {
                answer = Some(CloseAnswer::ResumeLater);
            }
            if has_model && ui.add(style::secondary_button("Stop and save")).on_hover_text("Closes the window").clicked() {
                answer = Some(CloseAnswer::StopAndSave);
            }
            let stay = match (sweeping, unsaved) {
                (true, _) => "Keep searching",
                (false, None) => "Keep training",
                (false, Some(_)) => "Keep waiting",
            };
            if ui.add(style::secondary_button(stay)).on_hover_text("Escape").clicked() {
                answer = Some(CloseAnswer::StayOpen);
            }
        });
        answer
    });
    modal
        .inner
        .or_else(|| modal.should_close().then_some(CloseAnswer::StayOpen))
}
