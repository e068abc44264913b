//! The small static plot of a finished run: accuracy by epoch.

use eframe::egui::{Rangef, RichText, Role, Sense, Ui, WidgetInfo, vec2};
use egui_plot::{Line, LineStyle, MarkerShape, Plot, PlotPoints, Points};

use crate::records::{EpochRecord, RunSummary};
use crate::ui::plots::scale::{GRID, marks};
use crate::ui::style;

/// Draws the plot; nothing for a run without epochs.
pub fn show(ui: &mut Ui, summary: &RunSummary) {
    let palette = style::palette(ui);
    let curve = |of: fn(&EpochRecord) -> f32| -> Vec<[f64; 2]> {
        summary.epochs.iter().map(|record| [f64::from(record.epoch), f64::from(of(record)) * 100.0]).collect()
    };
    let (training, validation) = (curve(|record| record.train_accuracy), curve(|record| record.validation_accuracy));
    let Some(last) = validation.last() else { return };
    let value = format!("validation {:.2} % after epoch {:.0}", last[1], last[0]);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Accuracy by epoch").strong());
        ui.label(RichText::new("dots: training, diamonds: validation").weak().small());
    });
    let shown = Plot::new("history")
        .height(130.0)
        .width(ui.available_width().min(520.0))
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .show_x(false)
        .show_y(false)
        .show_background(false)
        .grid_color(palette.grid)
        .sense(Sense::hover())
        .set_margin_fraction(vec2(0.05, 0.1))
        .grid_spacing(Rangef::new(GRID, 3.0 * GRID))
        .x_grid_spacer(|input| marks(&input, 60.0))
        .y_grid_spacer(|input| marks(&input, 28.0))
        .x_axis_formatter(|mark, _| if mark.value.fract().abs() < 1e-6 { format!("{:.0}", mark.value) } else { String::new() })
        .y_axis_formatter(|mark, _| if mark.value > 100.0 { String::new() } else { format!("{} %", (mark.value * 100.0).round() / 100.0) })
        .show(ui, |plot_ui| {
            plot_ui.line(Line::new("training", PlotPoints::from(training.clone())).color(palette.train).width(2.0));
            plot_ui.points(Points::new("training", PlotPoints::from(training)).color(palette.train).radius(3.0));
            let dashed = Line::new("validation", PlotPoints::from(validation.clone())).color(palette.validation);
            plot_ui.line(dashed.width(1.5).style(LineStyle::dashed_dense()));
            let marks = Points::new("validation", PlotPoints::from(validation)).color(palette.validation);
            plot_ui.points(marks.radius(5.0).shape(MarkerShape::Diamond));
        });
    shown.response.widget_info(|| WidgetInfo {
        current_text_value: Some(value.clone()),
        ..WidgetInfo::labeled(Role::Figure, true, "Accuracy by epoch")
    });
}
