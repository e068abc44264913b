//! The confirmation before the window closes during training.

use eframe::egui::{Id, Modal, RichText, Ui};

use crate::ui::style;

/// Asks whether to stop the run and close; `None` while there is no answer. Escape keeps training.
pub fn confirm_close(ui: &Ui) -> Option<bool> {
    let modal = Modal::new(Id::unique("before closing")).frame(style::dialog_frame(ui)).show(ui.ctx(), |ui| {
        ui.set_width(420.0);
        ui.label(RichText::new("Training is in progress").heading());
        ui.label("Closing the window stops the run. The weights from its last completed epoch are saved as a model.");
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
