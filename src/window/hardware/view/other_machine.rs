//! The dialog that asks for another machine to train on, and shows what it is before it is used.

use eframe::egui::{Id, Key, Label, Modal, RichText, TextEdit, Ui};

use crate::hardware::lines;
use crate::window::style;
use crate::window::{Action, App, MachineAction, OtherMachine, ReachState, device_name};

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
    let modal = Modal::new(Id::unique("machine")).frame(style::dialog_frame(ui)).show(ui.ctx(), |ui| {
        ui.set_width(WIDTH.min(ui.ctx().content_rect().width() - 80.0));
        ui.label(RichText::new("Train on another machine").heading());
        let about = "Inkling runs there through SSH: training data is sent where it is missing, and finished runs and checkpoints are saved here. \
                     The same version of Inkling must be installed there.";
        ui.add(Label::new(RichText::new(about).weak()).wrap());
        ui.add_space(style::GAP / 2.0);
        let label = ui.label("SSH host");
        let mut text = dialog.text.clone();
        let field = TextEdit::singleline(&mut text).hint_text("gpu-box, or anna@gpu-box:/opt/inkling/inkling").char_limit(200);
        let field = ui.add(field.desired_width(f32::INFINITY)).labelled_by(label.id);
        // Enter takes the focus from the field.
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        if !entered && ui.memory(|memory| memory.focused().is_none()) {
            field.request_focus();
        }
        if text != dialog.text {
            actions.push(Action::Machine(MachineAction::Type(text)));
        }
        ui.add(Label::new(style::hint("A host of your SSH configuration that needs no password: with a key or an agent.")).wrap());
        ui.add_space(style::GAP / 2.0);
        ui.allocate_ui([ui.available_width(), ROOM].into(), |ui| {
            ui.set_min_height(ROOM);
            ui.vertical(|ui| state(ui, &dialog.state));
        });
        ui.horizontal(|ui| {
            let (name, action) = match dialog.state {
                ReachState::Reached(_) => ("Use this machine", MachineAction::Use),
                _ => ("Connect", MachineAction::Connect),
            };
            let why_not = match dialog.state {
                ReachState::Connecting(_) => Some("Connecting…"),
                ReachState::Reached(_) => app.why_not_move(),
                _ => dialog.text.trim().is_empty().then_some("Enter the name of a host"),
            };
            let button = ui.add_enabled(why_not.is_none(), style::primary_button(ui, name));
            let clicked = button.on_disabled_hover_text(why_not.unwrap_or_default()).clicked();
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
                ui.spinner();
                ui.label(format!(
                    "Connecting to {} and running its self-test…",
                    host.name()
                ));
            });
        }
        ReachState::Failed(message) => {
            style::invalid(ui, &message.to_string());
        }
        ReachState::Reached(machine) => facts(ui, machine),
    }
}

/// What a machine is, in a few lines.
pub fn facts(ui: &mut Ui, machine: &OtherMachine) {
    for line in lines(&machine.hardware).into_iter().take(4) {
        ui.horizontal_wrapped(|ui| {
            ui.label(style::hint(line.label));
            ui.label(RichText::new(line.value).strong());
        });
    }
    let passed: Vec<&str> = machine
        .passed()
        .map(|device| device_name(device, false))
        .collect();
    ui.label(format!("Self-test passed: {}", passed.join(", ")));
}
