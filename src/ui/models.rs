//! Owns the list of finished runs. Must not read their folders: [`App`] holds what was found.

use eframe::egui::Ui;

use crate::app::{Action, App};

/// What is seen of the list and not part of the application's state.
#[derive(Debug, Default)]
pub struct ModelsView {}

/// Draws the list, or what to do to get one.
pub fn show(ui: &mut Ui, _app: &App, _view: &mut ModelsView, _actions: &mut Vec<Action>) {
    super::style::empty_state(ui, "No runs yet", "");
}
