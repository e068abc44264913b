//! The Results screen: a model's accuracy, confusion matrix and misclassified images on a test set.

mod accuracy;
pub mod confusion;
mod mistakes;

use eframe::egui::{Align, Layout, ProgressBar, ScrollArea, Ui, vec2};

use self::confusion::Cell;
use self::mistakes::Gallery;
use crate::math::statistics::{calibration_error, cell_sentence, error_count, wilson_interval};
use crate::records::{Evaluation, ModelRef, SplitEvaluation};
use crate::run_config::{Classes, DataSource, DataSpec};
use crate::text::format::{grouped, percent};
use crate::window::shell::help::{self, Topic};
use crate::window::style::icons::Icon;
use crate::window::{Action, Activity, App, ModelsAction, Pushes as _, ResultsView, style};

#[derive(Debug, Default)]
pub struct ResultsScreen {
    /// The selected cell, which filters the misclassified images.
    cell: Option<Cell>,
    gallery: Gallery,
    classes: Classes,
    /// The misclassified image that is shown large.
    opened: Option<usize>,
    model: Option<ModelRef>,
    data: Option<DataSpec>,
}

/// Below this width, in points, there is a single column.
const TWO_COLUMNS: f32 = 700.0;
/// From this width on, the images have a separate column.
const THREE_COLUMNS: f32 = 1500.0;
/// The height of the texts above and below the matrix, and the limits of its side, in points.
const MATRIX_TEXTS: f32 = 58.0;
const MATRIX_SIDE: std::ops::RangeInclusive<f32> = 340.0..=900.0;
/// The width of the bars by digit beside the images, and the height they take, in points.
const BARS: [f32; 2] = [360.0, 300.0];

pub fn show(ui: &mut Ui, app: &App, view: &mut ResultsScreen, actions: &mut Vec<Action>) {
    let (model, data) = selection(ui, app, view, actions);
    ui.add_space(style::GAP / 2.0);
    let Some(results) = &app.results.shown else {
        let body = "The accuracy of a model, its confusion matrix and the images that it misclassifies. Finish a run, or evaluate the model that is chosen above.";
        return style::empty_state(ui, Icon::Results, "No results yet", body, |ui| {
            evaluate(ui, app, model, data, actions);
        });
    };
    view.classes = results.model.classes.clone();
    let evaluation = &results.measured.evaluation;
    if view.gallery.sync(&evaluation.mistakes) {
        (view.cell, view.opened) = (None, None);
    }
    let visible = ui.available_height();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        headline(ui, app, results);
        ui.add_space(style::GAP);
        let width = ui.available_width();
        if width < TWO_COLUMNS {
            matrix(ui, evaluation, view, width.min(480.0));
            ui.add_space(style::GAP);
            misclassified(ui, evaluation, view);
            ui.add_space(style::GAP);
            per_class(ui, evaluation, &view.classes, BARS[1]);
            ui.add_space(style::GAP);
            accuracy::reliability(ui, evaluation);
        } else {
            // What is above scrolls with the rest.
            let above = ui.cursor().top() - ui.min_rect().top();
            columns(ui, evaluation, view, visible - above);
        }
    });
    mistakes::opened(
        ui,
        &mut view.gallery,
        &view.classes,
        view.cell,
        &mut view.opened,
    );
}

/// The matrix, and beside it, scrolled by themselves, the bars by digit and the images: first what
/// the person is looking for.
fn columns(ui: &mut Ui, evaluation: &Evaluation, view: &mut ResultsScreen, height: f32) {
    let wide = ui.available_width() >= THREE_COLUMNS;
    let side = (height - MATRIX_TEXTS)
        .min(ui.available_width() * 0.5)
        .clamp(*MATRIX_SIDE.start(), *MATRIX_SIDE.end())
        .floor();
    let height = height.max(side + MATRIX_TEXTS);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = style::GAP * 2.0;
        let column = Layout::top_down(Align::Min);
        ui.allocate_ui_with_layout(vec2(side, height), column, |ui| {
            matrix(ui, evaluation, view, side);
        });
        if wide {
            ui.allocate_ui_with_layout(vec2(BARS[0], height), column, |ui| {
                per_class(
                    ui,
                    evaluation,
                    &view.classes,
                    (height - accuracy::TOTAL_HEIGHT).clamp(BARS[1], 440.0),
                );
                ui.add_space(style::GAP);
                accuracy::reliability(ui, evaluation);
            });
        }
        ui.allocate_ui_with_layout(vec2(ui.available_width(), height), column, |ui| {
            ui.spacing_mut().item_spacing.x = style::GAP / 2.0;
            ScrollArea::vertical()
                .id_salt("misclassified")
                .auto_shrink(false)
                .max_height(height)
                .show(ui, |ui| {
                    let chosen = view.cell.is_some();
                    if chosen || wide {
                        misclassified(ui, evaluation, view);
                        ui.add_space(style::GAP);
                    }
                    if !wide {
                        per_class(ui, evaluation, &view.classes, BARS[1]);
                    }
                    if !chosen && !wide {
                        ui.add_space(style::GAP);
                        misclassified(ui, evaluation, view);
                    }
                    if !wide {
                        ui.add_space(style::GAP);
                        accuracy::reliability(ui, evaluation);
                    }
                });
        });
    });
}

