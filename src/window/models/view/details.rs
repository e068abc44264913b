//! The details of one model: its title on one line, when and how it was trained, results, settings,
//! and the buttons to use it.

use std::path::PathBuf;

use eframe::egui::{
    Align, Grid, Label, Layout, Response, RichText, Role, Sense, Ui, WidgetInfo, vec2,
};

use super::{ModelsView, curves, export, list, offers};
use crate::math::statistics::wilson_interval;
use crate::problem::Problem;
use crate::records::{Accuracy, Annotation, ModelRef, RunSummary};
use crate::runs::{Repeats, RunEntry};
use crate::text::format::{count, duration, file_size, grouped, local_time, percent};
use crate::text::visible;
use crate::window::style::{self, icons};
use crate::window::{Action, App, ModelsAction, Pushes as _};

/// From this width on, in points, the settings stand beside the results.
const TWO_COLUMNS: f32 = 940.0;

/// The settings' share of the width beside the results, and their least width in points.
const SETTINGS_SHARE: f32 = 0.3;
const SETTINGS_WIDTH: f32 = 380.0;

pub fn starter(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    title(ui, &app.model_name(&ModelRef::Starter));
    ui.horizontal(|ui| offers::buttons(ui, &offers::of_starter(app), actions));
    ui.add_space(style::GAP / 2.0);
    ui.label("A small model, included with Inkling so that you can draw before training a model of your own.");
    let Some(reader) = &app.ctx.starter_model else {
        return;
    };
    export::show(
        ui,
        app,
        (&ModelRef::Starter, reader.network.model()),
        actions,
    );
    ui.add_space(style::GAP / 2.0);
    facts(ui, "starter facts", |fact| {
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
            if ui
                .add(style::secondary_button(
                    RichText::new("Delete…").color(style::palette(ui).bad),
                ))
                .clicked()
            {
                *confirming = Some(entry.folder.clone());
            }
        });
    });
    before_deleting(
        ui,
        entry,
        || "Delete this run's folder?".to_owned(),
        confirming,
        actions,
    );
    ui.add_space(style::GAP / 2.0);
    let message = problem.message.clone();
    ui.label(message.what);
    if !message.remedy.is_empty() {
        ui.weak(message.remedy);
    }
    style::weak(ui, visible::path(&entry.folder));
}

pub fn run(
    ui: &mut Ui,
    app: &App,
    runs: &[RunEntry],
    entry: &RunEntry,
    summary: &RunSummary,
    view: &mut ModelsView,
    actions: &mut Vec<Action>,
) {
    title_with_star(ui, entry, actions);
    offers::of_run(ui, app, entry, summary, view, actions);
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
    export::show(
        ui,
        app,
        (
            &ModelRef::File(summary.model_path.clone()),
            summary.config.model,
        ),
        actions,
    );
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
    ui.add(
        Label::new(RichText::new(visible::path(&entry.folder)).weak().small())
            .wrap()
            .selectable(true),
    );
}

fn column(ui: &mut Ui, width: f32, fill: impl FnOnce(&mut Ui)) {
    style::column(ui, vec2(width, 0.0), |ui| {
        ui.set_width(width);
        fill(ui);
    });
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
            if list::confirm_delete(ui, "Delete", confirming) {
                actions.push(Action::Models(ModelsAction::DeleteRun(
                    entry.folder.clone(),
                )));
            }
        });
    });
}

/// "99.32 % on MNIST, 10,000 images (95 % CI 99.14 % to 99.46 %)".
fn on_images(accuracy: &Accuracy) -> String {
    let interval = accuracy.images.map_or_else(String::new, |images| {
        let (low, high) = wilson_interval((accuracy.value * images as f64).round() as u64, images);
        format!(" (95 % CI {} to {})", percent(low, 2), percent(high, 2))
    });
    format!(
        "{} on {}{interval}",
        accuracy.percent(),
        accuracy.measured_on()
    )
}

fn figures(ui: &mut Ui, summary: &RunSummary) {
    facts(ui, "figures", |fact| {
        match &summary.test {
            Some(test) => fact("Test accuracy", on_images(&test.accuracy())),
            None => fact(
                "Test accuracy",
                "not evaluated; open Results to evaluate it".to_owned(),
            ),
        }
        if let Some(record) = summary.kept() {
            // Those of a mix are from all of its sources: not the same measure as the test
            // accuracy.
            let held_out = format!(
                "{} images held out from training",
                grouped(summary.plan.validation_images)
            );
            fact(
                "Validation accuracy",
                format!(
                    "{} on {held_out}",
                    percent(f64::from(record.validation_accuracy), 2)
                ),
            );
        }
        fact("Parameters", grouped(summary.plan.parameters));
        // Weights are stored as 32-bit floats in every precision.
        fact("Model size", file_size(summary.plan.parameters * 4));
        if !summary.epochs.is_empty() {
            fact("Training time", duration(summary.train_seconds));
            fact(
                "Throughput",
                format!(
                    "{} images/s",
                    grouped(summary.images_per_second.max(0.0).round() as u64)
                ),
            );
        }
        if !summary.machine.is_empty() {
            fact("Machine", visible::label(&summary.machine));
        }
    });
}

