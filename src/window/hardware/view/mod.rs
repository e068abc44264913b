//! The Hardware screen: what this machine has, whether it computes correctly, and how fast it is.

mod benchmark;
mod cards;
pub mod libraries;
pub mod monitor;
pub mod other_machine;
mod self_test;
pub mod sending_question;
mod sent;
pub(in crate::window) mod table;

use eframe::egui::{Align, Layout, ScrollArea, Ui, vec2};

use crate::text::visible;
use crate::window::shell::help;
use crate::window::shell::help::Topic;
use crate::window::style;
use crate::window::{Action, App, MachineAction};

/// Below this width, in points, there is a single column.
const TWO_COLUMNS: f32 = 1000.0;
/// The width of the hardware column, in points, and its share of a wide window.
const HARDWARE_WIDTH: std::ops::RangeInclusive<f32> = 360.0..=520.0;
const HARDWARE_SHARE: f32 = 0.19;
/// The greatest width of the self-test, in points.
const TEXT_WIDTH: f32 = 1000.0;

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if ui.available_width() < TWO_COLUMNS {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width(ui.available_width() - style::GAP);
            machine_in_use(ui, app, actions);
            ui.add_space(style::GAP);
            self_test::show(ui, app, actions);
            ui.add_space(style::GAP);
            benchmark::show(ui, app, actions);
            ui.add_space(style::GAP * 2.0);
            parts(ui, app, actions);
        });
        return;
    }
    let height = ui.available_height();
    let width = (ui.available_width() * HARDWARE_SHARE)
        .clamp(*HARDWARE_WIDTH.start(), *HARDWARE_WIDTH.end());
    ui.horizontal_top(|ui| {
        ui.allocate_ui_with_layout(vec2(width, height), Layout::top_down(Align::Min), |ui| {
            ui.scope(|ui| {
                ui.set_max_width(ui.available_width() - style::GAP);
                machine_in_use(ui, app, actions);
            });
            ScrollArea::vertical()
                .id_salt("findings")
                .auto_shrink(false)
                .show(ui, |ui| {
                    ui.set_max_width(ui.available_width() - style::GAP);
                    parts(ui, app, actions);
                });
        });
        ui.add_space(style::GAP);
        ui.vertical(|ui| {
            ScrollArea::vertical()
                .id_salt("benchmark")
                .auto_shrink(false)
                .show(ui, |ui| {
                    ui.set_max_width(ui.available_width() - style::GAP);
                    ui.scope(|ui| {
                        ui.set_max_width(ui.available_width().min(TEXT_WIDTH));
                        self_test::show(ui, app, actions);
                    });
                    ui.add_space(style::GAP);
                    benchmark::show(ui, app, actions);
                });
        });
    });
}

/// The self-test and the hardware, as the wizard shows them.
pub fn summary(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    self_test::show(ui, app, actions);
    cards::show(ui, app);
}

/// The machine that is trained on, and the button for another one: above what scrolls, where it is
/// always in view.
fn machine_in_use(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let other = app.other_machine();
    let title = other.map_or("This machine".to_owned(), |machine| {
        format!("Training on {}", visible::label(machine.host.name()))
    });
    help::beside(ui, Topic::Hardware, |ui| _ = ui.heading(title));
    let (name, action) = match other {
        Some(machine) => {
            other_machine::facts(ui, machine);
            ("Train on this machine again", MachineAction::UseThis)
        }
        None => ("Train on another machine…", MachineAction::Ask(None)),
    };
    let why_not = app.why_not_move();
    let button = ui.add_enabled(why_not.is_none(), style::secondary_button(name));
    if button
        .on_disabled_hover_text(why_not.unwrap_or_default())
        .clicked()
    {
        actions.push(Action::Machine(action));
    }
}

/// What was sent to the other machine, if one is in use, and what this machine has.
fn parts(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if let Some(machine) = app.other_machine() {
        sent::show(ui, app, machine.host.name(), actions);
        ui.add_space(style::GAP);
        ui.heading("This machine");
    }
    cards::show(ui, app);
    libraries::show(ui, app, actions);
}
