//! Owns the second thought before something is deleted for good. Must not delete anything.

use std::path::PathBuf;

use eframe::egui::{Button, RichText, Ui};

use crate::ui::style;

/// The two answers, in a row of the caller's; true when it is to go. Either ends the question.
pub fn buttons(ui: &mut Ui, for_good: &str, confirming: &mut Option<PathBuf>) -> bool {
    let goes = ui.add(Button::new(RichText::new(for_good).color(style::palette(ui).bad))).clicked();
    if ui.button("Keep it").clicked() || goes {
        *confirming = None;
    }
    goes
}
