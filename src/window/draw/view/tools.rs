//! The row of tools for the canvas: undo, redo, eraser, clear, save, pen width.

use crate::settings::PEN;
use std::sync::Arc;

use eframe::egui::{
    Align, Color32, Event, Key, KeyboardShortcut, Layout, Modifiers, Response, Role, Slider, Ui,
    WidgetInfo, vec2,
};

use crate::window::shell::shortcuts;
use crate::window::style::icons::Icon;
use crate::window::{Action, App, DrawAction, Drawing, Pushes as _, Screen, Tool, style};

/// Switches between the canvas for one digit and the one for several.
pub const CANVAS_CHOICE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::D);
pub const OPEN: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::O);
/// Shows or folds away the steps from the drawing to the model's input.
pub const STEPS: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::I);
const SAVE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::S);
/// From this width on, in points, the tools have a long slider.
const ROOMY: f32 = 560.0;

/// Draws the tools; the compact row leaves out files and the pen's width.
pub fn show(ui: &mut Ui, app: &App, compact: bool, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        let drawing = if compact {
            &app.draw.one
        } else {
            app.draw.drawing_shown(&app.ctx)
        };
        let is_image = !compact && app.draw.image_shown(&app.ctx).is_some();
        let has_ink = !drawing.strokes().is_empty();
        undo_and_redo(ui, app, compact, drawing, actions);
        eraser(ui, app, has_ink, actions);
        let about = "Clear the canvas (Delete); Undo restores the drawing";
        tool(ui, Icon::Clear, "Clear", about, has_ink || is_image)
            .pushes(actions, || DrawAction::ClearDrawing);
        if compact {
            return;
        }
        style::divider(ui);
        let open = format!(
            "Open an image or a drawing to recognize it ({}); or drop or paste it here",
            ui.ctx().format_shortcut(&OPEN)
        );
        tool(ui, Icon::Folder, "Open…", &open, true).pushes(actions, || DrawAction::OpenInDraw);
        let save = format!(
            "Save the drawing as an ink file, which Inkling and the command inkling predict can open ({})",
            ui.ctx().format_shortcut(&SAVE)
        );
        tool(ui, Icon::Save, "Save drawing…", &save, has_ink && !is_image)
            .pushes(actions, || DrawAction::SaveDrawing);
        style::divider(ui);
        let mut width = drawing.pen;
        let is_roomy = ui.max_rect().width() >= ROOMY;
        ui.spacing_mut().slider_width = if is_roomy { 110.0 } else { 56.0 };
        let slider = Slider::new(&mut width, PEN).show_value(false).step_by(1.0);
        let response = ui
            .add(slider)
            .accessible_name("Pen")
            .on_hover_text("Width of the pen; the eraser grows with it");
        if response.changed() {
            actions.push(DrawAction::SetPen(width).into());
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            canvas_choice(ui, app, actions);
        });
    });
}

fn undo_and_redo(
    ui: &mut Ui,
    app: &App,
    compact: bool,
    drawing: &Drawing,
    actions: &mut Vec<Action>,
) {
    let keys = |shortcut| ui.ctx().format_shortcut(shortcut);
    let undo = format!("Undo the last change ({})", keys(&shortcuts::UNDO));
    let redo = format!("Redo it ({})", keys(&shortcuts::REDO));
    let can_undo = drawing.can_undo() || !compact && app.draw.can_undo_image(&app.ctx);
    let can_redo = drawing.can_redo() || !compact && app.draw.can_redo_image();
    tool(ui, Icon::Undo, "Undo", &undo, can_undo).pushes(actions, || DrawAction::Undo);
    tool(ui, Icon::Redo, "Redo", &redo, can_redo).pushes(actions, || DrawAction::Redo);
}

fn eraser(ui: &mut Ui, app: &App, has_ink: bool, actions: &mut Vec<Action>) {
    let erasing = app.draw.tool == Tool::Eraser;
    let button = style::icon_button(Icon::Eraser).selected(erasing);
    let eraser = ui
        .add_enabled(has_ink, button)
        .on_disabled_hover_text("There is nothing to erase")
        .on_hover_text("Take ink away instead of drawing (E); the right mouse button always does");
    eraser.widget_info(|| WidgetInfo::selected(Role::Button, has_ink, erasing, "Eraser"));
    let other = if erasing { Tool::Pen } else { Tool::Eraser };
    eraser.pushes(actions, || DrawAction::ChooseTool(other));
}

/// Draws a tool, with what it does as a hint.
fn tool(ui: &mut Ui, icon: Icon, name: &str, about: &str, possible: bool) -> Response {
    ui.add_enabled(possible, style::icon_button(icon))
        .accessible_name(name)
        .on_hover_text(about)
}

/// The choice between the canvas for one digit and the one for several.
fn canvas_choice(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let keys = ui.ctx().format_shortcut(&CANVAS_CHOICE);
    ui.spacing_mut().item_spacing.x = 2.0;
    for (several, name, sign, about) in [
        (
            true,
            "Several digits",
            "123",
            "A wide canvas for several digits, which are read from left to right",
        ),
        (false, "One digit", "1", "A canvas for one digit"),
    ] {
        let chosen = app.ctx.settings.several_digits == several;
        let response = ui.add(style::toggle(sign, chosen).min_size(vec2(36.0, 28.0)));
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
        // Ctrl+C and a dedicated Copy key both arrive as this event.
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
            (draws && input.consume_key(Modifiers::NONE, Key::W))
                .then_some(DrawAction::ShowWhy(!app.draw.why.shown)),
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
