//! Owns the wizard's pages.

use eframe::egui::Ui;

use crate::app::{Action, App};

/// Draws the page.
pub fn show(ui: &mut Ui, _app: &App, actions: &mut Vec<Action>) {
    if ui.button("Skip").clicked() {
        actions.push(Action::CloseWizard);
    }
}
