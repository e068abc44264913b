//! The row of tools for the canvas: undo, redo, eraser, clear, save, pen width.

use crate::settings::PEN;
use std::sync::Arc;

use eframe::egui::containers::menu::MenuButton;
use eframe::egui::{
    Button, Color32, Event, Key, KeyboardShortcut, Modifiers, Response, RichText, Role, Slider, Ui,
    WidgetInfo,
};

use crate::window::shell::shortcuts;
use crate::window::{Action, App, DrawAction, Pushes as _, Screen, Tool, style};

/// Switches between the canvas for one digit and the one for several.
pub const CANVAS_CHOICE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::D);
pub const OPEN: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::O);
/// Shows or folds away the steps from the drawing to the model's input.
pub const STEPS: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::I);
const SAVE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::S);
/// From this width on, in points, the tools have words and a long slider.
const ROOMY: f32 = 740.0;
/// Below this width, the buttons are narrower.
const TIGHT: f32 = 560.0;

/// Draws the tools; the compact row leaves out saving and the pen's width.
pub fn show(ui: &mut Ui, app: &App, compact: bool, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        let drawing = if compact { &app.draw.one } else { app.draw.drawing_shown(&app.ctx) };
        let whole = ui.available_width();
        if whole < TIGHT {
            ui.spacing_mut().button_padding.x = 5.0;
            ui.spacing_mut().item_spacing.x = 4.0;
        }
        let keys = |shortcut| ui.ctx().format_shortcut(shortcut);
        let undo = format!("Undo the last change ({})", keys(&shortcuts::UNDO));
        let redo = format!("Redo it ({})", keys(&shortcuts::REDO));
        tool(ui, "Undo", undo, drawing.can_undo() || !compact && app.draw.can_undo_image(&app.ctx)).pushes(actions, || DrawAction::Undo);
        tool(ui, "Redo", redo, drawing.can_redo() || !compact && app.draw.can_redo_image()).pushes(actions, || DrawAction::Redo);
        let erasing = app.draw.tool == Tool::Eraser;
        let about = "Take ink away instead of drawing (E); the right mouse button always does";
        let erasable = !drawing.strokes().is_empty();
        let eraser = ui.add_enabled(erasable, style::toggle(ui, "Eraser", erasing)).on_disabled_hover_text("There is nothing to erase");
        eraser.widget_info(|| WidgetInfo::selected(Role::Button, erasable, erasing, "Eraser"));
        eraser.on_hover_text(about).pushes(actions, || DrawAction::ChooseTool(if erasing { Tool::Pen } else { Tool::Eraser }));
        let clear = "Clear the canvas (Delete); Undo restores the drawing".to_owned();
        tool(ui, "Clear", clear, !drawing.strokes().is_empty() || !compact && app.draw.image_shown(&app.ctx).is_some()).pushes(actions, || DrawAction::ClearDrawing);
        if !compact {
            let save = format!(
                "Save the drawing as an ink file, which Inkling and the command inkling predict can open ({})",
                ui.ctx().format_shortcut(&SAVE)
            );
            let open = format!("Open an image or a drawing to read it ({}); or drop or paste it here", ui.ctx().format_shortcut(&OPEN));
            let can_save = !drawing.strokes().is_empty() && app.draw.image_shown(&app.ctx).is_none();
            MenuButton::new("File").ui(ui, |ui| {
                tool(ui, "Open…", open, true).pushes(actions, || DrawAction::OpenInDraw);
                tool(ui, "Save drawing…", save, can_save).pushes(actions, || DrawAction::SaveDrawing);
            });
            ui.add_space(8.0);
            let label = ui.label(RichText::new("Pen"));
            let mut width = drawing.pen;
            ui.spacing_mut().slider_width = if whole < ROOMY { 44.0 } else { 110.0 };
            let slider = Slider::new(&mut width, PEN).show_value(false).step_by(1.0);
            let response = ui.add(slider).labelled_by(label.id).on_hover_text("Width of the pen; the eraser grows with it");
            if response.changed() {
                actions.push(DrawAction::SetPen(width).into());
            }
            ui.add_space(8.0);
            canvas_choice(ui, app, whole < ROOMY, actions);
        }
    });
}

/// Draws a button, with what it does as a hint.
fn tool(ui: &mut Ui, name: &str, hint: String, possible: bool) -> Response {
    ui.add_enabled(possible, Button::new(name))
        .on_hover_text(hint)
}

/// The choice between the canvas for one digit and the one for several, in `short` or in words.
fn canvas_choice(ui: &mut Ui, app: &App, short: bool, actions: &mut Vec<Action>) {
    let keys = ui.ctx().format_shortcut(&CANVAS_CHOICE);
    ui.spacing_mut().item_spacing.x = 2.0;
    for (several, name, sign, about) in [
        (false, "One digit", "1", "A canvas for one digit"),
        (
            true,
            "Several digits",
            "123",
            "A wide canvas for several digits, which are read from left to right",
        ),
    ] {
        let chosen = app.ctx.settings.several_digits == several;
        let response = ui.add(style::toggle(ui, if short { sign } else { name }, chosen));
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, name));
        if response
            .on_hover_text(format!("{about} ({keys})"))
            .clicked()
            && !chosen
        {
            actions.push(DrawAction::ChooseCanvas { several }.into());
        }
    }
}

/// Undo, redo, eraser, clear and save by keyboard, and on the Draw screen the choice of the canvas,
/// unless a text field has the focus.
pub fn shortcuts(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    if ui.ctx().text_edit_focused() {
        return;
    }
    shortcuts::undo_and_redo(ui, DrawAction::Undo, DrawAction::Redo, actions);
    let draws = app.ctx.screen == Screen::Draw;
    let asked_for = ui.input_mut(|input| {
        // As for copying; text on the clipboard arrives as another event.
        let pasted = input.events.iter().find_map(|event| match event {
            Event::PasteImage(image) if draws => Some(DrawAction::PasteImage {
                size: image.size,
                pixels: Arc::new(image.pixels.iter().flat_map(Color32::to_array).collect()),
            }),
            _ => None,
        });
        // What copies is Ctrl+C or a key of its own; either arrives as this event.
        let copied = draws && input.events.contains(&Event::Copy);
        let other_tool = match app.draw.tool {
            Tool::Eraser => Tool::Pen,
            Tool::Pen => Tool::Eraser,
        };
        let settings = &app.ctx.settings;
        [
            (draws && input.consume_shortcut(&CANVAS_CHOICE)).then_some(DrawAction::ChooseCanvas {
                several: !settings.several_digits,
            }),
            input
                .consume_key(Modifiers::NONE, Key::E)
                .then_some(DrawAction::ChooseTool(other_tool)),
            (draws && input.consume_shortcut(&OPEN)).then_some(DrawAction::OpenInDraw),
            pasted,
            (draws && input.consume_shortcut(&STEPS))
                .then_some(DrawAction::ShowSteps(!settings.steps_shown)),
            copied.then_some(DrawAction::CopyImage),
            input
                .consume_shortcut(&SAVE)
                .then_some(DrawAction::SaveDrawing),
            (input.consume_key(Modifiers::NONE, Key::Delete)
                || input.consume_key(Modifiers::NONE, Key::Backspace))
            .then_some(DrawAction::ClearDrawing),
        ]
    });
    actions.extend(asked_for.into_iter().flatten().map(Action::Draw));
}
