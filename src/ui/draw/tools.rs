//! The row of tools for the canvas: undo, redo, clear, save, pen width.

use eframe::egui::{Button, Key, Modifiers, RichText, Slider, Ui};

use crate::app::{Action, App, PEN};

/// Draws the tools; the compact row leaves out saving and the pen's width.
pub fn show(ui: &mut Ui, app: &App, compact: bool, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        let drawing = &app.drawing;
        let mut tool = |ui: &mut Ui, name: &str, hint: String, possible: bool, action: Action| {
            if ui.add_enabled(possible, Button::new(name)).on_hover_text(hint).clicked() {
                actions.push(action);
            }
        };
        let command = |ui: &Ui, modifiers, key| ui.ctx().format_shortcut(&eframe::egui::KeyboardShortcut::new(modifiers, key));
        let undo = format!("Undo the last stroke ({})", command(ui, Modifiers::COMMAND, Key::Z));
        let redo = format!("Redo the stroke ({})", command(ui, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z));
        tool(ui, "Undo", undo, drawing.can_undo(), Action::Undo);
        tool(ui, "Redo", redo, drawing.can_redo(), Action::Redo);
        tool(
            ui,
            "Clear",
            "Clear the canvas (Delete); Undo restores the drawing".to_owned(),
            !drawing.strokes().is_empty(),
            Action::ClearDrawing,
        );
        if !compact {
            let save = format!(
                "Save the drawing as an ink file, which Inkling and the command inkling predict can open ({})",
                command(ui, Modifiers::COMMAND, Key::S)
            );
            tool(ui, "Save…", save, !drawing.strokes().is_empty(), Action::SaveDrawing);
            ui.add_space(8.0);
            let label = ui.label(RichText::new("Pen"));
            let mut width = drawing.pen;
            ui.spacing_mut().slider_width = 110.0;
            let slider = Slider::new(&mut width, PEN).show_value(false).step_by(1.0);
            let response = ui.add(slider).labelled_by(label.id).on_hover_text("Pen width");
            if response.changed() {
                actions.push(Action::SetPen(width));
            }
        }
    });
}

/// Undo, redo, clear and save by keyboard, unless a text field has the focus.
pub fn shortcuts(ui: &Ui, actions: &mut Vec<Action>) {
    if ui.ctx().text_edit_focused() {
        return;
    }
    ui.input_mut(|input| {
        if input.consume_key(Modifiers::COMMAND | Modifiers::SHIFT, Key::Z) || input.consume_key(Modifiers::COMMAND, Key::Y) {
            actions.push(Action::Redo);
        }
        if input.consume_key(Modifiers::COMMAND, Key::Z) {
            actions.push(Action::Undo);
        }
        if input.consume_key(Modifiers::COMMAND, Key::S) {
            actions.push(Action::SaveDrawing);
        }
        if input.consume_key(Modifiers::NONE, Key::Delete) || input.consume_key(Modifiers::NONE, Key::Backspace) {
            actions.push(Action::ClearDrawing);
        }
    });
}
