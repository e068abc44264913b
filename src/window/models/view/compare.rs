//! The comparison of models: the choice of two to eight, their curves, settings and accuracies, and
//! whether one is better.

use eframe::egui::{
    Align, Button, ComboBox, Label, Layout, ProgressBar, RichText, ScrollArea, Ui, vec2,
};

use super::compare_plot;
use super::compare_plot::Choice;
use super::offers::ensemble_button;
use crate::infer::model_comparison::{
    digits_table, images_of, letter, results_table, sentences, settings_table,
};
use crate::records::{COMPARED_MODELS, Ensemble, ModelRef, RunSummary};
use crate::run_config::RunConfig;
use crate::runs::RunEntry;
use crate::text::format::percent;
use crate::window::style::SemiBold as _;
use crate::window::style::icons::Icon;
use crate::window::style::{self, table};
use crate::window::{Action, Activity, App, DrawAction, ModelsAction, Pushes as _, Screen};

/// Below this width, in points, the choice stands above the comparison instead of beside it.
const TWO_COLUMNS: f32 = 760.0;
/// The width of the choice beside it, and its height above it, in points.
const CHOICE: [f32; 2] = [280.0, 150.0];

pub fn show(
    ui: &mut Ui,
    app: &App,
    runs: &[RunEntry],
    choice: &mut Choice,
    actions: &mut Vec<Action>,
) {
    ui.horizontal(|ui| {
        ui.label(RichText::new("Compare models").semibold().size(17.0));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.button("Back to the list")
                .pushes(actions, || ModelsAction::CloseComparison);
        });
    });
    ui.add_space(style::GAP / 2.0);
    if ui.available_width() < TWO_COLUMNS {
        style::scroll(ui, "comparison", |ui| {
            ScrollArea::vertical()
                .id_salt("models to compare")
                .max_height(CHOICE[1])
                .show(ui, |ui| choose(ui, app, runs, actions));
            ui.add_space(style::GAP);
            content(ui, app, choice, actions);
        });
        return;
    }
    let height = ui.available_height();
    ui.horizontal_top(|ui| {
        style::column(ui, vec2(CHOICE[0], height), |ui| {
            style::scroll(ui, "models to compare", |ui| choose(ui, app, runs, actions));
        });
        ui.add_space(style::GAP);
        ui.vertical(|ui| {
            style::scroll(ui, "comparison", |ui| content(ui, app, choice, actions));
        });
    });
}

/// A box to tick for each run; those that are chosen have their letter before their name.
fn choose(ui: &mut Ui, app: &App, runs: &[RunEntry], actions: &mut Vec<Action>) {
    let chosen: Vec<_> = app
        .models
        .compared_runs()
        .into_iter()
        .map(|(entry, _)| entry.folder.clone())
        .collect();
    let full = app.models.is_comparison_full();
    for entry in runs.iter().filter(|entry| entry.summary.is_ok()) {
        let position = chosen.iter().position(|folder| *folder == entry.folder);
        let text = position.map_or_else(
            || entry.title.clone(),
            |position| format!("{}: {}", letter(position), entry.title),
        );
        let mut ticked = position.is_some();
        let ticking = ui
            .add_enabled_ui(ticked || !full, |ui| ui.checkbox(&mut ticked, text))
            .inner;
        if ticking
            .on_disabled_hover_text(format!(
                "At most {} models can be compared",
                COMPARED_MODELS.end()
            ))
            .changed()
        {
            actions.push(Action::Models(ModelsAction::ChooseCompared {
                folder: entry.folder.clone(),
                chosen: ticked,
            }));
        }
    }
}

