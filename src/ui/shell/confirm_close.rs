//! Owns the question before the window closes on a run that is under way.
//! Must not close anything.

use eframe::egui::{Id, Modal, RichText, Ui};

use crate::ui::style;

/// Asks whether to stop the run and close; `None` while there is no answer. Escape means going on.
pub fn confirm_close(ui: &Ui) -> Option<bool> {
    let modal = Modal::new(Id::unique("before closing")).frame(style::dialog_frame(ui)).show(ui.ctx(), |ui| {
        ui.set_width(420.0);
        ui.label(RichText::new("A run is under way").heading());
        ui.label("Closing the window ends it. What it learned by its last full epoch is kept, as a model of its own.");
        ui.add_space(style::GAP);
        let mut answer = None;
        ui.horizontal(|ui| {
            if ui.add(style::primary_button(ui, "Keep training")).clicked() {
                answer = Some(false);
            }
            if ui.add(style::secondary_button("Stop and close")).clicked() {
                answer = Some(true);
            }
        });
        answer
    });
    modal.inner.or_else(|| modal.should_close().then_some(false))
}
