//! The run panel: the settings of the next run, and starting, pausing and stopping it. Typed text
//! is held by [`App`].

pub(in crate::window) mod batch_size_search;
mod comparisons;
mod controls;
mod data;
pub(in crate::window) mod descriptions;
pub mod download;
mod fields;
mod more_settings;
mod presets;
pub(in crate::window) mod profile;
mod queue;
pub(in crate::window) mod rate_search;
pub(in crate::window) mod resume_offer;

use eframe::egui::{Label, ScrollArea, Ui};

use crate::run_config::{Augmentation, CnnLayers, ModelKind, Precision};
use crate::window::shell::help;
use crate::window::shell::help::Topic;
use crate::window::style;
use crate::window::{Action, App, Field};

pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    controls::show(ui, app, actions);
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        // Space for the scroll bar, so that it never covers a field.
        ui.set_max_width(ui.available_width() - 8.0);
        if let Some(run) = app.train.run.as_ref().filter(|run| run.is_active()) {
            queue::this_run(ui, run);
        }
        let title = if app.is_training() {
            "Next run: training data"
        } else {
            "Training data"
        };
        help::beside(ui, Topic::Settings, |ui| style::section(ui, title));
        settings(ui, app, actions);
        queue::show(ui, app, actions);
    });
}

fn settings(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    data::show(ui, app, actions);
    style::section(ui, "Preset");
    presets::show(ui, app, actions);
    style::section(ui, "Settings");
    let mut config = app.ctx.config.clone();
    ui.vertical(|ui| fields::initial_weights(ui, app, &mut config));
    let about = descriptions::model(app.ctx.config.model);
    fields::choice(
        ui,
        "Model",
        about,
        &mut config.model,
        ModelKind::ALL,
        ModelKind::label,
        |_| None,
    );
    if !app.ctx.config.model.widths().is_empty() {
        let usual: Vec<String> = app
            .ctx
            .config
            .model
            .widths()
            .iter()
            .map(ToString::to_string)
            .collect();
        fields::open_number(
            ui,
            app,
            Field::Widths,
            "Layer widths",
            &usual.join("-"),
            descriptions::widths(app.ctx.config.model),
            actions,
        );
    }
    if app.ctx.config.model == ModelKind::Cnn {
        let usual = CnnLayers::DEFAULT.to_string();
        fields::layers(ui, app, &usual, descriptions::CNN_LAYERS, actions);
    }
    fields::number(
        ui,
        app,
        Field::Epochs,
        "Epochs",
        "Passes over the training set.",
        actions,
    );
    fields::searched(
        ui,
        app,
        &fields::BATCH_SIZE,
        "Images per optimiser step.",
        actions,
    );
    ui.vertical(|ui| comparisons::show(ui, app, actions));
    let about = format!(
        "Random changes to the training images. {}",
        descriptions::augmentation(app.ctx.config.augmentation)
    );
    fields::choice(
        ui,
        "Augmentation",
        &about,
        &mut config.augmentation,
        Augmentation::ALL,
        Augmentation::label,
        |_| None,
    );
    let offered = app.precisions();
    let about = "The number format of matrix products and convolutions; weights, sums and the loss are always f32.";
    let why_not = |precision| app.why_not_precision(precision);
    let response = fields::choice(
        ui,
        "Precision",
        about,
        &mut config.precision,
        &offered,
        Precision::label,
        why_not,
    );
    fields::below(ui, app, Field::Precision, &response);
    ui.vertical(|ui| {
        if let Some(note) = app.precision_note(app.ctx.config.precision) {
            ui.add(Label::new(style::hint(note)).wrap());
        }
    });
    more_settings::show(ui, app, &mut config, actions);
    ui.add_space(style::GAP / 2.0);
    if config != app.ctx.config {
        actions.push(Action::Configure(Box::new(config)));
    }
}