fn settings(ui: &mut Ui, summary: &RunSummary) {
    ui.strong("Settings");
    let (config, plan) = (&summary.config, &summary.plan);
    facts(ui, "settings", |fact| {
        fact("Data", config.data.label());
        fact(
            "Images",
            format!(
                "{} for training, {} for validation",
                grouped(plan.train_images),
                grouped(plan.validation_images)
            ),
        );
        fact(
            "Preset",
            config.preset.map_or_else(
                || "custom settings".to_owned(),
                |preset| preset.label().to_owned(),
            ),
        );
        for (name, value) in config.training_settings() {
            // What is turned off is left out.
            if let Some(value) = value {
                fact(name, value);
            }
        }
        fact(
            "Device",
            format!(
                "{}, {}",
                plan.device.label(),
                count(plan.threads.into(), "thread")
            ),
        );
        fact("Precision", plan.precision.label().to_owned());
        fact("Seed", config.seed.to_string());
    });
}

fn facts(ui: &mut Ui, id: &str, fill: impl FnOnce(&mut dyn FnMut(&str, String))) {
    Grid::new(id)
        .num_columns(2)
        .spacing(vec2(style::GAP, 4.0))
        .show(ui, |ui| {
            fill(&mut |name: &str, value: String| {
                ui.weak(name);
                ui.add(Label::new(value).wrap());
                ui.end_row();
            });
        });
}

/// The height of the title, in points: one line, however long it is, so that what follows is in the
/// same place for every model.
const TITLE_HEIGHT: f32 = 32.0;

/// Draws the title of a model that cannot be starred.
pub fn title(ui: &mut Ui, title: &str) {
    title_line(ui, |ui| {
        ui.add(Label::new(RichText::new(title).heading()).truncate());
    });
}

/// Draws a run's title with its star.
pub fn title_with_star(ui: &mut Ui, entry: &RunEntry, actions: &mut Vec<Action>) {
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
pub fn about_run(ui: &mut Ui, entry: &RunEntry, summary: &RunSummary, view: &mut ModelsView) {
    style::weak(ui, origin(entry, summary));
    if !entry.annotation.note.is_empty() {
        ui.add(Label::new(&entry.annotation.note).wrap().selectable(true));
    }
    if entry.annotation.tags.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        for tag in &entry.annotation.tags {
            if ui
                .add(style::small_button(tag.as_str()))
                .on_hover_text("Show the models with this tag")
                .clicked()
            {
                view.order.search_for(tag);
            }
        }
    });
}

fn star_button(ui: &mut Ui, starred: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(28.0, 28.0), Sense::click());
    let palette = style::palette(ui);
    let color = if starred || response.hovered() {
        palette.accent
    } else {
        palette.faded
    };
    icons::star(ui.painter(), rect.shrink(4.0), color, starred);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, starred, "Star"));
    response.on_hover_text(if starred {
        "Remove the star"
    } else {
        "Star this model: starred ones come first in the lists of models"
    })
}

/// Stars this run, or removes its star.
pub fn star(entry: &RunEntry) -> Action {
    Action::Models(ModelsAction::Annotate(
        entry.folder.clone(),
        Annotation {
            starred: !entry.annotation.starred,
            ..entry.annotation.clone()
        },
    ))
}

/// The button that opens this run's note.
pub const fn note_label(entry: &RunEntry) -> &'static str {
    if entry.annotation.note.is_empty() {
        "Add a note…"
    } else {
        "Edit the note…"
    }
}

/// The button that opens this run's tags.
pub const fn tags_label(entry: &RunEntry) -> &'static str {
    if entry.annotation.tags.is_empty() {
        "Add tags…"
    } else {
        "Edit the tags…"
    }
}

/// Network and data of a run with a name of its own, when it finished, after how many epochs, and
/// where it was imported from.
fn origin(entry: &RunEntry, summary: &RunSummary) -> String {
    let when = local_time(&summary.finished_at);
    let when = if entry.annotation.name.is_empty() {
        when
    } else {
        format!("{} · {when}", summary.config.title())
    };
    let epochs = format!(
        "{} of {}",
        summary.epochs.len(),
        count(summary.config.epochs.into(), "epoch")
    );
    let trained = if summary.stopped {
        format!("{when} · stopped after {epochs}")
    } else {
        format!("{when} · {epochs}")
    };
    match &summary.imported {
        None => trained,
        Some(file) if summary.epochs.is_empty() => {
            format!("{when} · imported from {}", visible::label(file))
        }
        Some(file) => format!("{trained} · imported from {}", visible::label(file)),
    }
}
