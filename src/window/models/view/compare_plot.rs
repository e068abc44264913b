//! The curves of compared models in one plot, each with its own line, mark and letter.

use eframe::egui::{Align2, Color32, Rangef, RichText, Role, Ui, WidgetInfo, vec2};
use egui_plot::{Line, LineStyle, MarkerShape, PlotPoint, PlotPoints, Points, Text};

use super::compare_curves::{Figure, Unit, points};
use crate::infer::comparison_words::letter;
use crate::records::{RunSummary, StepPoint};
use crate::window::plots::scale::{GRID, marks, whole_marks};
use crate::window::plots::static_plot;
use crate::window::style;
use crate::window::style::Palette;

/// The plot's height, in points.
const HEIGHT: f32 = 240.0;

#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    figure: Figure,
    unit: Unit,
}

/// Draws the choice of what is plotted, and the plot.
pub fn show(ui: &mut Ui, runs: &[(&RunSummary, &[StepPoint])], choice: &mut Choice) {
    ui.horizontal_wrapped(|ui| {
        for figure in Figure::ALL {
            if ui
                .add(style::toggle(ui, figure.label(), choice.figure == figure))
                .clicked()
            {
                choice.figure = figure;
            }
        }
        style::divider(ui);
        for unit in Unit::ALL {
            if ui
                .add(style::toggle(ui, unit.label(), choice.unit == unit))
                .clicked()
            {
                choice.unit = unit;
            }
        }
    });
    let palette = style::palette(ui);
    let Choice { figure, unit } = *choice;
    let curves: Vec<Vec<[f64; 2]>> = runs
        .iter()
        .map(|(run, steps)| points(run, steps, figure, unit))
        .collect();
    let unknown: Vec<String> = (0..)
        .zip(&curves)
        .filter(|(_, curve)| curve.is_empty())
        .map(|(position, _)| letter(position))
        .collect();
    let last = |(position, curve): (usize, &Vec<[f64; 2]>)| {
        curve
            .last()
            .map(|[_, value]| format!("{} {}", letter(position), figure.text(*value)))
    };
    let value = curves
        .iter()
        .enumerate()
        .filter_map(last)
        .collect::<Vec<_>>()
        .join(", ");
    let percent = if figure == Figure::ValidationAccuracy {
        " %"
    } else {
        ""
    };
    let shown = static_plot(
        "compared curves",
        vec2(ui.available_width(), HEIGHT),
        &palette,
    )
    .set_margin_fraction(vec2(0.08, 0.1))
    .grid_spacing(Rangef::new(GRID, 3.0 * GRID))
    .x_grid_spacer(move |input| {
        if unit == Unit::Epoch {
            whole_marks(&input, 60.0)
        } else {
            marks(&input, 60.0)
        }
    })
    .y_grid_spacer(|input| marks(&input, 28.0))
    .x_axis_formatter(|mark, _| format!("{}", (mark.value * 1e4).round() / 1e4))
    .y_axis_formatter(move |mark, _| format!("{}{percent}", (mark.value * 1e4).round() / 1e4))
    .show(ui, |plot_ui| {
        for (position, curve) in curves.into_iter().enumerate() {
            let (color, line, shape) = look(position, palette);
            let name = letter(position);
            plot_ui.line(
                Line::new(name.clone(), PlotPoints::from(curve.clone()))
                    .color(color)
                    .width(2.0)
                    .style(line),
            );
            if let Some([x, y]) = curve.last() {
                let text = RichText::new(format!("   {name}"))
                    .strong()
                    .color(palette.ink);
                plot_ui.text(
                    Text::new(name.clone(), PlotPoint::new(*x, *y), text)
                        .anchor(Align2::LEFT_CENTER),
                );
            }
            // Hundreds of marks would hide the line.
            let marked = if figure == Figure::StepLoss {
                curve.last().copied().into_iter().collect()
            } else {
                curve
            };
            plot_ui.points(
                Points::new(name, PlotPoints::from(marked))
                    .color(color)
                    .radius(4.5)
                    .shape(shape),
            );
        }
    });
    if figure == Figure::StepLoss && !unknown.is_empty() {
        ui.label(style::hint(format!(
            "The steps of {} are not known.",
            unknown.join(", ")
        )));
    }
    let title = format!("{} {}", figure.label(), unit.label());
    shown.response.widget_info(|| WidgetInfo {
        current_text_value: Some(value.clone()),
        ..WidgetInfo::labeled(Role::Figure, true, title.clone())
    });
}

/// The colour, line and mark of a model: no two have the same mark, and no neighbours the same
/// line.
fn look(position: usize, palette: Palette) -> (Color32, LineStyle, MarkerShape) {
    let colors = [
        palette.train,
        palette.validation,
        palette.machine,
        palette.ink,
    ];
    let lines = [
        LineStyle::Solid,
        LineStyle::dashed_dense(),
        LineStyle::dotted_dense(),
        LineStyle::dashed_loose(),
    ];
    let shapes = [
        MarkerShape::Circle,
        MarkerShape::Diamond,
        MarkerShape::Square,
        MarkerShape::Up,
        MarkerShape::Cross,
        MarkerShape::Plus,
        MarkerShape::Down,
        MarkerShape::Asterisk,
    ];
    (
        colors[position % colors.len()],
        lines[(position + position / lines.len()) % lines.len()],
        shapes[position % shapes.len()],
    )
}
