//! Owns the run panel: what the next run is, and starting, holding and stopping it.

use eframe::egui::Ui;

use super::style;
use crate::app::{Action, App};

/// What is typed and not yet a number.
#[derive(Debug, Default)]
pub struct RunPanel {}

/// Draws the panel.
pub fn show(ui: &mut Ui, _app: &App, _view: &mut RunPanel, actions: &mut Vec<Action>) {
    if ui.add(style::primary_button(ui, "Start")).clicked() {
        actions.push(Action::Start);
    }
    if ui.add(style::secondary_button("Stop")).clicked() {
        actions.push(Action::Stop);
    }
}
