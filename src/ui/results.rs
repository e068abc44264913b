//! Owns the results screen. Must not measure anything: [`App`] holds the figures.

use eframe::egui::Ui;

use crate::app::{Action, App};

/// What is seen of the screen and not part of the application's state.
#[derive(Debug, Default)]
pub struct ResultsScreen {}

/// Draws the figures, or what to do to get some.
pub fn show(ui: &mut Ui, _app: &App, _view: &mut ResultsScreen, _actions: &mut Vec<Action>) {
    super::style::empty_state(ui, "Nothing measured yet", "");
}
