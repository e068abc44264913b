//! The details of one model: its title on one line, when and how it was trained, results, settings,
//! and the buttons to use it.

use std::path::PathBuf;

use eframe::egui::{Align, Label, Layout, Response, RichText, Role, Sense, Ui, WidgetInfo, vec2};

use super::{ModelsView, Shown, curves, export, list, offers};
use crate::math::statistics::wilson_interval;
use crate::problem::Problem;
use crate::records::{
    Accuracy, Annotation, LearningRateChange, ModelRef, RunSummary, SplitEvaluation,
};
use crate::runs::{Repeats, RunEntry};
use crate::text::format::{count, duration, file_size, grouped, local_time, percent};
use crate::text::visible;
use crate::window::style;
use crate::window::style::icons::Icon;
use crate::window::{Action, App, ModelsAction, Pushes as _};

/// From this width on, in points, the settings stand beside the results.
const TWO_COLUMNS: f32 = 940.0;

/// The settings' fraction of the width beside the results, and their least width in points.
const SETTINGS_FRACTION: f32 = 0.3;
const SETTINGS_WIDTH: f32 = 380.0;

pub fn starter(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    title(ui, &app.model_name(&ModelRef::Starter));
    ui.horizontal(|ui| offers::buttons(ui, &offers::of_any(&ModelRef::Starter), actions));
    ui.add_space(style::GAP / 2.0);
    ui.label("A small model, included with Inkling so that you can draw before training a model of your own.");
    let Some(reader) = &app.ctx.starter_model else {
        return;
    };
    export::show(ui, app, &ModelRef::Starter, reader.network.model(), actions);
    ui.add_space(style::GAP / 2.0);
    style::facts(ui, "starter facts", |fact| {
        if let Some(accuracy) = &reader.accuracy {
            fact(accuracy.name(), on_images(accuracy));
        }
        fact("Network", reader.network.label());
        fact("Training data", reader.data.label());
        fact("Parameters", grouped(reader.parameters));
    });
}

/// A run that cannot be loaded, and why.
pub fn broken(
    ui: &mut Ui,
    entry: &RunEntry,
    problem: &Problem,
    confirming: &mut Option<PathBuf>,
    actions: &mut Vec<Action>,
) {
    title(ui, "This run cannot be loaded");
    ui.horizontal(|ui| {
        ui.add(style::secondary_button("Open folder"))
            .pushes(actions, || Action::OpenFolder(entry.folder.clone()));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if ui.add(style::danger_button("Delete…")).clicked() {
                *confirming = Some(entry.folder.clone());
            }
        });
    });
    let question = || "Delete this run's folder?".to_owned();
    before_deleting(ui, entry, question, confirming, actions);
    ui.add_space(style::GAP / 2.0);
    ui.label(&problem.message.what);
    if !problem.message.remedy.is_empty() {
        ui.weak(&problem.message.remedy);
    }
    style::weak(ui, visible::path(&entry.folder));
}

pub fn run(ui: &mut Ui, shown: Shown, view: &mut ModelsView, actions: &mut Vec<Action>) {
    let Shown {
        app,
        runs,
        entry,
        summary,
    } = shown;
    title_with_star(ui, entry, actions);
    offers::of_run(ui, shown, view, actions);
    let question = || {
        let together = Repeats::of(runs, summary).map_or(1, |repeats| repeats.runs().len());
        let of = if together > 1 {
            format!(", one of {together} with different seeds,")
        } else {
            String::new()
        };
        format!("Delete this run{of} with its model, settings and training history?")
    };
    before_deleting(ui, entry, question, &mut view.confirming, actions);
    about_run(ui, entry, summary, view);
    let model = ModelRef::File(summary.model_path.clone());
    export::show(ui, app, &model, summary.config.model, actions);
    ui.add_space(style::GAP);
    curves::repeats(ui, runs, entry, summary, &mut view.selected);
    let curve = app.models.thumbnail(&entry.folder);
    let results = |ui: &mut Ui| {
        figures(ui, summary);
        ui.add_space(style::GAP);
        curves::accuracy_plot(ui, summary, curve);
    };
    // How imported weights were trained is not known.
    if summary.epochs.is_empty() {
        results(ui);
    } else if ui.available_width() >= TWO_COLUMNS {
        ui.horizontal_top(|ui| {
            let settings_width = (ui.available_width() * SETTINGS_FRACTION).max(SETTINGS_WIDTH);
            let results_width = ui.available_width() - settings_width - style::GAP * 3.0;
            style::wide_column(ui, vec2(results_width, 0.0), results);
            ui.add_space(style::GAP);
            style::wide_column(ui, vec2(settings_width, 0.0), |ui| settings(ui, summary));
        });
    } else {
        results(ui);
        ui.add_space(style::GAP / 2.0);
        settings(ui, summary);
    }
    ui.add_space(style::GAP / 2.0);
    let folder = RichText::new(visible::path(&entry.folder)).weak().small();
    ui.add(Label::new(folder).wrap().selectable(true));
}

