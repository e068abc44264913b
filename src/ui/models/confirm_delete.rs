//! The two buttons of the confirmation before something is deleted permanently.

use std::path::PathBuf;

use eframe::egui::{Button, RichText, Ui};

use crate::ui::style;

/// Draws both buttons in the caller's row and returns true when deletion was confirmed. Either button ends the confirmation.
pub fn buttons(ui: &mut Ui, delete: &str, confirming: &mut Option<PathBuf>) -> bool {
    let confirmed = ui.add(Button::new(RichText::new(delete).color(style::palette(ui).bad))).clicked();
    if ui.button("Cancel").clicked() || confirmed {
        *confirming = None;
    }
    confirmed
}
