//! The My digits screen: the drawings that the person keeps, by digit, what the model in use makes of them, and fine-tuning it on them.

mod fine_tune;
mod tiles;

use eframe::egui::{Align, Button, Label, Layout, RichText, ScrollArea, Ui, containers::menu::MenuButton};

use super::image_sheet::ImageSheet;
use super::{help, style};
use crate::app::{Action, App, Screen};
use crate::run_config::SetFormat;
use crate::text::format::{count, percent};

/// View state of the screen.
#[derive(Debug, Default)]
pub struct MyDigitsScreen {
    /// The images that are shown, and the version of the drawings they belong to.
    sheet: Option<(u64, ImageSheet)>,
}

/// Draws the screen.
pub fn show(ui: &mut Ui, app: &App, view: &mut MyDigitsScreen, actions: &mut Vec<Action>) {
    ui.horizontal(|ui| {
        ui.heading("My digits");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            help::button(ui, help::Topic::MyDigits);
            transfer(ui, app, actions);
        });
    });
    let digits = &app.my_digits;
    if !digits.is_loaded() {
        ui.label("Loading drawings…");
        return;
    }
    if digits.drawings().is_empty() {
        empty(ui, actions);
        return;
    }
    ui.add(Label::new(RichText::new(summary(app)).weak()).wrap());
    if digits.unreadable > 0 {
        style::caution(ui, &unreadable(digits.unreadable));
    }
    fine_tune::show(ui, app, actions);
    ui.add_space(style::GAP / 2.0);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| tiles::show(ui, app, view, actions));
}

/// "50 drawings; Starter model recognises 46 of them (92 %). No 3 or 7 yet."
fn summary(app: &App) -> String {
    let digits = &app.my_digits;
    let drawings = digits.drawings();
    let mut text = count(drawings.len() as u64, "drawing");
    if let Some(model) = &app.model_in_use {
        let name = app.model_name(&model.reference);
        text += &match digits.correct(drawings.iter()) {
            Some(correct) => {
                format!("; {name} recognises {correct} of them ({})", percent(correct as f64 / drawings.len() as f64, 0))
            }
            None => format!("; {name} is recognising them"),
        };
    }
    text += ". They stay on this machine.";
    let missing: Vec<String> = digits.missing().iter().map(u8::to_string).collect();
    if !missing.is_empty() {
        text += &format!(" Still missing: {}.", missing.join(", "));
    }
    text
}

fn unreadable(lines: usize) -> String {
    let lines = count(lines as u64, "line");
    format!("{lines} of the file could not be read, and stay in it.")
}

/// Import, export and undo, from the right.
fn transfer(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let some = !app.my_digits.drawings().is_empty();
    ui.add_enabled_ui(some, |ui| {
        let (menu, _) = MenuButton::new("Export…").ui(ui, |ui| {
            for format in SetFormat::ALL {
                if ui.button(format.label()).clicked() {
                    actions.push(Action::ExportMyDigits(*format));
                    ui.close();
                }
            }
        });
        menu.on_hover_text("Write the drawings as images, tables or ink");
    });
    if ui.button("Import…").on_hover_text("Add the drawings of an ink file with labels").clicked() {
        actions.push(Action::ImportInk);
    }
    let undo = ui.add_enabled(app.my_digits.can_undo(), Button::new("Undo"));
    if undo.on_hover_text("Take back the last drawing that was kept, changed or deleted").clicked() {
        actions.push(Action::UndoKept);
    }
}

fn empty(ui: &mut Ui, actions: &mut Vec<Action>) {
    let body = "Draw each digit five times, which takes a minute. Or in Draw, press Enter when a digit was recognised correctly, and type the digit \
                that it is when it was not. Inkling can then fine-tune its model on your handwriting. Your drawings stay on this machine.";
    style::empty_state(ui, "No drawings yet", body);
    ui.vertical_centered(|ui| {
        if ui.add(style::primary_button(ui, "Draw each digit five times")).clicked() {
            actions.push(Action::Collect);
        }
        ui.add_space(style::GAP / 2.0);
        if ui.add(style::secondary_button("Go to Draw")).clicked() {
            actions.push(Action::Show(Screen::Draw));
        }
    });
}
