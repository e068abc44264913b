//! The dialog that asks for another machine to train on, and shows what it is before it is used;
//! the question whether My digits may be sent there; and what was sent.

use eframe::egui::{Align, Button, Label, Layout, RichText, TextEdit, Ui};

use crate::hardware::lines;
use crate::records::{KEPT_DAYS, ReceivedBundle};
use crate::text::format::{count, file_size, local_time};
use crate::text::visible;
use crate::window::{
    Action, App, MachineAction, OtherMachine, Pushes as _, ReachState, device_name, style,
};

/// The dialog's width, in points.
const WIDTH: f32 = 520.0;
/// Space for the result, so that the buttons do not move.
const ROOM: f32 = 190.0;

/// Shows it while it is open: Enter connects, or uses the machine that was reached; Escape closes
/// it.
pub fn show(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(dialog) = &app.machine.machine_dialog else {
        return;
    };
    let modal = style::dialog(ui, "machine", WIDTH, |ui| {
        ui.heading("Train on another machine");
        let about = "Inkling runs there over SSH: training data is sent where it is missing, and finished runs and checkpoints are saved here. \
                     The same version of Inkling must be installed there.";
        style::weak(ui, about);
        ui.add_space(style::GAP / 2.0);
        let label = ui.label("SSH host");
        let mut text = dialog.text.clone();
        let field = TextEdit::singleline(&mut text)
            .hint_text("gpu-box, or anna@gpu-box:/opt/inkling/inkling")
            .char_limit(200);
        let field = ui
            .add(field.desired_width(f32::INFINITY))
            .labelled_by(label.id);
        let entered = style::entered(ui, &field);
        if text != dialog.text {
            actions.push(Action::Machine(MachineAction::Type(text)));
        }
        style::note(
            ui,
            "A host of your SSH configuration that needs no password: with a key or an agent.",
        );
        ui.add_space(style::GAP / 2.0);
        style::room(ui, ROOM, |ui| {
            ui.vertical(|ui| state(ui, &dialog.state));
        });
        ui.horizontal(|ui| {
            let (name, action) = match dialog.state {
                ReachState::Reached(_) => ("Use this machine", MachineAction::Use),
                _ => ("Connect", MachineAction::Connect),
            };
            let why_not = match dialog.state {
                ReachState::Connecting(_) => Some("Connecting…"),
                ReachState::Reached(_) => app.ctx.why_not_move(),
                _ => dialog
                    .text
                    .trim()
                    .is_empty()
                    .then_some("Enter the name of a host"),
            };
            let clicked = style::ask(ui, style::primary_button(name), why_not, "").clicked();
            if why_not.is_none() && (clicked || entered) {
                actions.push(Action::Machine(action));
            }
            ui.add(style::secondary_button("Cancel")).clicked()
        })
        .inner
    });
    if modal.inner || style::escaped(&modal) {
        actions.push(Action::Machine(MachineAction::Close));
    }
}

fn state(ui: &mut Ui, state: &ReachState) {
    match state {
        ReachState::Typing => {}
        ReachState::Connecting(host) => {
            ui.horizontal(|ui| {
                style::spinner(ui);
                let host = host.name();
                ui.label(format!("Connecting to {host} and running its self-test…"));
            });
        }
        ReachState::Failed(message) => _ = style::invalid(ui, &message.to_string()),
        ReachState::Reached(machine) => facts(ui, machine),
    }
}

/// A machine in a few lines.
pub fn facts(ui: &mut Ui, machine: &OtherMachine) {
    for line in lines(&machine.hardware).into_iter().take(4) {
        ui.horizontal_wrapped(|ui| {
            ui.label(style::hint(line.label));
            style::semibold(ui, line.value);
        });
    }
    let passed: Vec<&str> = machine
        .passed()
        .map(|device| device_name(device, false))
        .collect();
    ui.label(format!("Self-test passed: {}", passed.join(", ")));
}

/// The dialog's width, in points.
const QUESTION_WIDTH: f32 = 480.0;

