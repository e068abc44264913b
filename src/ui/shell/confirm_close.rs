//! What becomes of the run or the sweep when the window closes meanwhile.

use eframe::egui::{Id, Modal, RichText, Ui};

use crate::app::{App, RunView};
use crate::ui::style;

/// The answer to the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseAnswer {
    /// The window stays open.
    StayOpen,
    /// The run or the sweep is interrupted, to be resumed at the next start.
    ResumeLater,
    /// The run is stopped and saved as a model.
    StopAndSave,
}

/// Asks what is to become of the run or the sweep; `None` while there is no answer. Escape keeps the window open.
pub fn confirm_close(ui: &Ui, app: &App) -> Option<CloseAnswer> {
    let has_model = !app.is_sweeping() && app.run.as_ref().is_some_and(RunView::has_completed_epoch);
    let modal = Modal::new(Id::unique("before closing")).frame(style::dialog_frame(ui)).show(ui.ctx(), |ui| {
        ui.set_width(440.0_f32.min(ui.ctx().content_rect().width() - 80.0));
        let sweeping = app.is_sweeping();
        ui.label(RichText::new(if sweeping { "A sweep is in progress" } else { "Training is in progress" }).heading());
        ui.label(if sweeping {
            "Resume it the next time you open Inkling, under Sweep. All trials that have ended are kept; those that are training now begin again then."
        } else if has_model {
            "Resume it the next time you open Inkling, or stop it now and save the weights of its last completed epoch as a model."
        } else {
            "You can resume it the next time you open Inkling. It cannot be saved as a model yet: its first epoch is not complete."
        });
        ui.add_space(style::GAP);
        let mut answer = None;
        ui.horizontal_wrapped(|ui| {
            if ui.add(style::primary_button(ui, "Resume next time")).on_hover_text("Closes the window").clicked() {
                answer = Some(CloseAnswer::ResumeLater);
            }
            if has_model && ui.add(style::secondary_button("Stop and save")).on_hover_text("Closes the window").clicked() {
                answer = Some(CloseAnswer::StopAndSave);
            }
            let stay = if sweeping { "Keep searching" } else { "Keep training" };
            if ui.add(style::secondary_button(stay)).on_hover_text("Escape").clicked() {
                answer = Some(CloseAnswer::StayOpen);
            }
        });
        answer
    });
    modal.inner.or_else(|| modal.should_close().then_some(CloseAnswer::StayOpen))
}
