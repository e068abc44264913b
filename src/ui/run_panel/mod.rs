//! Owns the run panel: what the next run is, and starting, holding and stopping it.
//! Must not keep values of its own: what is typed lives in [`App`].

mod comparisons;
mod controls;
pub(super) mod descriptions;
mod fields;
mod more_settings;

use eframe::egui::{Label, ScrollArea, Ui};

use super::help::{self, Topic};
use super::style;
use crate::app::{Action, App, Field};
use crate::run_config::{Augmentation, ModelKind, Precision, Preset};
use crate::text::format::memory;

/// Draws the panel.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    controls::show(ui, app, actions);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Room for the scroll bar, so that it never lies on a field.
        ui.set_max_width(ui.available_width() - 8.0);
        // Help is there while nothing can be changed, too.
        help::beside(ui, Topic::Settings, |ui| style::section(ui, "What to learn from"));
        ui.add_enabled_ui(!app.is_training(), |ui| settings(ui, app, actions));
    });
}

fn settings(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    fields::data(ui, app, actions);
    style::section(ui, "Preset");
    presets(ui, app, actions);
    style::section(ui, "Settings");
    let mut config = app.config.clone();
    ui.vertical(|ui| fields::initial_weights(ui, app, &mut config));
    fields::choice(ui, "Model", &mut config.model, ModelKind::ALL, ModelKind::label, |_| None)
        .on_hover_text(descriptions::model(app.config.model));
    fields::number(ui, app, Field::Epochs, "Epochs", "How often every training picture is looked at.", actions);
    fields::number(ui, app, Field::BatchSize, "Batch size", "Pictures looked at between two corrections of the weights.", actions);
    ui.vertical(|ui| comparisons::show(ui, app, actions));
    fields::choice(ui, "Vary pictures", &mut config.augmentation, Augmentation::ALL, Augmentation::label, |_| None)
        .on_hover_text(format!("Augmentation. {}", descriptions::augmentation(app.config.augmentation)));
    let offered = app.precisions();
    fields::choice(ui, "Precision", &mut config.precision, &offered, Precision::label, |precision| app.why_not_precision(precision))
        .on_hover_text("The number format products are computed in; weights, sums and the loss are f32 in each.");
    fields::obstacle(ui, app, Field::Precision);
    ui.vertical(|ui| {
        if let Some(note) = app.precision_note(app.config.precision) {
            ui.add(Label::new(style::hint(note)).wrap());
        }
    });
    more_settings::show(ui, app, &mut config, actions);
    ui.add_space(style::GAP / 2.0);
    if config != app.config {
        actions.push(Action::Configure(Box::new(config)));
    }
}

fn presets(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let gap = ui.spacing().item_spacing.x;
    let width = (ui.available_width() - gap) / 2.0;
    for row in Preset::ALL.chunks(2) {
        ui.horizontal(|ui| {
            for &preset in row {
                let chosen = app.config.preset == Some(preset);
                let response = ui.add(style::toggle(ui, preset.label(), chosen).min_size([width, 30.0].into()));
                if response.on_hover_text(descriptions::preset(preset)).clicked() {
                    actions.push(Action::ApplyPreset(preset));
                }
            }
        });
    }
    // In a box of their own: what comes and goes here must not change which field the keyboard is on.
    ui.vertical(|ui| {
        let words = app.config.preset.map_or("Settings of your own; no preset has them.".to_owned(), descriptions::preset);
        ui.label(style::hint(words));
        if let Some(time) = app.expected_time() {
            ui.label(style::hint(time)).on_hover_text("From what was measured on this machine, the epochs and the pictures to learn from");
        }
        if let Some((words, fits)) = app.expected_memory() {
            let about = "An estimate: the pictures, the weights with what the optimiser keeps of them, and the layers' results at work";
            let response = if fits { ui.label(style::hint(words)) } else { style::invalid(ui, &words) };
            response.on_hover_text(about);
        } else if let Some(bytes) = app.memory_needed(&app.config) {
            // The line is there from the first frame, so that nothing moves under the pointer once the machine was looked at.
            ui.label(style::hint(format!("Takes about {} of memory.", memory(bytes))));
        }
    });
}
