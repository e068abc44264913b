//! The card that shows where NVIDIA's libraries are searched for, and lets the person choose a
//! folder.

use eframe::egui::{Label, RichText, Ui};

use crate::device::HAS_CUDA;
use crate::text::visible;
use crate::window::style;
use crate::window::{Action, App};

/// Draws the card where it matters: in a build with CUDA, on a machine with an NVIDIA GPU.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let has_gpu = app
        .ctx
        .hardware
        .as_ref()
        .is_some_and(|hardware| !hardware.gpus.is_empty());
    if HAS_CUDA && (has_gpu || app.ctx.settings.cuda_folder.is_some()) {
        card(ui, app, actions);
    }
}

pub fn card(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let chosen = app.ctx.settings.cuda_folder.as_ref();
    style::card(ui).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 3.0;
        ui.label(style::hint("NVIDIA libraries"));
        let place = chosen.map_or_else(|| "Standard locations".to_owned(), |folder| visible::path(folder));
        ui.add(Label::new(RichText::new(place).strong()).wrap());
        // In a scope of its own, so that a change of text does not move the keyboard focus.
        ui.vertical(|ui| {
            let first = "Searched first, then the standard locations.";
            let usual = "The folders of the system, the CUDA Toolkit and Python packages are searched.";
            let status = if app.machine.looking_for_cuda { "Searching…" } else { chosen.map_or(usual, |_| first) };
            ui.add(Label::new(RichText::new(status).weak()).wrap());
        });
        ui.add_space(4.0);
        ui.horizontal_wrapped(|ui| {
            let about = "The folder that contains libcublas, libcublasLt and libcurand, if they are not in a standard location";
            if ui.button("Choose a folder…").on_hover_text(about).clicked() {
                actions.push(Action::ChooseCudaFolder);
            }
            if chosen.is_some() && ui.button("Use standard locations").clicked() {
                actions.push(Action::UseCudaFolder(None));
            }
        });
    });
}
