//! The run panel: the settings of the next run, and starting, pausing and stopping it. Typed text is held by [`App`].

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
        // Space for the scroll bar, so that it never covers a field.
        ui.set_max_width(ui.available_width() - 8.0);
        // Help stays available while the settings are disabled.
        help::beside(ui, Topic::Settings, |ui| style::section(ui, "Training data"));
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
    fields::number(ui, app, Field::Epochs, "Epochs", "Passes over the training set.", actions);
    fields::number(ui, app, Field::BatchSize, "Batch size", "Images per optimiser step.", actions);
    ui.vertical(|ui| comparisons::show(ui, app, actions));
    fields::choice(ui, "Augmentation", &mut config.augmentation, Augmentation::ALL, Augmentation::label, |_| None)
        .on_hover_text(format!("Random changes to the training images. {}", descriptions::augmentation(app.config.augmentation)));
    let offered = app.precisions();
    fields::choice(ui, "Precision", &mut config.precision, &offered, Precision::label, |precision| app.why_not_precision(precision))
        .on_hover_text("The number format of matrix products and convolutions; weights, sums and the loss are always f32.");
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
    // In a scope of their own, so that lines that come and go do not move the keyboard focus.
    ui.vertical(|ui| {
        let about = app.config.preset.map_or("Custom settings.".to_owned(), descriptions::preset);
        ui.label(style::hint(about));
        if let Some(time) = app.expected_time() {
            ui.label(style::hint(time)).on_hover_text("Estimated from benchmark results or earlier runs on this machine");
        }
        if let Some((text, fits)) = app.expected_memory() {
            let about = "Estimate: images, weights, optimiser state and activations";
            let response = if fits { ui.label(style::hint(text)) } else { style::invalid(ui, &text) };
            response.on_hover_text(about);
        } else if let Some(bytes) = app.memory_needed(&app.config) {
            // Shown from the first frame, so that nothing moves once the hardware has been detected.
            ui.label(style::hint(format!("Needs about {} of memory.", memory(bytes))));
        }
    });
}
