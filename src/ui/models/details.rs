//! The details of one model: results, settings, and the buttons to use it.

use std::path::PathBuf;

use eframe::egui::{Align, Button, Grid, Label, Layout, RichText, Ui, vec2};

use super::{ModelsView, accuracy_plot, confirm_delete, export, heading, repeats};
use crate::app::messages::Message;
use crate::app::{Action, App, NOT_TRAINABLE, Screen};
use crate::math::statistics::wilson_interval;
use crate::problem::Problem;
use crate::records::{Ensemble, ModelRef, RunSummary};
use crate::run_config::DataSource;
use crate::runs::{Repeats, RunEntry};
use crate::text::format::{count, duration, file_size, grouped, percent};
use crate::text::visible;
use crate::ui::style;

/// The Export button's tooltip.
const EXPORT: &str = "Export as ONNX, PyTorch, safetensors, a candle program, a model card or a report";

/// What the button says of a model that could recognise drawings, and of the one that does.
pub const USE: &str = "Use for drawing";
pub const IN_USE: &str = "In use for drawing";

/// From this width on, in points, the settings stand beside the results.
const TWO_COLUMNS: f32 = 940.0;

/// The settings' share of the width beside the results, and their least width in points.
const SETTINGS_SHARE: f32 = 0.3;
const SETTINGS_WIDTH: f32 = 380.0;

/// The starter model.
pub fn starter(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    ui.heading(app.model_name(&ModelRef::Starter));
    ui.label("A small model, included with Inkling so that you can draw before training a model of your own.");
    ui.add_space(style::GAP / 2.0);
    if let Some(reader) = &app.starter_model {
        facts(ui, "starter facts", |fact| {
            fact("Network", reader.network.label());
            fact("Training data", reader.data.label());
            fact("Parameters", grouped(reader.parameters));
            if let Some(accuracy) = reader.validation_accuracy {
                fact("Validation accuracy", percent(f64::from(accuracy), 2));
            }
        });
        ui.add_space(style::GAP / 2.0);
    }
    ui.horizontal_wrapped(|ui| {
        use_button(ui, app, ModelRef::Starter, actions);
        if ui.button("Export…").on_hover_text(EXPORT).clicked() {
            actions.push(Action::OpenExport(ModelRef::Starter));
        }
    });
    if let Some(reader) = &app.starter_model {
        export::show(ui, app, (&ModelRef::Starter, reader.network.model()), actions);
    }
}

/// The button that has this model recognise drawings, or that says that it does; both lead to the canvas.
fn use_button(ui: &mut Ui, app: &App, model: ModelRef, actions: &mut Vec<Action>) {
    if app.is_in_use(&model) {
        if ui.button(IN_USE).on_hover_text("Go to Draw").clicked() {
            actions.push(Action::Show(Screen::Draw));
        }
    } else if ui.add(style::primary_button(ui, USE)).clicked() {
        actions.push(Action::DrawWith(model));
    }
}

/// What the button that draws with this ensemble says, and what it is for.
pub fn ensemble_button(ensemble: &Ensemble) -> (String, &'static str) {
    match ensemble.dropout_passes {
        None if ensemble.is_posterior() => (
            format!("Use {} posterior samples", ensemble.models.len()),
            "Average the probabilities of the samples of the weights that Langevin dynamics drew. Draw shows how much they disagree, and so how unsure the model is",
        ),
        None => (
            format!("Use all {} together", ensemble.models.len()),
            "Average the probabilities of these models. Draw shows how much they disagree, and so how unsure they are",
        ),
        Some(_) => (
            "Use with dropout".to_owned(),
            "Keep dropout on, and average 50 predictions (Monte Carlo dropout). Draw shows how much they disagree, and so how unsure the model is",
        ),
    }
}

/// A run that cannot be loaded, and why.
pub fn broken(ui: &mut Ui, entry: &RunEntry, problem: &Problem, confirming: &mut Option<PathBuf>, actions: &mut Vec<Action>) {
    ui.heading("This run cannot be loaded");
    let message = Message::from(problem);
    ui.label(message.what);
    if !message.remedy.is_empty() {
        ui.label(RichText::new(message.remedy).weak());
    }
    ui.add(Label::new(RichText::new(visible::path(&entry.folder)).weak()).wrap());
    ui.horizontal(|ui| {
        if ui.button("Open folder").clicked() {
            actions.push(Action::OpenFolder(entry.folder.clone()));
        }
        if ui.button("Delete…").clicked() {
            *confirming = Some(entry.folder.clone());
        }
    });
    before_deleting(ui, entry, || "Delete this run's folder?".to_owned(), confirming, actions);
}