/// The model and test set, and accuracy with its confidence interval, errors and loss.
fn headline(ui: &mut Ui, app: &App, results: &ResultsView) {
    let evaluation = &results.measured.evaluation;
    let wrong = error_count(evaluation);
    let (low, high) = wilson_interval(evaluation.images.saturating_sub(wrong), evaluation.images);
    ui.weak(subject(app, results));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = style::GAP * 2.0;
        let interval = format!("95% CI: {} to {}", percent(low, 2), percent(high, 2));
        let about = "Fraction of test images classified correctly, with its 95% confidence interval (Wilson score)";
        style::figure(ui, "Accuracy", &percent(evaluation.accuracy, 2), &interval).on_hover_text(about);
        let images = format!("of {} images", grouped(evaluation.images));
        style::figure(ui, "Errors", &grouped(wrong), &images);
        let about = "Mean cross-entropy in nats: −ln p averaged over all images, where p is the probability given to the correct class. Confident errors cost most";
        style::figure(ui, "Loss", &format!("{:.4}", evaluation.loss), "nats").on_hover_text(about);
        if let Some(error) = calibration_error(evaluation) {
            let about = "Expected calibration error (ECE, 15 bins): the average gap between confidence and accuracy. 0% means that predictions made with 90% confidence are right 90% of the time";
            style::figure(ui, "Calibration error", &percent(error, 2), "confidence against accuracy").on_hover_text(about);
        }
    });
}

/// "Best one (LeNet-5 on MNIST), evaluated on MNIST".
fn subject(app: &App, results: &ResultsView) -> String {
    let name = app.model_name(&results.model.reference);
    let SplitEvaluation { data, split, .. } = &results.measured;
    let data = format!("{} ({})", data.label(), split.label());
    let (network, trained_on) = (results.model.network.label(), results.model.data.label());
    let network = format!("{network} on {trained_on}");
    if name.starts_with(&network) {
        format!("{name}, evaluated on {data}")
    } else {
        format!("{name} ({network}), evaluated on {data}")
    }
}

fn matrix(ui: &mut Ui, evaluation: &Evaluation, view: &mut ResultsScreen, side: f32) {
    style::semibold(ui, "Confusion matrix");
    let classes = &view.classes;
    let text = match confusion::show(ui, evaluation, classes, &mut view.cell, side) {
        Some((truth, answer)) => {
            let count = evaluation.count(truth, answer);
            format!("{}.", cell_sentence(classes, truth, answer, count))
        }
        None => format!(
            "Rows: true {0}. Columns: predicted {0}. Select a cell to see its images.",
            classes.nouns()
        ),
    };
    ui.weak(text);
}

fn per_class(ui: &mut Ui, evaluation: &Evaluation, classes: &Classes, height: f32) {
    style::semibold(ui, format!("Accuracy by {}", classes.noun()));
    accuracy::per_digit(ui, evaluation, classes, height);
}

fn misclassified(ui: &mut Ui, evaluation: &Evaluation, view: &mut ResultsScreen) {
    ui.horizontal_wrapped(|ui| {
        style::semibold(ui, "Misclassified images");
        let Some((truth, answer)) = view.cell else {
            let (kept, all) = (evaluation.mistakes.len() as u64, error_count(evaluation));
            let [few, many] = [kept, all].map(grouped);
            if kept < all {
                ui.weak(format!("the {few} most confident of {many}"));
            } else if all > 0 {
                ui.weak(format!("{many}, the most confident first"));
            }
            return;
        };
        let [answer, truth] = [answer, truth].map(|class| view.classes.name(class));
        ui.weak(format!("only {answer} instead of {truth}"));
        if ui.button("Show all").clicked() {
            view.cell = None;
        }
    });
    let count = |(truth, answer)| evaluation.count(truth, answer);
    let count = view.cell.map_or(0, count);
    if let Some(index) = view.gallery.show(ui, &view.classes, view.cell, count) {
        view.opened = Some(index);
    }
}

