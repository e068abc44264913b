//! The reliability diagram: how often answers of each confidence are right. A bin can be selected
//! by pointer or keys.

use eframe::egui::{Rangef, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, vec2};
use egui_plot::{AxisHints, GridMark, PlotTransform};

use super::filter::bin_sentence;
use crate::math::statistics::{calibration_error, reliability_sentence};
use crate::records::{Evaluation, RELIABILITY_BINS};
use crate::text::format::{capitalized, percent};
use crate::window::plots::scale::{Series, static_plot};
use crate::window::style::{self, image_sheet};

/// The limits of the plot's height and of its width, in points.
const HEIGHT: std::ops::RangeInclusive<f32> = 150.0..=300.0;
const MAX_WIDTH: f32 = 420.0;
/// The distance of two labels of an axis from which they begin to show, and from which they show in
/// full, in points.
const LABELS: Rangef = Rangef {
    min: 18.0,
    max: 24.0,
};
/// The least height of the diagram with its texts, in points.
pub const TOTAL_HEIGHT: f32 = 270.0;

/// Draws the diagram with its sentence in `spare` points more than [`TOTAL_HEIGHT`], and updates the
/// chosen bin; nothing without images.
pub fn show(ui: &mut Ui, evaluation: &Evaluation, chosen: &mut Option<usize>, spare: f32) {
    let Some(error) = calibration_error(evaluation) else {
        return;
    };
    let bins = &evaluation.reliability;
    let palette = style::palette(ui);
    let points: Vec<[f64; 2]> = bins
        .iter()
        .filter_map(|bin| Some([bin.confidence * 100.0, bin.accuracy()? * 100.0]))
        .collect();
    let diagonal = [[0.0, 0.0], [100.0, 100.0]];
    let gaps: Vec<_> = points.iter().map(|&[x, y]| [[x, x], [x, y]]).collect();
    let sentence = reliability_sentence(evaluation).unwrap_or_default();
    let how =
        "dots: accuracy by confidence; lines: their distance from perfect calibration (dashed)";
    style::semibold(ui, "Reliability");
    style::note(ui, how);
    let height = (HEIGHT.start() + spare).clamp(*HEIGHT.start(), *HEIGHT.end());
    let size = vec2(ui.available_width().min(MAX_WIDTH), height);
    let shown = static_plot("reliability", size, &palette)
        // Dots at the ends are seen whole.
        .default_x_bounds(-3.0, 103.0)
        .default_y_bounds(-6.0, 106.0)
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
        .show(ui, |plot| {
            Series("perfect calibration", &diagonal, palette.faded).dashed(plot, 1.0);
            for gap in &gaps {
                Series("difference", gap, palette.validation).line(plot, 1.5);
            }
            Series("accuracy", &points, palette.train).dots(plot, 4.0);
        });
    choose_bin(ui, evaluation, &shown.transform, chosen, |chosen| {
        chosen.map_or_else(
            || format!("calibration error {}. {sentence}", percent(error, 2)),
            |bin| bin_sentence(evaluation, bin),
        )
    });
    ui.weak(sentence);
}

/// Bins that have images are chosen by a click on their part of the plot, or by the arrow keys.
fn choose_bin(
    ui: &Ui,
    evaluation: &Evaluation,
    plot: &PlotTransform,
    chosen: &mut Option<usize>,
    told: impl Fn(Option<usize>) -> String,
) {
    let id = ui.scope_id().with("bins of confidence");
    let whole = ui.interact(*plot.frame(), id, Sense::focusable_noninteractive());
    let place = |bin: usize| {
        let x =
            |bin: usize| plot.position_from_point_x(bin as f64 * 100.0 / RELIABILITY_BINS as f64);
        Rect::from_x_y_ranges(x(bin)..=x(bin + 1), plot.frame().y_range())
    };
    let palette = style::palette(ui);
    let filled: Vec<usize> = (0..RELIABILITY_BINS)
        .filter(|&bin| evaluation.reliability[bin].images > 0)
        .collect();
    for &bin in &filled {
        let sentence = capitalized(&bin_sentence(evaluation, bin));
        let response = ui.interact(place(bin), id.with(bin), Sense::CLICK);
        if response.clicked() {
            *chosen = Some(bin).filter(|_| *chosen != Some(bin));
        }
        let selected = *chosen == Some(bin);
        if selected || response.hovered() {
            let width = if selected { 2.0 } else { 1.0 };
            let stroke = Stroke::new(width, palette.accent);
            let painter = ui.painter();
            painter.rect_stroke(
                response.rect,
                style::RADIUS_SMALL,
                stroke,
                StrokeKind::Inside,
            );
        }
        response.widget_info(|| WidgetInfo::selected(Role::Cell, true, selected, &sentence));
        response.on_hover_text(format!("{sentence}. Click to see its images"));
    }
    image_sheet::choose_by_keys(ui, &whole, chosen, |from, down, right| {
        let place = filled.iter().position(|&bin| Some(bin) == from);
        let steps = right - down;
        let next = place.map_or(filled.len() - 1, |place| {
            place.saturating_add_signed(steps).min(filled.len() - 1)
        });
        filled[next]
    });
    style::describe(&whole, Role::Figure, "Reliability diagram", &told(*chosen));
}

/// Marks at 0, 25, 50, 75 and 100%.
fn quarters() -> Vec<GridMark> {
    (0..=4)
        .map(|quarter| GridMark {
            value: f64::from(quarter) * 25.0,
            step_size: 25.0,
        })
        .collect()
}

fn percent_mark(value: f64) -> String {
    format!("{value:.0}%")
}