fn content(ui: &mut Ui, app: &App, choice: &mut Choice, actions: &mut Vec<Action>) {
    let runs = app.models.compared_runs();
    if !COMPARED_MODELS.contains(&runs.len()) {
        let (least, most) = (COMPARED_MODELS.start(), COMPARED_MODELS.end());
        let body = "Their curves and settings appear here side by side, and a test shows which is better on the same test images.";
        let title = format!("Choose {least} to {most} models");
        return style::empty_state(ui, Icon::Compare, &title, body, |ui| {
            let is_chosen = |run: &RunSummary| {
                let mut chosen = runs.iter();
                chosen.any(|(entry, _)| entry.folder == run.folder)
            };
            let newest = app.models.readable().find(|run| !is_chosen(run));
            if let Some(run) = newest {
                ui.add(style::secondary_button("Add the newest one"))
                    .pushes(actions, || ModelsAction::ChooseCompared {
                        folder: run.folder.clone(),
                        chosen: true,
                    });
            } else {
                ui.add(style::secondary_button("Train another model"))
                    .pushes(actions, || Action::Show(Screen::Train));
            }
        });
    }
    measure(ui, app, actions);
    choose_baseline(ui, app, &runs, actions);
    let ensemble = Ensemble::of(
        runs.iter()
            .map(|(_, summary)| summary.model_path.clone())
            .collect(),
    );
    let (label, about) = ensemble_button(&ensemble);
    ui.button(label).on_hover_text(about).pushes(actions, || {
        DrawAction::DrawWith(ModelRef::Ensemble(ensemble))
    });
    let configs: Vec<&RunConfig> = runs.iter().map(|(_, summary)| &summary.config).collect();
    let mut tables = vec![settings_table(&configs)];
    if let Some(found) = app.models.comparison_found() {
        ui.add_space(style::GAP / 2.0);
        let baseline = app.models.comparison_baseline();
        for sentence in sentences(found, baseline) {
            ui.add(Label::new(sentence).wrap().selectable(true));
        }
        tables.insert(0, results_table(found));
        tables.push(digits_table(found, baseline));
    }
    ui.add_space(style::GAP);
    let curves: Vec<_> = runs
        .iter()
        .map(|(entry, summary)| (*summary, app.models.compared_steps(&entry.folder)))
        .collect();
    compare_plot::show(ui, &curves, choice);
    ui.add_space(style::GAP / 2.0);
    table::show(ui, &tables);
}

fn choose_baseline(
    ui: &mut Ui,
    app: &App,
    runs: &[(&RunEntry, &RunSummary)],
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        ui.label("Baseline")
            .on_hover_text("The model that the others are compared with");
        for (position, (entry, _)) in runs.iter().enumerate() {
            let name = letter(position);
            let toggle = style::toggle(&name, position == app.models.comparison_baseline());
            let about = format!("Compare the others with {}", entry.title);
            ui.add(toggle)
                .accessible_name(format!("Baseline {name}"))
                .on_hover_text(about)
                .pushes(actions, || {
                    ModelsAction::ChooseBaseline(entry.folder.clone())
                });
        }
    });
}

/// The row that has the models measured, or says on what they were.
fn measure(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let Some(data) = app.models.comparison_data() else {
        return;
    };
    ui.horizontal_wrapped(|ui| {
        if let Some(running) = app.ctx.jobs.doing(Activity::ModelComparison) {
            let fraction = running.progress.fraction;
            let bar = ProgressBar::new(fraction)
                .desired_width(200.0)
                .text(percent(fraction.into(), 0));
            ui.add(bar).accessible_name("Comparison progress");
            ui.add_enabled(!running.cancelling, Button::new("Cancel"))
                .pushes(actions, || Action::CancelJob(running.id));
            return;
        }
        let sets = app.models.comparison_data_sets();
        if sets.len() > 1 {
            let label = ui.label("Test set");
            let list = ComboBox::from_id_salt("test set of the comparison")
                .width(180.0)
                .truncate()
                .selected_text(data.label());
            let list = list.show_ui(ui, |ui| {
                for set in sets {
                    ui.selectable_label(set == data, set.label())
                        .pushes(actions, || ModelsAction::ChooseComparisonData(set));
                }
            });
            style::explain_list(list.response.labelled_by(label.id), &data.label(), "");
        }
        if let Some(found) = app.models.comparison_found() {
            ui.label(format!("Compared on {}.", images_of(found)));
            return;
        }
        let compare = ui.add_enabled(
            !app.ctx.is_training(),
            style::primary_button("Compare accuracies"),
        );
        let about = format!(
            "Evaluate every model on the same test images of {}",
            data.label()
        );
        compare
            .on_hover_text(about)
            .on_disabled_hover_text("Unavailable while training is in progress")
            .pushes(actions, || ModelsAction::CompareModels);
    });
}