/// A finished run.
pub fn run(
    ui: &mut Ui,
    app: &App,
    runs: &[RunEntry],
    entry: &RunEntry,
    summary: &RunSummary,
    view: &mut ModelsView,
    actions: &mut Vec<Action>,
) {
    heading::show(ui, entry, summary, view, actions);
    ui.add_space(style::GAP / 2.0);
    buttons(ui, app, entry, summary, &mut view.confirming, actions);
    export::show(ui, app, (&ModelRef::File(summary.model_path.clone()), summary.config.model), actions);
    ui.add_space(style::GAP);
    repeats::show(ui, runs, entry, summary, &mut view.selected);
    let curve = app.thumbnail(&entry.folder);
    let results = |ui: &mut Ui| {
        figures(ui, summary);
        ui.add_space(style::GAP);
        accuracy_plot::show(ui, summary, curve);
    };
    // How imported weights were trained is not known.
    if summary.epochs.is_empty() {
        results(ui);
    } else if ui.available_width() >= TWO_COLUMNS {
        ui.horizontal_top(|ui| {
            let settings_width = (ui.available_width() * SETTINGS_SHARE).max(SETTINGS_WIDTH);
            let results_width = ui.available_width() - settings_width - style::GAP * 3.0;
            column(ui, results_width, results);
            ui.add_space(style::GAP);
            column(ui, settings_width, |ui| settings(ui, summary));
        });
    } else {
        results(ui);
        ui.add_space(style::GAP / 2.0);
        settings(ui, summary);
    }
    ui.add_space(style::GAP / 2.0);
    ui.add(Label::new(RichText::new(visible::path(&entry.folder)).weak().small()).wrap().selectable(true));
}

/// A column of this width.
fn column(ui: &mut Ui, width: f32, fill: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(vec2(width, 0.0), Layout::top_down(Align::Min), |ui| {
        ui.set_width(width);
        fill(ui);
    });
}

fn buttons(ui: &mut Ui, app: &App, entry: &RunEntry, summary: &RunSummary, confirming: &mut Option<PathBuf>, actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        use_button(ui, app, ModelRef::File(summary.model_path.clone()), actions);
        for ensemble in app.ensembles_of(summary) {
            let (label, about) = ensemble_button(&ensemble);
            if ui.button(label).on_hover_text(about).clicked() {
                actions.push(Action::DrawWith(ModelRef::Ensemble(ensemble)));
            }
        }
        if !summary.epochs.is_empty() {
            let curves = ui.add_enabled(!app.is_training(), Button::new("Curves"));
            let about = "Loss and accuracy during training, on the Train screen";
            if curves.on_hover_text(about).on_disabled_hover_text("Unavailable while a run is in progress").clicked() {
                actions.push(Action::ShowCurves(entry.folder.clone()));
            }
        }
        if ui.button("Results").on_hover_text("Accuracy, confusion matrix and misclassified images").clicked() {
            actions.push(Action::ShowResults(entry.folder.clone()));
        }
        let about = "Curves, settings and accuracies of this model beside those of others, and whether one of them is better";
        if ui.button("Compare…").on_hover_text(about).clicked() {
            actions.push(Action::OpenComparison(entry.folder.clone()));
        }
        if ui.button("Export…").on_hover_text(EXPORT).clicked() {
            actions.push(Action::OpenExport(ModelRef::File(summary.model_path.clone())));
        }
        let about = "Set up a run that starts from these weights, at a tenth of the learning rate, on any data set";
        let is_trainable = summary.config.model.is_trainable();
        let why_not = if is_trainable { "Unavailable while training is in progress" } else { NOT_TRAINABLE };
        let fine_tune = ui.add_enabled(is_trainable && !app.is_training(), Button::new("Fine-tune"));
        if fine_tune.on_hover_text(about).on_disabled_hover_text(why_not).clicked() {
            actions.push(Action::TrainFurther(entry.folder.clone()));
        }
        if !summary.epochs.is_empty() && ui.button("Reuse settings").clicked() {
            actions.push(Action::Configure(Box::new(summary.config.clone())));
            actions.push(Action::Show(Screen::Train));
        }
        if !summary.epochs.is_empty() {
            let reproduce = ui.add_enabled(!app.is_training() && !app.is_sweeping(), Button::new("Reproduce"));
            let about = "Train it again with the same settings and seed, and see whether the weights come out the same, bit for bit";
            if reproduce.on_hover_text(about).on_disabled_hover_text("Unavailable while a run or a sweep is in progress").clicked() {
                actions.push(Action::Reproduce(entry.folder.clone()));
            }
        }
        if ui.button("Open folder").clicked() {
            actions.push(Action::OpenFolder(entry.folder.clone()));
        }
        if ui.button("Delete…").clicked() {
            *confirming = Some(entry.folder.clone());
        }
    });
    let question = || {
        let together = app.runs.as_deref().and_then(|runs| Repeats::of(runs, summary)).map_or(1, |repeats| repeats.runs().len());
        let of = if together > 1 { format!(", one of {together} with different seeds,") } else { String::new() };
        format!("Delete this run{of} with its model, settings and training history?")
    };
    before_deleting(ui, entry, question, confirming, actions);
}

