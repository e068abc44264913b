//! The question for a path, on desktops where no file dialog can be shown.

use eframe::egui::{Id, Key, Label, Modal, RichText, TextEdit, Ui};

use crate::window::style;
use crate::window::{Action, App};

/// Shows it while it is asked: Enter confirms, Escape cancels. A click beside it does not: what was
/// typed would be lost.
pub fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(question) = &app.shell.path_question else {
        return;
    };
    let modal = Modal::new(Id::unique("path"))
        .frame(style::dialog_frame(ui))
        .show(ui.ctx(), |ui| {
            ui.set_width(520.0_f32.min(ui.ctx().content_rect().width() - 80.0));
            let heading = ui.label(RichText::new(&question.title).heading());
            ui.add(
                Label::new(
                    RichText::new("This desktop offers no file dialogs, so please type the path.")
                        .weak(),
                )
                .wrap(),
            );
            ui.add_space(style::GAP / 2.0);
            let mut text = question.text.clone();
            let field = ui
                .add(
                    TextEdit::singleline(&mut text)
                        .desired_width(f32::INFINITY)
                        .cursor_at_end(true),
                )
                .labelled_by(heading.id);
            // Enter takes the focus from the field.
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            if !entered && ui.memory(|memory| memory.focused().is_none()) {
                field.request_focus();
            }
            if text != question.text {
                actions.push(Action::TypePath(text));
            }
            if let Some(refused) = &question.refused {
                style::invalid(ui, &refused.to_string());
            }
            ui.add_space(style::GAP);
            ui.horizontal(|ui| {
                if ui.add(style::primary_button(ui, "OK")).clicked() || entered {
                    actions.push(Action::ConfirmPath);
                }
                ui.add(style::secondary_button("Cancel")).clicked()
            })
            .inner
        });
    if modal.inner || style::escaped(&modal) {
        actions.push(Action::ClosePathQuestion);
    }
}