/// Shows it while it is asked; Escape means no.
pub fn sending_question(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(question) = &app.machine.sending_question else {
        return;
    };
    let host = visible::label(&question.host);
    let answer = |may_send| Action::Machine(MachineAction::AnswerSending(may_send));
    let is_loaded = app.my_digits.is_loaded();
    let modal = style::dialog(ui, "sending-question", QUESTION_WIDTH, |ui| {
        let title = RichText::new(format!("Send My digits to {host}?"));
        ui.add(Label::new(title.heading()).wrap());
        ui.add_space(style::GAP / 2.0);
        let drawings = count(app.my_digits.drawings().len() as u64, "drawing");
        let what = if is_loaded {
            drawings
        } else {
            "drawings".to_owned()
        };
        let what =
            format!("To train there, {host} needs your {what}, as small images with their labels.");
        ui.add(Label::new(what).wrap());
        ui.add_space(style::GAP / 2.0);
        let stay = format!(
            "They are stored there for your account alone, until {KEPT_DAYS} days after they were last used. Your answer is remembered for \
             {host}. Under Hardware you can see and delete what was sent, and withdraw your answer."
        );
        style::weak(ui, stay);
        ui.add_space(style::GAP);
        ui.horizontal(|ui| {
            ui.add_enabled(is_loaded, style::primary_button("Send"))
                .pushes(actions, || answer(true));
            ui.add(style::secondary_button("Cancel")).clicked()
        })
        .inner
    });
    if modal.inner || style::escaped(&modal) {
        actions.push(answer(false));
    }
}

/// Draws the card of the machine with this name.
pub fn sent(ui: &mut Ui, app: &App, host: &str, actions: &mut Vec<Action>) {
    let sent = &app.machine.sent;
    style::full_card(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(style::hint(format!("Sent to {}", visible::label(host))));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if sent.is_busy {
                    style::spinner(ui);
                } else {
                    ui.button("Refresh")
                        .pushes(actions, || MachineAction::ListSent);
                }
            });
        });
        match (&sent.failure, &sent.bundles) {
            (Some(failure), _) => _ = style::invalid(ui, &failure.to_string()),
            (None, None) => _ = ui.weak("Loading the list…"),
            (None, Some(bundles)) if bundles.is_empty() => _ = style::semibold(ui, "Nothing"),
            (None, Some(bundles)) => {
                for bundle in bundles {
                    sent_row(ui, app, bundle, actions);
                }
                let about = format!(
                    "Kept there for your account alone, and deleted {KEPT_DAYS} days after the last use."
                );
                style::weak(ui, about);
            }
        }
        ui.separator();
        consent(ui, app, actions);
    });
}

/// Its description, size and last use, with the button to delete it.
fn sent_row(ui: &mut Ui, app: &App, bundle: &ReceivedBundle, actions: &mut Vec<Action>) {
    let (why_not, used) = if bundle.in_use {
        (Some("In use by a run"), "in use".to_owned())
    } else {
        let why_not = app
            .machine
            .sent
            .is_busy
            .then_some("Contacting the machine…");
        (
            why_not,
            format!("last used {}", local_time(&bundle.last_used)),
        )
    };
    ui.horizontal_top(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
            let about = "It is sent again if a run needs it";
            style::ask(ui, Button::new("Delete"), why_not, about)
                .pushes(actions, || MachineAction::DeleteSent(bundle.id.clone()));
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                style::strong(ui, &bundle.what);
                style::weak(ui, format!("{}, {used}", file_size(bundle.bytes)));
            });
        });
    });
}

fn consent(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.machine.may_send_my_digits(&app.ctx) == Some(true) {
        ui.horizontal_wrapped(|ui| {
            ui.label("My digits may be sent there.");
            let about = "You will be asked again. What was sent before stays until you delete it";
            ui.button("Withdraw")
                .on_hover_text(about)
                .pushes(actions, || MachineAction::WithdrawMyDigits);
        });
    } else {
        style::weak(ui, "My digits are not sent there unless you agree.");
    }
    let drawn = "While this machine is in use, what you draw on the canvas is recognized there, and not stored.";
    style::weak(ui, drawn);
}