/// The confirmation, while this run's deletion waits for it.
fn before_deleting(
    ui: &mut Ui,
    entry: &RunEntry,
    question: impl FnOnce() -> String,
    confirming: &mut Option<PathBuf>,
    actions: &mut Vec<Action>,
) {
    if confirming.as_ref() == Some(&entry.folder) {
        style::card(ui).show(ui, |ui| {
            ui.label(question());
            ui.horizontal(|ui| {
                if list::confirm_delete(ui, "Delete", confirming) {
                    actions.push(ModelsAction::DeleteRun(entry.folder.clone()).into());
                }
            });
        });
    }
}

/// "99.32% on MNIST, 10,000 images (likely 99.14% to 99.46%)".
fn on_images(accuracy: &Accuracy) -> String {
    let interval = interval(accuracy);
    let interval = if interval.is_empty() {
        interval
    } else {
        format!(" ({interval})")
    };
    let (value, images) = (accuracy.percent(), accuracy.measured_on());
    format!("{value} on {images}{interval}")
}

/// "likely 99.14% to 99.46%", the 95% confidence interval; empty if it is not known on how many images it was measured.
fn interval(accuracy: &Accuracy) -> String {
    accuracy.images.map_or_else(String::new, |images| {
        let (low, high) = wilson_interval((accuracy.value * images as f64).round() as u64, images);
        format!("likely {} to {}", percent(low, 2), percent(high, 2))
    })
}

fn figures(ui: &mut Ui, summary: &RunSummary) {
    let plan = &summary.plan;
    let test = summary.test.as_ref().map(SplitEvaluation::accuracy);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(style::GAP * 3.0, style::GAP);
        if let Some(test) = &test {
            let about = "Fraction of test images classified correctly, with its 95% confidence interval (Wilson score)";
            style::figure(ui, "Test accuracy", &test.percent(), &interval(test)).on_hover_text(about);
        }
        style::figure(
            ui,
            "Parameters",
            &grouped(plan.parameters),
            "weights and biases",
        );
        // Weights are stored as 32-bit floats in every precision.
        let size = file_size(plan.parameters * 4);
        style::figure(ui, "Model size", &size, "in 32-bit floats");
        if !summary.epochs.is_empty() {
            let time = duration(summary.train_seconds);
            let rate = grouped(summary.images_per_second.max(0.0).round() as u64);
            style::figure(ui, "Training time", &time, &format!("{rate} images/s"));
        }
    });
    ui.add_space(style::GAP / 2.0);
    style::facts(ui, "figures", |fact| {
        match &test {
            Some(test) => fact("Test set", test.measured_on()),
            None => fact(
                "Test accuracy",
                "not evaluated; open Results to evaluate it".to_owned(),
            ),
        }
        if let Some(record) = summary.kept() {
            // The validation images of a mix are from all of its sources: not the same measure as
            // the test accuracy.
            let accuracy = percent(f64::from(record.validation_accuracy), 2);
            let held_out = grouped(plan.validation_images);
            let validated = format!("{accuracy} on {held_out} images held out from training");
            fact("Validation accuracy", validated);
        }
        if !summary.machine.is_empty() {
            fact("Machine", visible::label(&summary.machine));
        }
    });
}

