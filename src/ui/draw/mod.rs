//! Owns the draw screen. Must not read drawings: the engine does.

use eframe::egui::Ui;

use crate::app::{Action, App};

/// What is seen of the draw screen and not part of the application's state.
#[derive(Debug, Default)]
pub struct DrawView {}

/// Draws the whole screen.
pub fn show(ui: &mut Ui, _app: &App, _view: &mut DrawView, _actions: &mut Vec<Action>) {
    super::style::empty_state(ui, "Draw a digit", "");
}

/// Canvas, verdict and bars in a narrow column, to stand beside the plots.
pub fn show_compact(ui: &mut Ui, _app: &App, _view: &mut DrawView, _actions: &mut Vec<Action>) {
    super::style::empty_state(ui, "Draw a digit", "");
}
