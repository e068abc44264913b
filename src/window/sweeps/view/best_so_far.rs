//! The plot of the best validation accuracy so far, by the time that the sweep has run.

use eframe::egui::{Rangef, RichText, Role, Ui, WidgetInfo};
use egui_plot::{Line, LineStyle, MarkerShape, PlotBounds, PlotPoints, Points};

use super::accuracy_range::AccuracyRange;
use crate::sweep::Outcome;
use crate::text::format::{duration, percent, plain};
use crate::window::SweepView;
use crate::window::plots::scale::{GRID, marks};
use crate::window::plots::static_plot;
use crate::window::style;

/// Draws it in what is left of the height.
pub fn show(ui: &mut Ui, sweep: &SweepView) {
    const TITLE: &str = "Best so far";
    let palette = style::palette(ui);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(TITLE).strong());
        ui.label(
            RichText::new("diamonds: completed, circles: ended early")
                .weak()
                .small(),
        );
    });
    let range = AccuracyRange::of(&sweep.trials);
    let ended = |wanted: &Outcome| -> Vec<[f64; 2]> {
        let of = |&(number, seconds): &(u32, f64)| {
            let trial = sweep
                .trial(number)
                .filter(|trial| trial.outcome.as_ref() == Some(wanted))?;
            Some([seconds, trial.accuracy()?.max(range.low) * 100.0])
        };
        sweep.ends.iter().filter_map(of).collect()
    };
    let (completed, pruned) = (ended(&Outcome::Completed), ended(&Outcome::Pruned));
    let best = sweep.best_so_far();
    let mut steps: Vec<[f64; 2]> = Vec::new();
    for &[seconds, accuracy] in &best {
        steps.extend(steps.last().map(|last| [seconds, last[1]]));
        steps.push([seconds, accuracy * 100.0]);
    }
    steps.extend(
        steps
            .last()
            .map(|last| [sweep.elapsed.max(last[0]), last[1]]),
    );
    let right = sweep.elapsed.max(1.0) * 1.03;
    let (seconds, unit) = match right {
        ..120.0 => (1.0, "s"),
        120.0..7200.0 => (60.0, "min"),
        _ => (3600.0, "h"),
    };
    let in_unit = |points: Vec<[f64; 2]>| {
        points
            .into_iter()
            .map(|[x, y]| [x / seconds, y])
            .collect::<Vec<_>>()
    };
    let shown = static_plot("best so far", ui.available_size(), &palette)
        .grid_spacing(Rangef::new(GRID, 3.0 * GRID))
        .x_grid_spacer(|input| marks(&input, 72.0))
        .y_grid_spacer(|input| marks(&input, 28.0))
        // Where the axes meet, the lowest accuracy has the room.
        .x_axis_formatter(|mark, _| {
            if mark.value <= 0.0 {
                String::new()
            } else {
                format!("{} {unit}", plain(mark.value))
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
            let (low, high) = range.with_margin();
            plot_ui.set_plot_bounds(PlotBounds::from_min_max(
                [0.0, low * 100.0],
                [right / seconds, high * 100.0],
            ));
            let dashed = Line::new("best", PlotPoints::from(in_unit(steps)))
                .color(palette.validation)
                .width(1.5);
            plot_ui.line(dashed.style(LineStyle::dashed_dense()));
            plot_ui.points(
                Points::new("ended early", in_unit(pruned))
                    .color(palette.faded)
                    .radius(3.0)
                    .filled(false),
            );
            plot_ui.points(
                Points::new("completed", in_unit(completed))
                    .color(palette.validation)
                    .radius(4.0)
                    .shape(MarkerShape::Diamond),
            );
        });
    let value = best.last().map_or_else(
        || "no trial has been completed".to_owned(),
        |&[seconds, accuracy]| format!("{} after {}", percent(accuracy, 2), duration(seconds)),
    );
    shown.response.widget_info(|| WidgetInfo {
        current_text_value: Some(value.clone()),
        ..WidgetInfo::labeled(Role::Figure, true, TITLE)
    });
}
