//! The Draw screen: the canvas on one side, the model's prediction on the other. The engine classifies; [`App`] holds its answer.

pub mod bars;
pub mod canvas;
mod device;
pub mod stroke;
mod tools;
mod verdict;

use eframe::egui::{Align, Layout, RichText, Ui, vec2};

use super::help::{self, Topic};
use super::image_sheet::ImageSheet;
use super::style;
use crate::app::{Action, App};
use crate::ink::Image;
use crate::records::Prediction;
use crate::text::format::capitalised;

/// View state of the Draw screen.
#[derive(Debug, Default)]
pub struct DrawView {
    pen: canvas::Pen,
    shown_image: Option<(Image, ImageSheet)>,
}

/// The canvas's largest side, in points: larger ones are tiring to draw on.
const CANVAS_MAX: f32 = 760.0;
/// Smallest and largest width of the column beside the canvas, in points.
const COLUMN_WIDTH: std::ops::RangeInclusive<f32> = 280.0..=460.0;

/// Draws the whole screen.
pub fn show(ui: &mut Ui, app: &App, view: &mut DrawView, actions: &mut Vec<Action>) {
    tools::shortcuts(ui, actions);
    let room = ui.available_size();
    let gap = style::GAP * 2.0;
    let tools_height = ui.spacing().interact_size.y + ui.spacing().item_spacing.y * 2.0;
    let column_width = (room.x * 0.36).clamp(*COLUMN_WIDTH.start(), *COLUMN_WIDTH.end());
    let side = (room.x - column_width - gap).min(room.y - tools_height).clamp(160.0, CANVAS_MAX).floor();
    let reading = app.prediction();
    let used = side + gap + column_width;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.add_space(((room.x - used) / 2.0).max(0.0).floor());
        ui.allocate_ui_with_layout(vec2(side, room.y), Layout::top_down(Align::Min), |ui| {
            ui.spacing_mut().item_spacing.x = style::GAP / 2.0;
            tools::show(ui, app, false, actions);
            canvas::show(ui, app, &mut view.pen, side, actions);
        });
        ui.add_space(gap);
        ui.allocate_ui_with_layout(vec2(column_width, side + tools_height), Layout::top_down(Align::Min), |ui| {
            ui.spacing_mut().item_spacing.x = style::GAP / 2.0;
            prediction_column(ui, app, view, reading, actions);
        });
    });
}

/// Canvas, verdict and bars in a narrow column beside the plots, at most `height` points high where that leaves a canvas to draw on.
pub fn show_compact(ui: &mut Ui, app: &App, view: &mut DrawView, height: f32, actions: &mut Vec<Action>) {
    tools::shortcuts(ui, actions);
    let reading = app.prediction();
    let bars = 60.0;
    let rest = style::VERDICT_SMALL * 1.25 + bars + 3.0 * ui.spacing().interact_size.y;
    let side = ui.available_width().min(height - rest).clamp(120.0, 360.0).floor();
    tools::show(ui, app, true, actions);
    canvas::show(ui, app, &mut view.pen, side, actions);
    verdict::verdict(ui, reading, style::VERDICT_SMALL);
    bars::vertical(ui, reading, bars);
    if let Some(reader) = &app.model_in_use {
        let line = capitalised(&crate::app::verdict::model_sentence(reader, app.run.as_ref()));
        ui.label(RichText::new(line).weak().small());
    }
}

fn prediction_column(ui: &mut Ui, app: &App, view: &mut DrawView, reading: Option<&Prediction>, actions: &mut Vec<Action>) {
    let tall = ui.available_height() > 560.0;
    verdict::verdict(ui, reading, if tall { style::VERDICT_LARGE } else { style::VERDICT_MEDIUM });
    ui.add_space(style::GAP / 2.0);
    ui.horizontal_top(|ui| {
        verdict::model_input(ui, view, reading, if tall { 140.0 } else { 96.0 });
        ui.add_space(style::GAP / 2.0);
        ui.vertical(|ui| {
            help::beside(ui, Topic::Draw, |ui| _ = ui.label(RichText::new("What the model sees").strong()));
            ui.label(RichText::new("28 × 28 pixels").weak());
            verdict::timing(ui, reading);
        });
    });
    ui.add_space(style::GAP / 2.0);
    let below = 3.0 * (ui.spacing().interact_size.y + ui.spacing().item_spacing.y) + style::GAP / 2.0;
    ui.allocate_ui_with_layout(
        vec2(ui.available_width(), (ui.available_height() - below).max(172.0)),
        Layout::top_down(Align::Min),
        |ui| {
            ui.spacing_mut().item_spacing.y = 3.0;
            bars::horizontal(ui, reading);
        },
    );
    ui.add_space(style::GAP / 2.0);
    verdict::model_choice(ui, app, actions);
    device::show(ui, app, actions);
}
