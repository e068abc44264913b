//! The row of tools for the canvas: undo, redo, clear, save, pen width.

use eframe::egui::{Button, Key, KeyboardShortcut, Modifiers, RichText, Role, Slider, Ui, WidgetInfo};

use crate::app::{Action, App, PEN, Screen};
use crate::ui::style;

/// Switches between the canvas for one digit and the one for several.
pub const CANVAS_CHOICE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::D);
/// From this width on, in points, the tools have words and a long slider.
const ROOMY: f32 = 620.0;

/// Draws the tools; the compact row leaves out saving and the pen's width.
pub fn show(ui: &mut Ui, app: &App, compact: bool, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        let drawing = if compact { &app.drawing } else { app.drawing_shown() };
        let whole = ui.available_width();
        let mut tool = |ui: &mut Ui, name: &str, hint: String, possible: bool, action: Action| {
            if ui.add_enabled(possible, Button::new(name)).on_hover_text(hint).clicked() {
                actions.push(action);
            }
        };
        let command = |ui: &Ui, modifiers, key| ui.ctx().format_shortcut(&KeyboardShortcut::new(modifiers, key));
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
            ui.spacing_mut().slider_width = if whole < ROOMY { 44.0 } else { 110.0 };
            let slider = Slider::new(&mut width, PEN).show_value(false).step_by(1.0);
            let response = ui.add(slider).labelled_by(label.id).on_hover_text("Pen width");
            if response.changed() {
                actions.push(Action::SetPen(width));
            }
            ui.add_space(8.0);
            canvas_choice(ui, app, whole < ROOMY, actions);
        }
    });
}

/// The choice between the canvas for one digit and the one for several, in `short` or in words.
fn canvas_choice(ui: &mut Ui, app: &App, short: bool, actions: &mut Vec<Action>) {
    let keys = ui.ctx().format_shortcut(&CANVAS_CHOICE);
    ui.spacing_mut().item_spacing.x = 2.0;
    for (several, name, sign, about) in [
        (false, "One digit", "1", "A canvas for one digit"),
        (true, "Several digits", "123", "A wide canvas for several digits, which are read from left to right"),
    ] {
        let chosen = app.settings.several_digits == several;
        let response = ui.add(style::toggle(ui, if short { sign } else { name }, chosen));
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, name));
        if response.on_hover_text(format!("{about} ({keys})")).clicked() && !chosen {
            actions.push(Action::ChooseCanvas { several });
        }
    }
}

/// Undo, redo, clear and save by keyboard, and on the Draw screen the choice of the canvas, unless a text field has the focus.
pub fn shortcuts(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
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
        if app.screen == Screen::Draw && input.consume_shortcut(&CANVAS_CHOICE) {
            actions.push(Action::ChooseCanvas { several: !app.settings.several_digits });
        }
        if input.consume_key(Modifiers::COMMAND, Key::S) {
            actions.push(Action::SaveDrawing);
        }
        if input.consume_key(Modifiers::NONE, Key::Delete) || input.consume_key(Modifiers::NONE, Key::Backspace) {
            actions.push(Action::ClearDrawing);
        }
    });
}
