//! Owns the live plots. Must not change anything but what is seen.

use eframe::egui::Ui;

use crate::app::{Action, App};

/// What is seen of the plots and not part of the application's state.
#[derive(Debug, Default)]
pub struct PlotsView {}

/// Draws the plots, or what to do to get some.
pub fn show(ui: &mut Ui, _app: &App, _view: &mut PlotsView, _actions: &mut Vec<Action>) {
    super::style::empty_state(ui, "Nothing learned yet", "Press Start.");
}