fn settings(ui: &mut Ui, summary: &RunSummary) {
    style::semibold(ui, "Settings");
    let (config, plan) = (&summary.config, &summary.plan);
    style::facts(ui, "settings", |fact| {
        fact("Data", config.data.label());
        let [train, held_out] = [plan.train_images, plan.validation_images].map(grouped);
        let images = format!("{train} for training, {held_out} for validation");
        fact("Images", images);
        let preset = config
            .preset
            .map_or("custom settings", |preset| preset.label());
        fact("Preset", preset.to_owned());
        // What is turned off is left out.
        for (name, value) in config.training_settings() {
            if let Some(value) = value {
                fact(name, value);
            }
        }
        if !summary.rate_changes.is_empty() {
            let changes: Vec<_> = summary
                .rate_changes
                .iter()
                .map(LearningRateChange::phrase)
                .collect();
            fact(
                "Moved while training",
                format!("learning rate {}", changes.join(", ")),
            );
        }
        let threads = count(plan.threads.into(), "thread");
        fact("Device", format!("{}, {threads}", plan.device.label()));
        fact("Precision", plan.precision.label().to_owned());
        fact("Seed", config.seed.to_string());
    });
}

/// The height of the title, in points: one line, however long it is, so that what follows is in the
/// same place for every model.
const TITLE_HEIGHT: f32 = 32.0;

/// Draws the title of a model that cannot be starred.
fn title(ui: &mut Ui, title: &str) {
    title_line(ui, |ui| {
        ui.add(Label::new(RichText::new(title).heading()).truncate());
    });
}

fn title_with_star(ui: &mut Ui, entry: &RunEntry, actions: &mut Vec<Action>) {
    title_line(ui, |ui| {
        star_button(ui, entry.annotation.starred).pushes(actions, || star(entry));
        ui.add(Label::new(RichText::new(&entry.title).heading()).truncate());
    });
}

fn title_line(ui: &mut Ui, fill: impl FnOnce(&mut Ui)) {
    style::row(ui, vec2(ui.available_width(), TITLE_HEIGHT), |ui| {
        ui.set_min_height(TITLE_HEIGHT);
        fill(ui);
    });
}

/// Draws what is known of a run beside its figures: when and how it was trained, its note and its
/// tags.
fn about_run(ui: &mut Ui, entry: &RunEntry, summary: &RunSummary, view: &mut ModelsView) {
    style::weak(ui, origin(entry, summary));
    let Annotation { note, tags, .. } = &entry.annotation;
    if !note.is_empty() {
        ui.add(Label::new(note).wrap().selectable(true));
    }
    if tags.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        for tag in tags {
            let button = style::small_button(tag.as_str());
            if style::ask(ui, button, None, "Show the models with this tag").clicked() {
                view.order.search_for(tag);
            }
        }
    });
}

fn star_button(ui: &mut Ui, starred: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(28.0, 28.0), Sense::click());
    let palette = style::palette(ui);
    let is_strong = starred || response.hovered();
    let color = if is_strong {
        palette.accent
    } else {
        palette.faded
    };
    let icon = if starred {
        Icon::Favorite
    } else {
        Icon::FavoriteOff
    };
    icon.paint(ui.painter(), rect.shrink(4.0), color);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, starred, "Star"));
    response.on_hover_text(if starred {
        "Remove the star"
    } else {
        "Star this model: starred ones come first in the lists of models"
    })
}

pub fn star(entry: &RunEntry) -> ModelsAction {
    let mut annotation = entry.annotation.clone();
    annotation.starred ^= true;
    ModelsAction::Annotate(entry.folder.clone(), annotation)
}

/// Network and data of a run with its own name, when it finished, after how many epochs, and
/// where it was imported from.
fn origin(entry: &RunEntry, summary: &RunSummary) -> String {
    let mut origin = local_time(&summary.finished_at);
    if !entry.annotation.name.is_empty() {
        origin = format!("{} · {origin}", summary.config.title());
    }
    if summary.imported.is_none() || !summary.epochs.is_empty() {
        let stopped = if summary.stopped {
            "stopped after "
        } else {
            ""
        };
        let all = count(summary.config.epochs.into(), "epoch");
        origin += &format!(" · {stopped}{} of {all}", summary.epochs.len());
    }
    if let Some(file) = &summary.imported {
        origin += &format!(" · imported from {}", visible::label(file));
    }
    origin
}
