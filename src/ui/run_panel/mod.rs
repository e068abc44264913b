//! Owns the run panel: what the next run is, and starting, holding and stopping it.
//! Must not keep values of its own: what is typed lives in [`App`].

mod controls;
mod fields;

use eframe::egui::{CollapsingHeader, Frame, Margin, Panel, RichText, ScrollArea, Ui};

use super::style;
use crate::app::{Action, App, Field};
use crate::run_config::{Activation, DeviceChoice, ModelKind, OptimizerKind, Precision, Preset, RunConfig, ScheduleKind};

/// Draws the panel.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let frame = Frame::new().inner_margin(Margin { top: 8, ..Margin::ZERO });
    Panel::bottom("run controls").frame(frame).show_separator_line(false).show(ui, |ui| controls::show(ui, app, actions));
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Room for the scroll bar, so that it never lies on a field.
        ui.set_max_width(ui.available_width() - 8.0);
        ui.add_enabled_ui(!app.is_training(), |ui| settings(ui, app, actions));
    });
}

fn settings(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    style::section(ui, "What to learn from");
    fields::data(ui, app, actions);
    style::section(ui, "Preset");
    presets(ui, app, actions);
    style::section(ui, "Settings");
    let mut config = app.config.clone();
    fields::choice(ui, "Model", &mut config.model, ModelKind::ALL, ModelKind::label, |_| None)
        .on_hover_text(model_in_words(app.config.model));
    fields::number(ui, app, Field::Epochs, "Epochs", "How often every training picture is looked at.", actions);
    fields::number(ui, app, Field::BatchSize, "Batch size", "Pictures looked at between two corrections of the weights.", actions);
    fields::choice(ui, "Precision", &mut config.precision, Precision::ALL, Precision::label, |precision| app.why_not_precision(precision));
    fields::obstacle(ui, app, Field::Precision);
    fields::choice(ui, "Device", &mut config.device, DeviceChoice::ALL, DeviceChoice::label, |device| app.why_not_device(device));
    fields::obstacle(ui, app, Field::Device);
    fields::number(ui, app, Field::Seed, "Seed", "Where all randomness comes from: the same seed gives the same run.", actions);
    let unusual = [Field::LearningRate, Field::WeightDecay];
    let wrong = app.obstacles().iter().any(|obstacle| unusual.contains(&obstacle.field));
    CollapsingHeader::new("More").open(wrong.then_some(true)).show_unindented(ui, |ui| {
        fields::choice(ui, "Activation", &mut config.activation, Activation::ALL, Activation::label, |_| None)
            .on_hover_text("What bends the sums between two layers: without it, many layers could do no more than one.");
        fields::choice(ui, "Optimiser", &mut config.optimizer, OptimizerKind::ALL, OptimizerKind::label, |_| None)
            .on_hover_text("How the weights follow the gradients.");
        fields::number(ui, app, Field::LearningRate, "Learning rate", "The largest step along the gradient.", actions);
        fields::number(ui, app, Field::WeightDecay, "Weight decay", "How strongly weights are drawn towards zero.", actions);
        fields::choice(ui, "Schedule", &mut config.schedule, ScheduleKind::ALL, ScheduleKind::label, |_| None)
            .on_hover_text("How the learning rate moves over the run.");
    });
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
                if response.on_hover_text(preset_in_words(preset)).clicked() {
                    actions.push(Action::ApplyPreset(preset));
                }
            }
        });
    }
    let words = app.config.preset.map_or("Settings of your own; no preset has them.".to_owned(), preset_in_words);
    ui.label(style::hint(words));
}

/// What a preset is good for, and what it is.
pub(super) fn preset_in_words(preset: Preset) -> String {
    let about = match preset {
        Preset::QuickLook => "The smallest run worth watching.",
        Preset::Speedrun => "About 99 % on MNIST in a single epoch.",
        Preset::Balanced => "Accurate in a few minutes.",
        Preset::Best => "More epochs for the last tenths of a percent.",
    };
    let RunConfig { model, epochs, .. } = RunConfig::preset(preset);
    format!("{about} {}, {epochs} {}.", model.label(), if epochs == 1 { "epoch" } else { "epochs" })
}

fn model_in_words(model: ModelKind) -> RichText {
    RichText::new(match model {
        ModelKind::Mlp => "Two hidden layers of 256 neurons, no convolution. The smallest and quickest.",
        ModelKind::LeNet => "LeNet-5 (LeCun et al. 1998), the classic that read cheques; with ReLU.",
        ModelKind::ConvNet => {
            "Two convolutions (32 and 64 filters, 5 x 5), a layer of 1024 and dropout. The most accurate, and the slowest."
        }
        ModelKind::Speedrun => "Two small convolutions and a layer of 256, built to reach 99 % in one epoch.",
    })
}
