//! The reliability diagram: how often answers of each confidence are right.

use eframe::egui::{Rangef, RichText, Role, Ui, WidgetInfo, vec2};
use egui_plot::{AxisHints, GridMark, Line, LineStyle, PlotPoints, Points};

use crate::math::statistics::{calibration_error, reliability_sentence};
use crate::records::Evaluation;
use crate::text::format::percent;
use crate::window::plots::scale::GRID;
use crate::window::plots::static_plot;
use crate::window::style;

/// The plot's height, and the limit of its width, in points.
const HEIGHT: f32 = 150.0;
const MAX_WIDTH: f32 = 420.0;
/// The distance of two labels of an axis from which they begin to show, and from which they show in
/// full, in points.
const LABELS: Rangef = Rangef {
    min: 18.0,
    max: 24.0,
};
/// What the diagram takes with its texts, in points.
pub const TOTAL_HEIGHT: f32 = 250.0;

/// Draws the diagram with its sentence; nothing for results of older versions, which counted no
/// bins.
pub fn show(ui: &mut Ui, evaluation: &Evaluation) {
    let (Some(bins), Some(error)) = (&evaluation.reliability, calibration_error(evaluation)) else {
        return;
    };
    let palette = style::palette(ui);
    let points: Vec<[f64; 2]> = bins
        .iter()
        .filter_map(|bin| Some([bin.confidence * 100.0, bin.accuracy()? * 100.0]))
        .collect();
    let sentence = reliability_sentence(evaluation).unwrap_or_default();
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Reliability").strong());
        ui.label(
            RichText::new("dots: accuracy by confidence; dashed: exactly as sure as right")
                .weak()
                .small(),
        );
    });
    let shown = static_plot(
        "reliability",
        vec2(ui.available_width().min(MAX_WIDTH), HEIGHT),
        &palette,
    )
    // Dots at the ends are seen whole.
    .default_x_bounds(-3.0, 103.0)
    .default_y_bounds(-6.0, 106.0)
    .grid_spacing(Rangef::new(GRID, 3.0 * GRID))
    .x_grid_spacer(|_| quarters())
    .y_grid_spacer(|_| quarters())
    .custom_x_axes(vec![
        AxisHints::new_x()
            .formatter(|mark, _| percent_mark(mark.value))
            .label_spacing(LABELS),
    ])
    .custom_y_axes(vec![
        AxisHints::new_y()
            .formatter(|mark, _| percent_mark(mark.value))
            .label_spacing(LABELS),
    ])
    .show(ui, |plot_ui| {
        let diagonal = Line::new(
            "exactly as sure as right",
            PlotPoints::from(vec![[0.0, 0.0], [100.0, 100.0]]),
        );
        plot_ui.line(
            diagonal
                .color(palette.faded)
                .width(1.0)
                .style(LineStyle::dashed_dense()),
        );
        for point in &points {
            let gap = vec![[point[0], point[0]], *point];
            plot_ui.line(
                Line::new("difference", PlotPoints::from(gap))
                    .color(palette.validation)
                    .width(1.5),
            );
        }
        plot_ui.points(
            Points::new("accuracy", PlotPoints::from(points.clone()))
                .color(palette.train)
                .radius(4.0),
        );
    });
    let value = format!("calibration error {}. {sentence}", percent(error, 2));
    let about = "Across: how sure the model is, in 15 bins. Up: how often it is right then";
    shown.response.widget_info(|| WidgetInfo {
        current_text_value: Some(value.clone()),
        ..WidgetInfo::labeled(Role::Figure, true, "Reliability diagram")
    });
    shown.response.on_hover_text(about);
    ui.label(RichText::new(sentence).weak());
}

/// Marks at 0, 25, 50, 75 and 100 %.
fn quarters() -> Vec<GridMark> {
    (0..=4)
        .map(|quarter| GridMark {
            value: f64::from(quarter) * 25.0,
            step_size: 25.0,
        })
        .collect()
}

fn percent_mark(value: f64) -> String {
    format!("{value:.0} %")
}
