//! What was sent to the other machine: a list with a button to delete each, and whether My digits
//! may be sent there.

use eframe::egui::{Align, Button, Label, Layout, RichText, Ui};

use crate::records::{KEPT_DAYS, ReceivedBundle};
use crate::text::format::{file_size, local_time};
use crate::text::visible;
use crate::window::style;
use crate::window::{Action, App, MachineAction};

/// Draws the card of the machine with this name.
pub fn show(ui: &mut Ui, app: &App, host: &str, actions: &mut Vec<Action>) {
    style::card(ui).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.horizontal(|ui| {
            ui.label(style::hint(format!("Sent to {}", visible::label(host))));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if app.machine.sent.is_busy {
                    ui.spinner();
                } else if ui.button("Refresh").clicked() {
                    actions.push(Action::Machine(MachineAction::ListSent));
                }
            });
        });
        match &app.machine.sent.bundles {
            _ if app.machine.sent.failure.is_some() => {
                app.machine.sent.failure.iter().for_each(|failure| _ = style::invalid(ui, &failure.to_string()));
            }
            None => _ = ui.label(RichText::new("Asking what is there…").weak()),
            Some(bundles) if bundles.is_empty() => _ = ui.label(RichText::new("Nothing").strong()),
            Some(bundles) => {
                for bundle in bundles {
                    row(ui, app, bundle, actions);
                }
                let about = format!("Kept there for your account alone, and deleted {KEPT_DAYS} days after the last use.");
                ui.add(Label::new(RichText::new(about).weak()).wrap());
            }
        }
        ui.separator();
        consent(ui, app, actions);
    });
}

/// What it is, how large, and when it was last used, with the button to delete it.
fn row(ui: &mut Ui, app: &App, bundle: &ReceivedBundle, actions: &mut Vec<Action>) {
    ui.horizontal_top(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
            let button = ui.add_enabled(
                !bundle.in_use && !app.machine.sent.is_busy,
                Button::new("Delete"),
            );
            let button = button.on_hover_text("It is sent again if a run needs it");
            if button
                .on_disabled_hover_text(if bundle.in_use {
                    "In use by a run"
                } else {
                    "Asking the machine…"
                })
                .clicked()
            {
                actions.push(Action::Machine(MachineAction::DeleteSent(
                    bundle.id.clone(),
                )));
            }
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                ui.add(Label::new(RichText::new(&bundle.what).strong()).wrap());
                let used = if bundle.in_use {
                    "in use".to_owned()
                } else {
                    format!("last used {}", local_time(&bundle.last_used))
                };
                ui.add(
                    Label::new(
                        RichText::new(format!("{}, {used}", file_size(bundle.bytes))).weak(),
                    )
                    .wrap(),
                );
            });
        });
    });
}

fn consent(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.may_send_my_digits() == Some(true) {
        ui.horizontal_wrapped(|ui| {
            ui.label("My digits may be sent there.");
            let about = "You will be asked again. What was sent before stays until you delete it";
            if ui.button("Withdraw").on_hover_text(about).clicked() {
                actions.push(Action::Machine(MachineAction::WithdrawMyDigits));
            }
        });
    } else {
        ui.add(
            Label::new(RichText::new("My digits are not sent there unless you agree.").weak())
                .wrap(),
        );
    }
    let drawn = "While this machine is in use, what you draw on the canvas is recognized there, and not stored.";
    ui.add(Label::new(RichText::new(drawn).weak()).wrap());
}
