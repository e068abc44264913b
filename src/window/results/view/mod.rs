//! The Results screen: a model's accuracy, confusion matrix and images on a test set.

mod bars;
pub mod confusion;
mod filter;
mod gallery;
mod opened;
mod reliability;

use std::collections::BTreeMap;

use eframe::egui::{ProgressBar, ScrollArea, Ui, vec2};

use self::filter::Filter;
use self::gallery::{Gallery, Texts};
use crate::math::statistics::{calibration_error, cell_sentence, error_count, wilson_interval};
use crate::notices::label_errors;
use crate::records::{Evaluation, ModelRef, RecordCard, SplitEvaluation};
use crate::run_config::{Classes, DataSource, DataSpec};
use crate::text::format::{capitalized, grouped, percent};
use crate::window::shell::help::{self, Topic};
use crate::window::style::icons::Icon;
use crate::window::{Action, Activity, App, DIGITS, ModelsAction, Pushes as _, ResultsView, style};

#[derive(Debug, Default)]
pub struct ResultsScreen {
    /// Which images are shown; all misclassified ones if nothing is selected.
    filter: Option<Filter>,
    gallery: Gallery,
    classes: Classes,
    /// The image that is shown large, by its place among the samples.
    opened: Option<usize>,
    /// The filter that the images were scrolled up for.
    scrolled_for: Option<Filter>,
    /// The record of the same test images, if one was measured on this machine.
    record: Option<RecordCard>,
    /// The right labels of suspects, by their position in the split, as the person sees it.
    answers: BTreeMap<u64, u8>,
    model: Option<ModelRef>,
    data: Option<DataSpec>,
}

impl ResultsScreen {
    /// The places of the images that are shown, among the samples.
    fn images(&self) -> Vec<usize> {
        let hard = self.record.as_ref().map_or(&[][..], |card| &card.hard);
        filter::images(self.filter, &self.gallery.samples, hard)
    }
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
/// The height that a row of images takes with what is above it, in points.
const ROW_OF_IMAGES: f32 = 190.0;

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
    if view.gallery.sync(&evaluation.samples) {
        (view.filter, view.opened) = (None, None);
        view.answers.clear();
    }
    let record = results.record(&app.train.records);
    if view.record.as_ref() != record {
        view.record = record.cloned();
    }
    let visible = ui.available_height();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        headline(ui, app, results, view);
        ui.add_space(style::GAP);
        let width = ui.available_width();
        if width < TWO_COLUMNS {
            matrix(ui, evaluation, view, width.min(480.0));
            ui.add_space(style::GAP);
            // The images come right after what they were selected in.
            let below = matches!(view.filter, Some(Filter::Class(_) | Filter::Bin(_)));
            if !below {
                images(ui, results, view, actions);
                ui.add_space(style::GAP);
            }
            per_class(ui, evaluation, view, BARS[1]);
            ui.add_space(style::GAP);
            reliability(ui, evaluation, view, 0.0);
            if below {
                ui.add_space(style::GAP);
                images(ui, results, view, actions);
            }
        } else {
            // What is above scrolls with the rest.
            let above = ui.cursor().top() - ui.min_rect().top();
            columns(ui, results, view, visible - above, actions);
        }
    });
    opened::show(ui, view, results.measured.split);
}