/// The model and the test set to evaluate it on, in lists.
fn selection(
    ui: &mut Ui,
    app: &App,
    view: &mut ResultsScreen,
    actions: &mut Vec<Action>,
) -> (ModelRef, DataSpec) {
    let (models, data) = (app.models(usize::MAX), data_sets(app));
    // The last evaluation's model and data, unless others were chosen and still exist.
    let measured = app.results.shown.as_ref();
    let last = measured.map(|results| results.model.reference.clone());
    let chosen = view.model.clone();
    let chosen = chosen.filter(|model| models.contains(model)).or(last);
    let chosen = chosen.filter(|model| models.contains(model));
    let model = chosen.unwrap_or(ModelRef::Starter);
    let last = measured.map(|results| results.measured.data.clone());
    let chosen = view.data.clone().filter(|set| data.contains(set)).or(last);
    let set = chosen.unwrap_or_else(DataSpec::builtin);
    // All stand on one line, as high as the main button.
    let height = std::mem::replace(&mut ui.spacing_mut().interact_size.y, style::BUTTON_HEIGHT);
    ui.horizontal_wrapped(|ui| {
        let label = ui.label("Model");
        let name = app.model_name(&model);
        let list = style::drop_down(ui, "model to evaluate", 220.0, &name, |ui| {
            for candidate in models {
                let name = app.model_name(&candidate);
                if ui.selectable_label(candidate == model, name).clicked() {
                    view.model = Some(candidate);
                }
            }
        });
        let list = list
            .labelled_by(label.id)
            .accessible_name("Model to evaluate");
        style::explain_list(list, &name, "");
        let label = ui.label("Test set");
        let list = style::drop_down(ui, "test set", 160.0, &set.label(), |ui| {
            for candidate in data {
                if ui
                    .selectable_label(candidate == set, candidate.label())
                    .clicked()
                {
                    view.data = Some(candidate);
                }
            }
        });
        let list = list
            .labelled_by(label.id)
            .accessible_name("Test set to evaluate on");
        style::explain_list(list, &set.label(), "");
        if app.results.shown.is_some() {
            evaluate(ui, app, model.clone(), set.clone(), actions);
        }
        help::button(ui, Topic::Results);
    });
    ui.spacing_mut().interact_size.y = height;
    (model, set)
}

/// The button that evaluates this model on this data, or how far that is.
fn evaluate(ui: &mut Ui, app: &App, model: ModelRef, data: DataSpec, actions: &mut Vec<Action>) {
    if let Some(running) = app.ctx.jobs.doing(Activity::Evaluation) {
        let fraction = running.progress.fraction;
        let bar = ProgressBar::new(fraction).text(percent(fraction.into(), 0));
        ui.add(bar.desired_width(160.0))
            .accessible_name("Evaluation progress");
        ui.button("Cancel")
            .pushes(actions, || Action::CancelJob(running.id));
    } else {
        let busy = app.ctx.is_training();
        let why_not =
            "Inkling does one thing at a time: an evaluation would slow down the run in progress";
        let evaluate = style::primary_button("Evaluate");
        style::ask(ui, evaluate, busy.then_some(why_not), "")
            .pushes(actions, || ModelsAction::Evaluate { model, data });
        if busy {
            ui.weak("available when the run in progress has ended");
        }
    }
}

/// The built-in digits, the data sets found on this machine, the person's own drawings, and the
/// folders that were chosen.
fn data_sets(app: &App) -> Vec<DataSpec> {
    let found = app.train.found.iter().flatten();
    let found = found.map(|found| app.ctx.source_of(found));
    let mine = (!app.my_digits.drawings().is_empty()).then_some(DataSource::Mine);
    let chosen = app.ctx.settings.data_folders.iter().cloned();
    let single = found.chain(mine).chain(chosen.map(DataSource::Path));
    let shown = app.results.shown.iter();
    let shown = shown.map(|results| results.measured.data.clone());
    let mut sets = vec![DataSpec::builtin()];
    for set in single.map(DataSpec::single).chain(shown) {
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    sets
}
