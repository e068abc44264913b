//! Owns the card that says where NVIDIA's libraries are looked for, and lets a person choose. Must not look for them; it returns actions.

use eframe::egui::{Label, RichText, Ui};

use crate::app::{Action, App};
use crate::device::HAS_CUDA;
use crate::ui::style;

/// Draws it where it matters: in a version that computes on NVIDIA GPUs, on a machine that has one.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let has_gpu = app.hardware.as_ref().is_some_and(|hardware| !hardware.gpus.is_empty());
    if HAS_CUDA && (has_gpu || app.settings.cuda_folder.is_some()) {
        card(ui, app, actions);
    }
}

/// The card.
pub fn card(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let chosen = app.settings.cuda_folder.as_ref();
    style::card(ui).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 3.0;
        ui.label(style::hint("Folder of NVIDIA's libraries"));
        let place = chosen.map_or_else(|| "The usual places".to_owned(), |folder| folder.display().to_string());
        ui.add(Label::new(RichText::new(place).strong()).wrap());
        // One line or the other, in a place of its own: nothing below it moves the keyboard.
        ui.vertical(|ui| {
            let first = "Looked in first, then in the usual places.";
            let usual = "Those of the system, of CUDA and of Python's packages are searched.";
            let words = if app.looking_for_cuda { "Looking…" } else { chosen.map_or(usual, |_| first) };
            ui.add(Label::new(RichText::new(words).weak()).wrap());
        });
        ui.add_space(4.0);
        ui.horizontal_wrapped(|ui| {
            let about = "The folder that holds libcublas, libcublasLt and libcurand, if they are in an unusual place";
            if ui.button("Choose a folder…").on_hover_text(about).clicked() {
                actions.push(Action::ChooseCudaFolder);
            }
            if chosen.is_some() && ui.button("Use the usual places").clicked() {
                actions.push(Action::UseCudaFolder(None));
            }
        });
    });
}
