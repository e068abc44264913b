//! Parallel coordinates: an axis for each setting and one for the accuracy, and a line through them
//! for each trial (Inselberg 1985).

use eframe::egui::{
    Align2, Color32, Painter, Pos2, Rect, Role, Sense, Shape, Stroke, TextStyle, Ui, pos2, vec2,
};

use super::plots::AccuracyRange;
use crate::sweep::{Dimension, Outcome, Range, Trial, Value};
use crate::text::format::{percent, plain};
use crate::window::style::{self, Palette};
use crate::window::{Action, Pushes as _, SweepAction, SweepView};

/// Above and below the axes: their names, and the ends; in points.
const HEAD: f32 = 22.0;
const FOOT: f32 = 18.0;
/// Beside the first and the last axis.
const SIDE: f32 = 64.0;
/// A line is meant by the pointer within this distance.
const REACH: f32 = 8.0;

/// Draws them in what is left of the height.
pub fn show(ui: &mut Ui, sweep: &SweepView, actions: &mut Vec<Action>) {
    const TITLE: &str = "Parallel coordinates";
    let palette = style::palette(ui);
    let how = "a line for each trial, the best ones in color; click one to select it";
    style::caption(ui, TITLE, how);
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click());
    let range = AccuracyRange::of(&sweep.trials);
    let axes = Axes::new(rect, sweep.definition.space.len() + 1);
    // The best are drawn last, over the others.
    let mut lines: Vec<(&Trial, Vec<Pos2>)> = sweep
        .ranked()
        .into_iter()
        .filter_map(|trial| Some((trial, axes.line(sweep, trial, range)?)))
        .collect();
    lines.reverse();
    let hovered = response.hover_pos().and_then(|at| nearest(&lines, at));
    let painter = ui.painter_at(rect);
    axes.draw(&painter, palette);
    for (trial, line) in &lines {
        let share = trial
            .accuracy()
            .map_or(0.0, |accuracy| range.share(accuracy));
        painter.add(Shape::line(line.clone(), stroke(trial, share, palette)));
    }
    for number in [sweep.selected, hovered].into_iter().flatten() {
        if let Some((_, line)) = lines.iter().find(|(trial, _)| trial.number == number) {
            painter.add(Shape::line(line.clone(), Stroke::new(3.0, palette.ink)));
            for at in line {
                painter.circle_filled(*at, 4.0, palette.ink);
            }
        }
    }
    axes.label(&painter, sweep, range, ui, palette);
    let best = sweep.best().map_or_else(
        || "no trial has been completed".to_owned(),
        |best| sweep.sentence(best),
    );
    style::describe(&response, Role::Figure, TITLE, &best);
    response.pushes(actions, || SweepAction::Select(hovered));
    if let Some(trial) = hovered.and_then(|number| sweep.trial(number)) {
        response.on_hover_text_at_pointer(sweep.sentence(trial));
    }
}

/// The trial whose line is nearest to this point, if one is near.
fn nearest(lines: &[(&Trial, Vec<Pos2>)], at: Pos2) -> Option<u32> {
    let distance = |line: &[Pos2]| {
        line.windows(2)
            .map(|ends| to_segment(at, ends[0], ends[1]))
            .fold(f32::INFINITY, f32::min)
    };
    // Of lines that lie on each other the one on top is meant.
    let all = lines
        .iter()
        .rev()
        .map(|(trial, line)| (trial.number, distance(line)));
    all.filter(|(_, distance)| *distance <= REACH)
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(number, _)| number)
}