/// The confirmation, while this run's deletion waits for it.
fn before_deleting(
    ui: &mut Ui,
    entry: &RunEntry,
    question: impl FnOnce() -> String,
    confirming: &mut Option<PathBuf>,
    actions: &mut Vec<Action>,
) {
    if confirming.as_ref() != Some(&entry.folder) {
        return;
    }
    style::card(ui).show(ui, |ui| {
        ui.label(question());
        ui.horizontal(|ui| {
            if confirm_delete::buttons(ui, "Delete", confirming) {
                actions.push(Action::DeleteRun(entry.folder.clone()));
            }
        });
    });
}

fn figures(ui: &mut Ui, summary: &RunSummary) {
    // Validation images come from every data set, test images from the first: of a mixed one they are not the same measure.
    let mixed = summary.config.data.sources().len() > 1;
    let measured_on = |data: String| if mixed { format!(", on {data}") } else { String::new() };
    facts(ui, "figures", |fact| {
        if let Some(test) = &summary.test {
            let right = (test.accuracy * test.images as f64).round() as u64;
            let (low, high) = wilson_interval(right, test.images);
            let test_set = summary.config.data.sources().first().map(DataSource::label).unwrap_or_default();
            let value = format!("{} (95 % CI {} to {})", percent(test.accuracy, 2), percent(low, 2), percent(high, 2));
            fact("Test accuracy", value + &measured_on(test_set));
        } else {
            let stopped = if summary.stopped { " because the run was stopped" } else { "" };
            fact("Test accuracy", format!("not evaluated{stopped}; open Results to evaluate it"));
        }
        if let Some(record) = summary.kept() {
            fact("Validation accuracy", percent(f64::from(record.validation_accuracy), 2) + &measured_on(summary.config.data.label()));
        }
        fact("Parameters", grouped(summary.plan.parameters));
        // Weights are stored as 32-bit floats in every precision.
        fact("Model size", file_size(summary.plan.parameters * 4));
        if !summary.epochs.is_empty() {
            fact("Training time", duration(summary.train_seconds));
            fact("Throughput", format!("{} images/s", grouped(summary.images_per_second.max(0.0).round() as u64)));
        }
        if !summary.machine.is_empty() {
            fact("Machine", visible::label(&summary.machine));
        }
    });
}

fn settings(ui: &mut Ui, summary: &RunSummary) {
    ui.label(RichText::new("Settings").strong());
    let (config, plan) = (&summary.config, &summary.plan);
    facts(ui, "settings", |fact| {
        fact("Data", config.data.label());
        fact("Images", format!("{} for training, {} for validation", grouped(plan.train_images), grouped(plan.validation_images)));
        fact("Preset", config.preset.map_or_else(|| "custom settings".to_owned(), |preset| preset.label().to_owned()));
        for (name, value) in config.training_settings() {
            // What is turned off is left out.
            if let Some(value) = value {
                fact(name, value);
            }
        }
        fact("Device", format!("{}, {}", plan.device.label(), count(plan.threads.into(), "thread")));
        fact("Precision", plan.precision.label().to_owned());
        fact("Seed", config.seed.to_string());
    });
}

/// A table of names and values.
fn facts(ui: &mut Ui, id: &str, fill: impl FnOnce(&mut dyn FnMut(&str, String))) {
    Grid::new(id).num_columns(2).spacing(vec2(style::GAP, 4.0)).show(ui, |ui| {
        fill(&mut |name: &str, value: String| {
            ui.label(RichText::new(name).weak());
            ui.add(Label::new(value).wrap());
            ui.end_row();
        });
    });
}