/// The matrix, and beside it, scrolled by themselves, the bars by digit and the images: first what
/// the person is looking for.
fn columns(
    ui: &mut Ui,
    results: &ResultsView,
    view: &mut ResultsScreen,
    height: f32,
    actions: &mut Vec<Action>,
) {
    let evaluation = &results.measured.evaluation;
    let wide = ui.available_width() >= THREE_COLUMNS;
    let side = (height - MATRIX_TEXTS)
        .min(ui.available_width() * 0.5)
        .clamp(*MATRIX_SIDE.start(), *MATRIX_SIDE.end())
        .floor();
    // In a low window everything scrolls together.
    let has_own_scroll_bar = height >= side + MATRIX_TEXTS;
    let height = height.max(side + MATRIX_TEXTS);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = style::GAP * 2.0;
        style::column(ui, vec2(side, height), |ui| {
            matrix(ui, evaluation, view, side);
        });
        if wide {
            style::column(ui, vec2(BARS[0], height), |ui| {
                let bars = (height - reliability::TOTAL_HEIGHT).clamp(BARS[1], 440.0);
                per_class(ui, evaluation, view, bars);
                ui.add_space(style::GAP);
                let spare = height - bars - reliability::TOTAL_HEIGHT;
                reliability(ui, evaluation, view, spare);
            });
        }
        style::column(ui, vec2(ui.available_width(), height), |ui| {
            ui.spacing_mut().item_spacing.x = style::GAP / 2.0;
            let is_new = view.filter != view.scrolled_for;
            view.scrolled_for = view.filter;
            if !has_own_scroll_bar {
                return beside(ui, results, view, (height, wide), actions);
            }
            let mut area = ScrollArea::vertical()
                .id_salt("images")
                .auto_shrink(false)
                .max_height(height);
            if is_new {
                area = area.vertical_scroll_offset(0.0);
            }
            area.show(ui, |ui| beside(ui, results, view, (height, wide), actions));
        });
    });
}

/// The images, and unless they have a column of their own in a `wide` window, the bars by digit and
/// the reliability.
fn beside(
    ui: &mut Ui,
    results: &ResultsView,
    view: &mut ResultsScreen,
    (height, wide): (f32, bool),
    actions: &mut Vec<Action>,
) {
    if wide {
        return images(ui, results, view, actions);
    }
    let evaluation = &results.measured.evaluation;
    // The errors of a digit are below its bar, if there is room for both.
    let below = match view.filter {
        None => true,
        Some(Filter::Class(_)) => height >= BARS[1] + ROW_OF_IMAGES && view.classes.len() <= DIGITS,
        Some(_) => false,
    };
    if !below {
        images(ui, results, view, actions);
        ui.add_space(style::GAP);
    }
    per_class(ui, evaluation, view, BARS[1]);
    ui.add_space(style::GAP);
    if below {
        images(ui, results, view, actions);
        ui.add_space(style::GAP);
    }
    reliability(ui, evaluation, view, 0.0);
}

