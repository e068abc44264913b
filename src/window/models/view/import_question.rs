//! The question how the weights of a file are meant, where trials left doubt.

use eframe::egui::{Id, Label, Modal, RichText, Ui};

use crate::window::style;
use crate::window::{Action, App};

/// Shows it while it is asked: what was measured, a button for each reading that Inkling can build,
/// and Cancel.
pub fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(question) = &app.models.import_question else {
        return;
    };
    let modal = Modal::new(Id::unique("import-question"))
        .frame(style::dialog_frame(ui))
        .show(ui.ctx(), |ui| {
            ui.set_width(560.0_f32.min(ui.ctx().content_rect().width() - 80.0));
            ui.label(RichText::new("How was this network built?").heading());
            ui.add(Label::new(&question.what).wrap());
            ui.add_space(style::GAP);
            ui.label("Import it with:");
            for (label, spec) in question.choices() {
                if ui.add(style::secondary_button(&label)).clicked() {
                    actions.push(Action::ImportAs(spec));
                }
            }
            ui.add_space(style::GAP);
            ui.add(style::secondary_button("Cancel")).clicked()
        });
    if modal.inner || style::escaped(&modal) {
        actions.push(Action::CloseImportQuestion);
    }
}
