//! The small static plot of a finished run: accuracy by epoch, or by step where there are few
//! epochs.

use std::ops::RangeInclusive;

use eframe::egui::{Rangef, RichText, Role, Ui, WidgetInfo, vec2};
use egui_plot::{Line, LineStyle, MarkerShape, PlotPoints, Points};

use crate::records::{EpochRecord, RunSummary};
use crate::window::Thumbnail;
use crate::window::plots::scale::{GRID, marks};
use crate::window::plots::static_plot;
use crate::window::style;

/// The limits of the plot's height, in points, and the greatest share of its width.
const HEIGHT: RangeInclusive<f32> = 150.0..=560.0;
const GREATEST_SHARE: f32 = 0.5;
/// Left below the plot for the folder's name, in points.
const BELOW: f32 = 60.0;

/// Points of a curve.
type Curve = Vec<[f64; 2]>;

/// Draws the plot; nothing for a run without epochs. Where `curve` has the steps of a run with few
/// epochs, they take the place of the epochs.
pub fn show(ui: &mut Ui, summary: &RunSummary, curve: Option<&Thumbnail>) {
    let palette = style::palette(ui);
    let Some(last) = summary.epochs.last() else {
        return;
    };
    let value = format!(
        "validation {:.2} % after epoch {}",
        last.validation_accuracy * 100.0,
        last.epoch
    );
    let steps = curve.filter(|curve| !curve.validation);
    let (title, how) = match steps {
        Some(_) => ("Accuracy by step", "line: training, diamonds: validation"),
        None => ("Accuracy by epoch", "dots: training, diamonds: validation"),
    };
    let (training, validation) = match steps {
        Some(curve) => (
            by_step(curve, last.step),
            points(summary, |record| {
                (record.step as f64, record.validation_accuracy)
            }),
        ),
        None => (
            points(summary, |record| {
                (record.epoch.into(), record.train_accuracy)
            }),
            points(summary, |record| {
                (record.epoch.into(), record.validation_accuracy)
            }),
        ),
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(title).strong());
        ui.label(RichText::new(how).weak().small());
    });
    let width = ui.available_width();
    // Down to the lower edge of the window.
    let space = ui.clip_rect().bottom() - ui.cursor().top() - BELOW;
    let height = space
        .min(width * GREATEST_SHARE)
        .clamp(*HEIGHT.start(), *HEIGHT.end());
    let shown = static_plot("history", vec2(width, height), &palette)
        .set_margin_fraction(vec2(0.05, 0.1))
        .grid_spacing(Rangef::new(GRID, 3.0 * GRID))
        .x_grid_spacer(|input| marks(&input, 60.0))
        .y_grid_spacer(|input| marks(&input, 28.0))
        .x_axis_formatter(|mark, _| {
            if mark.value.fract().abs() < 1e-6 {
                format!("{:.0}", mark.value)
            } else {
                String::new()
            }
        })
        .y_axis_formatter(|mark, _| {
            if mark.value > 100.0 {
                String::new()
            } else {
                format!("{} %", (mark.value * 100.0).round() / 100.0)
            }
        })
        .show(ui, |plot_ui| {
            plot_ui.line(
                Line::new("training", PlotPoints::from(training.clone()))
                    .color(palette.train)
                    .width(2.0),
            );
            if steps.is_none() {
                plot_ui.points(
                    Points::new("training", PlotPoints::from(training))
                        .color(palette.train)
                        .radius(3.0),
                );
            }
            let dashed = Line::new("validation", PlotPoints::from(validation.clone()))
                .color(palette.validation);
            plot_ui.line(dashed.width(1.5).style(LineStyle::dashed_dense()));
            let marks =
                Points::new("validation", PlotPoints::from(validation)).color(palette.validation);
            plot_ui.points(marks.radius(5.0).shape(MarkerShape::Diamond));
        });
    shown.response.widget_info(|| WidgetInfo {
        current_text_value: Some(value.clone()),
        ..WidgetInfo::labeled(Role::Figure, true, title)
    });
}

/// A point per epoch, accuracies in percent.
fn points(summary: &RunSummary, of: impl Fn(&EpochRecord) -> (f64, f32)) -> Curve {
    let point = |record| {
        let (x, accuracy) = of(record);
        [x, f64::from(accuracy) * 100.0]
    };
    summary.epochs.iter().map(point).collect()
}

/// The curve's points, each in the middle of the steps it stands for.
fn by_step(curve: &Thumbnail, last_step: u64) -> Curve {
    let each = last_step as f64 / curve.values.len() as f64;
    curve
        .values
        .iter()
        .enumerate()
        .map(|(index, value)| [(index as f64 + 0.5) * each, f64::from(*value) * 100.0])
        .collect()
}
