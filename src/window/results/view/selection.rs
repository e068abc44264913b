//! The row to choose a model and a test set, and to start the evaluation.

use std::path::Path;

use eframe::egui::{ComboBox, ProgressBar, RichText, Ui};

use super::ResultsScreen;
use crate::records::ModelRef;
use crate::run_config::{DataSource, DataSpec};
use crate::window::shell::help;
use crate::window::shell::help::Topic;
use crate::window::style;
use crate::window::{Action, App};

pub fn show(ui: &mut Ui, app: &App, view: &mut ResultsScreen, actions: &mut Vec<Action>) {
    let models = app.models(usize::MAX);
    let data = data_sets(app);
    // The last evaluation's model and data, unless others were chosen and still exist.
    let measured = app.results.shown.as_ref().map(|results| {
        (
            results.model.reference.clone(),
            results.measured.data.clone(),
        )
    });
    let model = view
        .model
        .clone()
        .filter(|model| models.contains(model))
        .or_else(|| measured.as_ref().map(|(model, _)| model.clone()));
    let model = model
        .filter(|model| models.contains(model))
        .unwrap_or(ModelRef::Starter);
    let set = view
        .data
        .clone()
        .filter(|set| data.contains(set))
        .or_else(|| measured.map(|(_, set)| set))
        .unwrap_or_else(DataSpec::builtin);
    // All stand on one line, as high as the main button.
    let height = std::mem::replace(&mut ui.spacing_mut().interact_size.y, style::BUTTON_HEIGHT);
    ui.horizontal_wrapped(|ui| {
        let label = ui.label("Model");
        let chosen = ComboBox::from_id_salt("model to evaluate").width(220.0).truncate().selected_text(app.model_name(&model));
        let chosen = chosen.show_ui(ui, |ui| {
            for candidate in models {
                if ui.selectable_label(candidate == model, app.model_name(&candidate)).clicked() {
                    view.model = Some(candidate);
                }
            }
        });
        let list = chosen.response.labelled_by(label.id).accessible_name("Model to evaluate");
        style::explain_list(list, &app.model_name(&model), "");
        let label = ui.label("Test set");
        let chosen = ComboBox::from_id_salt("test set").width(160.0).truncate().selected_text(set.label()).show_ui(ui, |ui| {
            for candidate in data {
                if ui.selectable_label(candidate == set, candidate.label()).clicked() {
                    view.data = Some(candidate);
                }
            }
        });
        let list = chosen.response.labelled_by(label.id).accessible_name("Test set to evaluate on");
        style::explain_list(list, &set.label(), "");
        if let Some(running) = app.ctx.jobs.evaluation() {
            let fraction = running.progress.fraction;
            let bar = ProgressBar::new(fraction).desired_width(160.0).text(format!("{:.0} %", fraction * 100.0));
            ui.add(bar).accessible_name("Evaluation progress");
            if ui.button("Cancel").clicked() {
                actions.push(Action::CancelJob(running.id));
            }
        } else {
            let busy = app.is_training();
            let evaluate = ui.add_enabled(!busy, style::primary_button(ui, "Evaluate"));
            let why_not = "Inkling does one thing at a time: an evaluation would slow down the run in progress";
            if evaluate.on_disabled_hover_text(why_not).clicked() {
                actions.push(Action::Evaluate { model, data: set });
            }
            if busy {
                ui.label(RichText::new("available when the run in progress has ended").weak());
            }
        }
        help::button(ui, Topic::Results);
    });
    ui.spacing_mut().interact_size.y = height;
}

/// The built-in digits, the data sets found on this machine, the person's own drawings, and the
/// folders that were chosen.
fn data_sets(app: &App) -> Vec<DataSpec> {
    let found = app
        .train
        .found
        .iter()
        .flatten()
        .map(|found| app.source_of(found));
    let mine = (!app.my_digits.drawings().is_empty()).then_some(DataSource::Mine);
    let chosen = app
        .ctx
        .settings
        .data_folders
        .iter()
        .map(|folder| DataSource::Path(Path::new(folder).to_owned()));
    let mut sets = vec![DataSpec::builtin()];
    for set in found.chain(mine).chain(chosen).map(DataSpec::single).chain(
        app.results
            .shown
            .iter()
            .map(|results| results.measured.data.clone()),
    ) {
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets
}