/// The model and test set, and accuracy with its confidence interval, errors and loss.
fn headline(ui: &mut Ui, app: &App, results: &ResultsView, view: &mut ResultsScreen) {
    let evaluation = &results.measured.evaluation;
    let wrong = error_count(evaluation);
    let (low, high) = wilson_interval(evaluation.images.saturating_sub(wrong), evaluation.images);
    ui.weak(subject(app, results));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = style::GAP * 2.0;
        let interval = format!("likely {} to {}", percent(low, 2), percent(high, 2));
        let about = "Fraction of test images classified correctly, with its 95% confidence interval (Wilson score)";
        style::figure(ui, "Accuracy", &percent(evaluation.accuracy, 2), &interval).on_hover_text(about);
        let images = format!("of {} images", grouped(evaluation.images));
        style::figure(ui, "Errors", &grouped(wrong), &images);
        let about = "Mean cross-entropy in nats: −ln p averaged over all images, where p is the probability given to the correct class. Confident errors cost most. With calibrated probabilities, unlike the loss while training";
        let guessing = format!("calibrated; guessing: {:.2}", (results.model.classes.len() as f64).ln());
        style::figure(ui, "Loss", &format!("{:.4}", evaluation.loss), &guessing).on_hover_text(about);
        if let Some(error) = calibration_error(evaluation) {
            let about = "Expected calibration error (ECE, 15 bins): the average gap between confidence and accuracy. 0% means that predictions made with 90% confidence are right 90% of the time";
            style::figure(ui, "Calibration error", &percent(error, 2), "mean gap between confidence and accuracy").on_hover_text(about);
        }
        let mut toggle = |filter, text, about: &str| {
            let shown = view.filter == Some(filter);
            if ui.add(style::toggle(text, shown)).on_hover_text(about).clicked() {
                view.filter = Some(filter).filter(|_| !shown);
            }
        };
        if evaluation.suspected > 0 {
            let text = format!("Suspected label errors ({})", grouped(evaluation.suspected));
            let about = "Images whose labels are probably wrong, by confident learning";
            toggle(Filter::Suspects, text, about);
        }
        if let Some(record) = &view.record {
            let about = capitalized(&filter::hard_sentence(record));
            toggle(Filter::Hard, filter::HARD.to_owned(), &about);
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
    let cell = filter::choose(&mut view.filter, Filter::cell, Filter::Cell, |cell| {
        confusion::show(ui, evaluation, classes, cell, side)
    });
    let text = match cell {
        Some((truth, answer)) => {
            let count = evaluation.count(truth, answer);
            format!("{}.", cell_sentence(classes, truth, answer, count))
        }
        None => "Select a cell to see its images.".to_owned(),
    };
    ui.weak(text);
}

fn per_class(ui: &mut Ui, evaluation: &Evaluation, view: &mut ResultsScreen, height: f32) {
    let classes = &view.classes;
    style::semibold(ui, format!("Accuracy by {}", classes.noun()));
    filter::choose(&mut view.filter, Filter::class, Filter::Class, |class| {
        bars::show(ui, evaluation, classes, class, height);
    });
}

/// The diagram, in so much `spare` room more than it needs, in points.
fn reliability(ui: &mut Ui, evaluation: &Evaluation, view: &mut ResultsScreen, spare: f32) {
    filter::choose(&mut view.filter, Filter::bin, Filter::Bin, |bin| {
        reliability::show(ui, evaluation, bin, spare);
    });
}

/// The images that were asked for: what they are in a line, and the images themselves.
fn images(ui: &mut Ui, results: &ResultsView, view: &mut ResultsScreen, actions: &mut Vec<Action>) {
    let evaluation = &results.measured.evaluation;
    let shown = view.images();
    let record = view.record.as_ref();
    let (title, what) =
        filter::caption(view.filter, shown.len(), evaluation, &view.classes, record);
    ui.horizontal_wrapped(|ui| {
        // In line with the other titles.
        if view.filter.is_none() {
            ui.spacing_mut().interact_size.y = 0.0;
        }
        style::semibold(ui, title);
        ui.weak(what);
        if view.filter.is_some() {
            let all = ui.add(style::small_button("Show all"));
            if all.on_hover_text("Show all misclassified images").clicked() {
                view.filter = None;
            }
        }
        if view.filter == Some(Filter::Suspects) {
            let export = ui.add(style::small_button("Export list…"));
            let about = "Save the suspects and your answers as a CSV table";
            if export.on_hover_text(about).clicked() {
                actions.extend(save_suspects(results, &view.answers));
            }
        }
    });
    if view.filter == Some(Filter::Suspects)
        && label_errors::learned(&results.model, &results.measured)
    {
        style::caution(ui, label_errors::LEARNED);
    }
    if shown.is_empty() {
        let nothing = filter::nothing(view.filter, evaluation, &view.classes);
        style::weak(ui, nothing);
        return;
    }
    let (classes, answers) = (&view.classes, &view.answers);
    let filter = view.filter;
    let clicked = view.gallery.show(ui, &shown, |sample| match filter {
        Some(Filter::Suspects) => {
            Texts::of_suspect(sample, classes, answers.get(&sample.index).copied())
        }
        Some(Filter::Hard) => Texts::of_hard(sample, classes, filter::hard(sample, record)),
        _ => Texts::of_answer(sample, classes),
    });
    view.opened = clicked.or(view.opened);
}

fn save_suspects(results: &ResultsView, answers: &BTreeMap<u64, u8>) -> Option<Action> {
    let answer = |index| answers.get(&index).copied();
    let (classes, mut bytes) = (&results.model.classes, Vec::new());
    label_errors::table(&results.measured, classes, answer, &mut bytes).ok()?;
    Some(Action::SaveFile {
        title: "Save the suspected label errors",
        name: "label-errors.csv".to_owned(),
        bytes,
    })
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
