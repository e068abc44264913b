//! The two buttons of the confirmation before something is deleted.

use std::path::PathBuf;

use eframe::egui::{Button, Key, Modifiers, RichText, Ui};

use crate::window::style;

/// Draws both buttons in the caller's row and returns true when deletion was confirmed. Either
/// button ends the confirmation, as does Escape.
pub fn buttons(ui: &mut Ui, delete: &str, confirming: &mut Option<PathBuf>) -> bool {
    let confirmed = ui
        .add(Button::new(
            RichText::new(delete).color(style::palette(ui).bad),
        ))
        .clicked();
    let escaped = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    if ui.button("Cancel").on_hover_text("Escape").clicked() || escaped || confirmed {
        *confirming = None;
    }
    confirmed
}
