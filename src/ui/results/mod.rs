//! Owns the results screen: what a model gets right and wrong on a test split.
//! Must not measure anything: [`App`] holds the evaluation, `statistics` what follows from it.

pub mod confusion;
mod mistakes;
mod per_digit;
mod selection;

use eframe::egui::{Align, Layout, RichText, ScrollArea, Ui, vec2};

use self::confusion::Cell;
use self::mistakes::Gallery;
use super::style;
use crate::app::{Action, App, ResultsView};
use crate::math::statistics::{cell_sentence, error_count, wilson_interval};
use crate::records::{Evaluation, ModelRef};
use crate::run_config::DataSpec;
use crate::text::format::{grouped, percent};

/// What is seen of the results screen and not part of the application's state.
#[derive(Debug, Default)]
pub struct ResultsScreen {
    /// The cell that filters the mistakes.
    cell: Option<Cell>,
    gallery: Gallery,
    model: Option<ModelRef>,
    data: Option<DataSpec>,
}

/// Below this width the parts stand under each other.
const TWO_COLUMNS: f32 = 700.0;

/// Draws the screen.
pub fn show(ui: &mut Ui, app: &App, view: &mut ResultsScreen, actions: &mut Vec<Action>) {
    selection::show(ui, app, view, actions);
    ui.add_space(style::GAP / 2.0);
    let Some(results) = &app.results else {
        let body = "Finish a run, or choose a model and data above and press Evaluate. Then you see here which digits are confused, \
                    and the pictures that were read wrongly.";
        style::empty_state(ui, "Nothing measured yet", body);
        return;
    };
    if view.gallery.sync(ui.ctx(), &results.evaluation.mistakes) {
        view.cell = None;
    }
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.set_max_width(ui.available_width().min(1500.0));
        headline(ui, results);
        ui.add_space(style::GAP);
        let evaluation = &results.evaluation;
        let wide = ui.available_width() >= TWO_COLUMNS;
        if wide {
            let side = (ui.available_width() * 0.5).clamp(320.0, 560.0);
            ui.horizontal_top(|ui| {
                ui.allocate_ui_with_layout(vec2(side, 0.0), Layout::top_down(Align::Min), |ui| matrix(ui, evaluation, view, side));
                ui.add_space(style::GAP);
                ui.vertical(|ui| per_class(ui, evaluation, side.min(440.0)));
            });
        } else {
            let side = ui.available_width().min(480.0);
            matrix(ui, evaluation, view, side);
            ui.add_space(style::GAP);
            per_class(ui, evaluation, 300.0);
        }
        ui.add_space(style::GAP);
        worst(ui, evaluation, view);
    });
}

/// Accuracy with its interval, errors, loss, and whose they are.
fn headline(ui: &mut Ui, results: &ResultsView) {
    let evaluation = &results.evaluation;
    let wrong = error_count(evaluation);
    let (low, high) = wilson_interval(evaluation.images.saturating_sub(wrong), evaluation.images);
    let whose = format!("{}, trained on {}, measured on {}", results.model.kind.label(), results.model.data.label(), results.data.label());
    ui.label(RichText::new(whose).weak());
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = style::GAP * 2.0;
        let interval = format!("95 % interval: {} to {}", percent(low, 2), percent(high, 2));
        let about = "If other pictures of the same kind were read, the share read rightly would lie in this interval 95 times out of 100 (Wilson 1927)";
        style::figure(ui, "Accuracy", &percent(evaluation.accuracy, 2), &interval).on_hover_text(about);
        style::figure(ui, "Errors", &grouped(wrong), &format!("of {} pictures", grouped(evaluation.images)));
        let about = "Mean cross-entropy: how surprised the model was by the right answers, in nats. Sure and wrong costs most.";
        style::figure(ui, "Loss", &format!("{:.4}", evaluation.loss), "nats").on_hover_text(about);
    });
}

fn matrix(ui: &mut Ui, evaluation: &Evaluation, view: &mut ResultsScreen, side: f32) {
    ui.label(RichText::new("What was read as what").strong());
    let explained = confusion::show(ui, evaluation, &mut view.cell, side);
    let text = match explained {
        Some((truth, answer)) => format!("{}.", cell_sentence(truth, answer, confusion::count(evaluation, (truth, answer)))),
        None => "Rows are the right digits, columns the answers. Choose a cell to see its mistakes.".to_owned(),
    };
    ui.label(RichText::new(text).weak());
}

fn per_class(ui: &mut Ui, evaluation: &Evaluation, height: f32) {
    ui.label(RichText::new("Accuracy for each digit").strong());
    per_digit::show(ui, evaluation, height);
}

fn worst(ui: &mut Ui, evaluation: &Evaluation, view: &mut ResultsScreen) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Worst mistakes").strong());
        match view.cell {
            None => {
                ui.label(RichText::new("the surest wrong answers first").weak());
            }
            Some((truth, answer)) => {
                ui.label(RichText::new(format!("only {truth} read as {answer}")).weak());
                if ui.button("Show all").clicked() {
                    view.cell = None;
                }
            }
        }
    });
    let count = view.cell.map_or(0, |cell| confusion::count(evaluation, cell));
    view.gallery.show(ui, view.cell, count);
}
