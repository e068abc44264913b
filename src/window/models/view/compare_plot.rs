//! The curves of compared models in one plot, each with its own line, mark and letter: of each
//! epoch, or of each step, over epochs, steps or seconds.

use eframe::egui::{Align2, Color32, RichText, Role, Ui, vec2};
use egui_plot::{Line, LineStyle, MarkerShape, PlotPoint, PlotPoints, Points, Text};

use crate::infer::model_comparison::letter;
use crate::records::{EpochRecord, RunSummary, StepPoint};
use crate::text::format::{percent, significant};
use crate::window::RunningMean;
use crate::window::plots::scale::{marks, static_plot, whole_marks};
use crate::window::style::SemiBold as _;
use crate::window::style::{self, Palette};

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
            style::choose(ui, &mut choice.figure, figure, figure.label());
        }
        style::divider(ui);
        for unit in Unit::ALL {
            style::choose(ui, &mut choice.unit, unit, unit.label());
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
        "%"
    } else {
        ""
    };
    let size = vec2(ui.available_width(), HEIGHT);
    let shown = static_plot("compared curves", size, &palette)
        .set_margin_fraction(vec2(0.08, 0.1))
        .x_grid_spacer(move |input| {
            if unit == Unit::Epoch {
                whole_marks(&input, 60.0)
            } else {
                marks(&input, 60.0)
            }
        })
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
                        .semibold()
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
    style::describe(&shown.response, Role::Figure, &title, &value);
}

/// The color, line and mark of a model: no two have the same mark, and no neighbors the same
/// line.
fn look(position: usize, palette: Palette) -> (Color32, LineStyle, MarkerShape) {
    const SHAPES: [MarkerShape; 8] = [
        MarkerShape::Circle,
        MarkerShape::Diamond,
        MarkerShape::Square,
        MarkerShape::Up,
        MarkerShape::Cross,
        MarkerShape::Plus,
        MarkerShape::Down,
        MarkerShape::Asterisk,
    ];
    let Palette {
        train,
        validation,
        machine,
        ink,
        ..
    } = palette;
    let lines = [
        LineStyle::Solid,
        LineStyle::dashed_dense(),
        LineStyle::dotted_dense(),
        LineStyle::dashed_loose(),
    ];
    let line = lines[(position + position / lines.len()) % lines.len()];
    let color = [train, validation, machine, ink][position % 4];
    (color, line, SHAPES[position % SHAPES.len()])
}

/// How much of the mean before it each step's loss keeps: single batches scatter too much for eight
/// curves to be told apart.
const SMOOTHING: f64 = 0.9;
/// Points of a curve of steps, at most: more than the plot is wide would only take time.
const POINTS: usize = 400;

/// A figure of each epoch, or of each step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Figure {
    #[default]
    ValidationAccuracy,
    ValidationLoss,
    TrainingLoss,
    StepLoss,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    #[default]
    Epoch,
    Step,
    Time,
}

impl Figure {
    pub const ALL: [Self; 4] = [
        Self::ValidationAccuracy,
        Self::ValidationLoss,
        Self::TrainingLoss,
        Self::StepLoss,
    ];

    pub const fn label(self) -> &'static str {
        match self {
            Self::ValidationAccuracy => "Validation accuracy",
            Self::ValidationLoss => "Validation loss",
            Self::TrainingLoss => "Training loss",
            Self::StepLoss => "Training loss per step",
        }
    }

    /// This figure of an epoch; steps have their own.
    fn of(self, record: &EpochRecord) -> f64 {
        f64::from(match self {
            Self::ValidationAccuracy => record.validation_accuracy * 100.0,
            Self::ValidationLoss => record.validation_loss,
            Self::TrainingLoss | Self::StepLoss => record.train_loss,
        })
    }

    pub fn text(self, value: f64) -> String {
        if self == Self::ValidationAccuracy {
            percent(value / 100.0, 2)
        } else {
            significant(value)
        }
    }
}

impl Unit {
    pub const ALL: [Self; 3] = [Self::Epoch, Self::Step, Self::Time];

    pub const fn label(self) -> &'static str {
        match self {
            Self::Epoch => "by epoch",
            Self::Step => "by step",
            Self::Time => "by seconds of training",
        }
    }
}

/// The points of a run's curve; its steps are given beside its summary, which has only the epochs.
pub fn points(run: &RunSummary, steps: &[StepPoint], figure: Figure, unit: Unit) -> Vec<[f64; 2]> {
    let ends = ends_of_epochs(run, unit);
    let mut points: Vec<[f64; 2]> = if figure == Figure::StepLoss {
        of_steps(steps, &ends)
    } else {
        let epochs = ends.iter().zip(&run.epochs);
        epochs
            .map(|(&[_, x], record)| [x, figure.of(record)])
            .collect()
    };
    points.retain(|[x, y]| x.is_finite() && y.is_finite());
    points
}

/// The last step of each epoch, and where that is on the axis.
fn ends_of_epochs(run: &RunSummary, unit: Unit) -> Vec<[f64; 2]> {
    let mut seconds = 0.0;
    let end = |record: &EpochRecord| {
        seconds += f64::from(record.seconds);
        let x = match unit {
            Unit::Epoch => f64::from(record.epoch),
            Unit::Step => record.step as f64,
            Unit::Time => seconds,
        };
        [record.step as f64, x]
    };
    run.epochs.iter().map(end).collect()
}

/// The smoothed losses, at equal distances within each epoch.
fn of_steps(steps: &[StepPoint], ends: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut mean = RunningMean::default();
    let finite = steps.iter().filter(|point| point.loss.is_finite());
    let smoothed: Vec<(f64, f64)> = finite
        .map(|point| {
            (
                point.step as f64,
                mean.take(f64::from(point.loss), SMOOTHING),
            )
        })
        .collect();
    let every = smoothed.len().div_ceil(POINTS).max(1);
    let last = smoothed.len().saturating_sub(1);
    let shown = smoothed.into_iter().enumerate();
    let shown = shown.filter(|(index, _)| index % every == 0 || *index == last);
    shown
        .filter_map(|(_, (step, loss))| Some([position(step, ends)?, loss]))
        .collect()
}

/// Where a step is on the axis; `None` after the last epoch, whose time is not known.
fn position(step: f64, ends: &[[f64; 2]]) -> Option<f64> {
    let after = ends.iter().position(|[end, _]| *end >= step)?;
    let [to_step, to] = ends[after];
    let [from_step, from] = after
        .checked_sub(1)
        .map_or([0.0, 0.0], |before| ends[before]);
    Some(if to_step > from_step {
        from + (to - from) * (step - from_step) / (to_step - from_step)
    } else {
        to
    })
}
