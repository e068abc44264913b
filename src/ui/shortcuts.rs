//! Owns the keyboard shortcuts and their overview.

use eframe::egui::Ui;

use super::window::Views;
use crate::app::{Action, App};

/// Takes shortcuts.
pub fn listen(_ui: &Ui, _app: &App, _views: &mut Views, _actions: &mut Vec<Action>) {}

/// Shows them.
pub fn overview(_ui: &Ui, _open: &mut bool) {}