/// The distance of a point from a line segment.
fn to_segment(at: Pos2, from: Pos2, to: Pos2) -> f32 {
    let along = to - from;
    let share = ((at - from).dot(along) / along.length_sq().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
    at.distance(from + along * share)
}

fn stroke(trial: &Trial, share: f32, palette: Palette) -> Stroke {
    match trial.outcome {
        Some(Outcome::Completed) => Stroke::new(
            1.0 + share,
            palette.accent.gamma_multiply(0.25 + 0.75 * share * share),
        ),
        _ => Stroke::new(1.0, palette.faded.gamma_multiply(0.35)),
    }
}

struct Axes {
    top: f32,
    bottom: f32,
    left: f32,
    apart: f32,
    count: usize,
}

impl Axes {
    fn new(rect: Rect, count: usize) -> Self {
        let apart = (rect.width() - 2.0 * SIDE) / (count - 1).max(1) as f32;
        Self {
            top: rect.top() + HEAD + FOOT,
            bottom: rect.bottom() - FOOT,
            left: rect.left() + SIDE,
            apart,
            count,
        }
    }

    fn at(&self, axis: usize, share: f32) -> Pos2 {
        pos2(
            self.left + self.apart * axis as f32,
            self.bottom + (self.top - self.bottom) * share,
        )
    }

    /// The line of a trial that has completed an epoch.
    fn line(&self, sweep: &SweepView, trial: &Trial, range: AccuracyRange) -> Option<Vec<Pos2>> {
        let settings = sweep.definition.space.iter().zip(&trial.values).enumerate();
        let mut line: Vec<Pos2> = settings
            .map(|(axis, (dimension, value))| {
                Some(self.at(axis, dimension.share_of(value)? as f32))
            })
            .collect::<Option<_>>()?;
        line.push(self.at(line.len(), range.share(trial.accuracy()?)));
        Some(line)
    }

    fn draw(&self, painter: &Painter, palette: Palette) {
        for axis in 0..self.count {
            painter.line_segment(
                [self.at(axis, 0.0), self.at(axis, 1.0)],
                Stroke::new(1.0, palette.line),
            );
        }
    }

    fn label(
        &self,
        painter: &Painter,
        sweep: &SweepView,
        range: AccuracyRange,
        ui: &Ui,
        palette: Palette,
    ) {
        let (name_font, font) = (
            TextStyle::Body.resolve(ui.style()),
            TextStyle::Small.resolve(ui.style()),
        );
        let text = |at: Pos2, anchor: Align2, text: String, color: Color32| {
            let font = if anchor == Align2::CENTER_BOTTOM && color == palette.ink {
                &name_font
            } else {
                &font
            };
            style::text_with_halo(painter, at, anchor, text, font.clone(), color, palette);
        };
        for axis in 0..self.count {
            let (low, high) = (self.at(axis, 0.0), self.at(axis, 1.0));
            let name = sweep
                .definition
                .space
                .get(axis)
                .map_or("Accuracy", |dimension| dimension.setting.row().label);
            text(
                high - vec2(0.0, FOOT),
                Align2::CENTER_BOTTOM,
                name.to_owned(),
                palette.ink,
            );
            let (lower, upper) = match sweep.definition.space.get(axis) {
                None => (
                    format!(
                        "{}{}",
                        if range.clips { "≤ " } else { "" },
                        percent(range.low, 2)
                    ),
                    percent(range.high, 2),
                ),
                Some(Dimension {
                    range: Range::Interval { low, high, .. },
                    ..
                }) => (plain(*low), plain(*high)),
                Some(Dimension {
                    range: Range::Values { .. },
                    ..
                }) => continue,
            };
            text(
                low + vec2(0.0, 2.0),
                Align2::CENTER_TOP,
                lower,
                palette.faded,
            );
            text(
                high - vec2(0.0, 2.0),
                Align2::CENTER_BOTTOM,
                upper,
                palette.faded,
            );
        }
        for (axis, dimension) in sweep.definition.space.iter().enumerate() {
            let Range::Values { values } = &dimension.range else {
                continue;
            };
            for value in values {
                let Some(share) = dimension.share_of(value) else {
                    continue;
                };
                let at = self.at(axis, share as f32);
                painter.circle_filled(at, 2.5, palette.line);
                text(
                    at + vec2(7.0, 0.0),
                    Align2::LEFT_CENTER,
                    label(dimension, value),
                    palette.faded,
                );
            }
        }
    }
}

fn label(dimension: &Dimension, value: &Value) -> String {
    let name = value.to_string();
    let known = dimension
        .setting
        .choices()
        .into_iter()
        .find(|(choice, _)| *choice == name);
    known.map_or(name, |(_, label)| label.to_owned())
}
