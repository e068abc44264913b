//! The plot of the best validation accuracy so far, by the time that the sweep has run, and how
//! much each setting matters, as bars.

use eframe::egui::{Align2, Rect, RichText, Role, Sense, TextStyle, Ui, pos2, vec2};
use egui_plot::PlotBounds;

use crate::sweep::{Outcome, Trial};
use crate::text::format::{duration, percent, plain};
use crate::window::plots::scale::{Series, marks, percent_tick, static_plot};
use crate::window::{SweepView, style};

/// Draws it in what is left of the height.
pub fn best_so_far(ui: &mut Ui, sweep: &SweepView) {
    const TITLE: &str = "Best so far";
    let palette = style::palette(ui);
    style::caption(ui, TITLE, "diamonds: completed, circles: ended early");
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
    let in_unit = |points: Vec<[f64; 2]>| -> Vec<[f64; 2]> {
        let points = points.into_iter();
        points.map(|[x, y]| [x / seconds, y]).collect()
    };
    let [steps, pruned, completed] = [steps, pruned, completed].map(in_unit);
    let shown = static_plot("best so far", ui.available_size(), &palette)
        .x_grid_spacer(|input| marks(&input, 72.0))
        // Where the axes meet, the lowest accuracy has the room.
        .x_axis_formatter(|mark, _| {
            if mark.value <= 0.0 {
                String::new()
            } else {
                format!("{} {unit}", plain(mark.value))
            }
        })
        .y_axis_formatter(percent_tick)
        .show(ui, |plot| {
            let (low, high) = range.with_margin();
            let corner = [right / seconds, high * 100.0];
            plot.set_plot_bounds(PlotBounds::from_min_max([0.0, low * 100.0], corner));
            Series("best", &steps, palette.validation).dashed(plot, 1.5);
            let pruned = Series("ended early", &pruned, palette.faded);
            plot.points(pruned.marks(3.0).filled(false));
            Series("completed", &completed, palette.validation).diamonds(plot, 4.0);
        });
    let value = best.last().map_or_else(
        || "no trial has been completed".to_owned(),
        |&[seconds, accuracy]| format!("{} after {}", percent(accuracy, 2), duration(seconds)),
    );
    style::describe(&shown.response, Role::Figure, TITLE, &value);
}

/// The width of the names and of the figures, in points.
const NAME: f32 = 124.0;
const FIGURE: f32 = 48.0;

/// Draws them, the largest first.
pub fn importance(ui: &mut Ui, sweep: &SweepView) {
    let about = "How much the best quarter of the trials differs from all trials in each setting (PED-ANOVA, Watanabe et al. 2023). \
                 Each setting is assessed separately; interactions are not captured";
    ui.horizontal_wrapped(|ui| {
        style::semibold(ui, "Importance of each setting").on_hover_text(about);
        ui.label(
            RichText::new("judged by the best quarter of the trials")
                .weak()
                .small(),
        )
        .on_hover_text(about);
    });
    let Some(importance) = &sweep.importance else {
        style::note(
            ui,
            "Shown once 8 trials have ended and their accuracies differ.",
        );
        return;
    };
    let mut bars: Vec<(&'static str, f64)> = sweep
        .definition
        .space
        .iter()
        .zip(importance)
        .map(|(dimension, share)| (dimension.setting.row().label, *share))
        .collect();
    bars.sort_by(|a, b| b.1.total_cmp(&a.1));
    let palette = style::palette(ui);
    let font = TextStyle::Body.resolve(ui.style());
    for (name, share) in bars {
        let (rect, response) = ui.allocate_exact_size(
            vec2(ui.available_width(), ui.spacing().interact_size.y * 0.8),
            Sense::hover(),
        );
        let figure = percent(share, 0);
        let middle = rect.center().y;
        let painter = ui.painter();
        let at = pos2(rect.left(), middle);
        painter.text(at, Align2::LEFT_CENTER, name, font.clone(), palette.ink);
        let track = Rect::from_min_max(rect.min + vec2(NAME, 3.0), rect.max - vec2(FIGURE, 3.0));
        style::bar(painter, track, share as f32, palette.accent, palette);
        let at = pos2(rect.right(), middle);
        painter.text(at, Align2::RIGHT_CENTER, &figure, font.clone(), palette.ink);
        let named = format!("Importance of {}", name.to_lowercase());
        style::describe(&response, Role::ProgressIndicator, &named, &figure);
    }
}

/// How far below the median the axis reaches, in distances from the median to the best.
const REACH: f64 = 4.0;
/// The least that the axis spans: a tenth of a percentage point.
const MIN_SPAN: f64 = 0.001;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccuracyRange {
    pub low: f64,
    pub high: f64,
    pub clips: bool,
}

impl AccuracyRange {
    pub fn of(trials: &[Trial]) -> Self {
        let mut all: Vec<f64> = trials
            .iter()
            .filter_map(Trial::accuracy)
            .filter(|accuracy| accuracy.is_finite())
            .collect();
        all.sort_unstable_by(f64::total_cmp);
        let (Some(&least), Some(&high)) = (all.first(), all.last()) else {
            return Self {
                low: 0.0,
                high: 1.0,
                clips: false,
            };
        };
        let median = all[all.len() / 2];
        let low = least
            .max(median - REACH * (high - median).max(MIN_SPAN))
            .min(high - MIN_SPAN)
            .max(0.0);
        Self {
            low,
            high,
            clips: least < low,
        }
    }

    /// Its ends with some space, for a plot.
    pub fn with_margin(self) -> (f64, f64) {
        let margin = 0.08 * (self.high - self.low);
        (self.low - margin, self.high + margin)
    }

    /// Where an accuracy stands, from 0 at the lower end to 1 at the upper one.
    pub fn share(self, accuracy: f64) -> f32 {
        ((accuracy - self.low) / (self.high - self.low)).clamp(0.0, 1.0) as f32
    }
}
