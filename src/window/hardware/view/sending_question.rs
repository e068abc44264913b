//! The question whether My digits may be sent to the other machine.

use eframe::egui::{Id, Label, Modal, RichText, Ui};

use crate::records::KEPT_DAYS;
use crate::text::format::count;
use crate::text::visible;
use crate::window::style;
use crate::window::{Action, App, MachineAction};

/// The dialog's width, in points.
const WIDTH: f32 = 480.0;

/// Shows it while it is asked; Escape means no.
pub fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(question) = &app.machine.sending_question else {
        return;
    };
    let host = visible::label(&question.host);
    let answer = |may_send| Action::Machine(MachineAction::AnswerSending(may_send));
    let modal = Modal::new(Id::unique("sending-question")).frame(style::dialog_frame(ui)).show(ui.ctx(), |ui| {
        ui.set_width(WIDTH.min(ui.ctx().content_rect().width() - 80.0));
        ui.add(Label::new(RichText::new(format!("Send My digits to {host}?")).heading()).wrap());
        ui.add_space(style::GAP / 2.0);
        let drawings = app.my_digits.drawings().len() as u64;
        let what = if app.my_digits.is_loaded() { format!("your {}", count(drawings, "drawing")) } else { "your drawings".to_owned() };
        ui.add(Label::new(format!("To train there, {host} needs {what}, as small images with their labels.")).wrap());
        ui.add_space(style::GAP / 2.0);
        let stay = format!(
            "They are stored there for your account alone, until {KEPT_DAYS} days after they were last used. Your answer is remembered for \
             {host}. Under Hardware you can see and delete what was sent, and withdraw your answer."
        );
        ui.add(Label::new(RichText::new(stay).weak()).wrap());
        ui.add_space(style::GAP);
        ui.horizontal(|ui| {
            if ui.add_enabled(app.my_digits.is_loaded(), style::primary_button(ui, "Send")).clicked() {
                actions.push(answer(true));
            }
            ui.add(style::secondary_button("Cancel")).clicked()
        })
        .inner
    });
    if modal.inner || style::escaped(&modal) {
        actions.push(answer(false));
    }
}
