//! The curves of compared models in one plot, each with its own line, mark and letter.

use eframe::egui::{Color32, Rangef, RichText, Role, Ui, WidgetInfo, vec2};
use egui_plot::{Line, LineStyle, MarkerShape, PlotPoint, PlotPoints, Points, Text};

use crate::infer::comparison_words::letter;
use crate::records::{EpochRecord, RunSummary};
use crate::ui::plots::scale::{GRID, marks, significant};
use crate::ui::plots::static_plot;
use crate::ui::style::{self, Palette};

/// The plot's height, in points.
const HEIGHT: f32 = 240.0;

/// What is plotted, and over what.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    figure: Figure,
    unit: Unit,
}

/// A figure of each epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Figure {
    #[default]
    ValidationAccuracy,
    ValidationLoss,
    TrainingLoss,
}

/// The horizontal axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unit {
    #[default]
    Epoch,
    Step,
    Time,
}

impl Figure {
    const ALL: [Self; 3] = [Self::ValidationAccuracy, Self::ValidationLoss, Self::TrainingLoss];

    const fn label(self) -> &'static str {
        match self {
            Self::ValidationAccuracy => "Validation accuracy",
            Self::ValidationLoss => "Validation loss",
            Self::TrainingLoss => "Training loss",
        }
    }

    fn of(self, record: &EpochRecord) -> f64 {
        f64::from(match self {
            Self::ValidationAccuracy => record.validation_accuracy * 100.0,
            Self::ValidationLoss => record.validation_loss,
            Self::TrainingLoss => record.train_loss,
        })
    }

    fn text(self, value: f64) -> String {
        if self == Self::ValidationAccuracy { format!("{value:.2} %") } else { significant(value) }
    }
}

impl Unit {
    const ALL: [Self; 3] = [Self::Epoch, Self::Step, Self::Time];

    const fn label(self) -> &'static str {
        match self {
            Self::Epoch => "by epoch",
            Self::Step => "by step",
            Self::Time => "by seconds of training",
        }
    }
}

/// Draws the choice of what is plotted, and the plot.
pub fn show(ui: &mut Ui, runs: &[&RunSummary], choice: &mut Choice) {
    ui.horizontal_wrapped(|ui| {
        for figure in Figure::ALL {
            if ui.add(style::toggle(ui, figure.label(), choice.figure == figure)).clicked() {
                choice.figure = figure;
            }
        }
        style::divider(ui);
        for unit in Unit::ALL {
            if ui.add(style::toggle(ui, unit.label(), choice.unit == unit)).clicked() {
                choice.unit = unit;
            }
        }
    });
    let palette = style::palette(ui);
    let Choice { figure, unit } = *choice;
    let curves: Vec<Vec<[f64; 2]>> = runs.iter().map(|run| points(run, figure, unit)).collect();
    let last =
        |(position, curve): (usize, &Vec<[f64; 2]>)| curve.last().map(|[_, value]| format!("{} {}", letter(position), figure.text(*value)));
    let value = curves.iter().enumerate().filter_map(last).collect::<Vec<_>>().join(", ");
    let percent = if figure == Figure::ValidationAccuracy { " %" } else { "" };
    let shown = static_plot("compared curves", vec2(ui.available_width(), HEIGHT), &palette)
        .set_margin_fraction(vec2(0.05, 0.1))
        .grid_spacing(Rangef::new(GRID, 3.0 * GRID))
        .x_grid_spacer(|input| marks(&input, 60.0))
        .y_grid_spacer(|input| marks(&input, 28.0))
        .x_axis_formatter(|mark, _| format!("{}", (mark.value * 1e4).round() / 1e4))
        .y_axis_formatter(move |mark, _| format!("{}{percent}", (mark.value * 1e4).round() / 1e4))
        .show(ui, |plot_ui| {
            for (position, curve) in curves.into_iter().enumerate() {
                let (color, line, shape) = look(position, palette);
                let name = letter(position);
                plot_ui.line(Line::new(name.clone(), PlotPoints::from(curve.clone())).color(color).width(2.0).style(line));
                if let Some([x, y]) = curve.last() {
                    let text = RichText::new(format!("   {name}")).strong().color(palette.ink);
                    plot_ui.text(Text::new(name.clone(), PlotPoint::new(*x, *y), text));
                }
                plot_ui.points(Points::new(name, PlotPoints::from(curve)).color(color).radius(4.5).shape(shape));
            }
        });
    let title = format!("{} {}", figure.label(), unit.label());
    shown
        .response
        .widget_info(|| WidgetInfo { current_text_value: Some(value.clone()), ..WidgetInfo::labeled(Role::Figure, true, title.clone()) });
}

/// A point for each epoch.
fn points(run: &RunSummary, figure: Figure, unit: Unit) -> Vec<[f64; 2]> {
    let mut seconds = 0.0;
    let point = |record: &EpochRecord| {
        seconds += f64::from(record.seconds);
        let x = match unit {
            Unit::Epoch => f64::from(record.epoch),
            Unit::Step => record.step as f64,
            Unit::Time => seconds,
        };
        [x, figure.of(record)]
    };
    run.epochs.iter().map(point).filter(|[x, y]| x.is_finite() && y.is_finite()).collect()
}

/// The colour, line and mark of a model: no two have the same mark, and no neighbours the same line.
fn look(position: usize, palette: Palette) -> (Color32, LineStyle, MarkerShape) {
    let colors = [palette.train, palette.validation, palette.machine, palette.ink];
    let lines = [LineStyle::Solid, LineStyle::dashed_dense(), LineStyle::dotted_dense(), LineStyle::dashed_loose()];
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
    (colors[position % colors.len()], lines[(position + position / lines.len()) % lines.len()], shapes[position % shapes.len()])
}
