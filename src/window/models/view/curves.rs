//! The small static plots of finished runs: accuracy by epoch, or by step if there are few epochs;
//! and what repeated runs have in common, which have one card for all of them in the list.

use std::ops::RangeInclusive;
use std::path::Path;

use eframe::egui::{Label, RichText, Role, Ui, vec2};
use egui_plot::FilledArea;

use super::Selected;
use crate::records::{EpochRecord, RunSummary};
use crate::runs::{Repeats, RunEntry};
use crate::text::format::percent;
use crate::window::plots::scale::{Series, percent_tick, static_plot, whole_tick};
use crate::window::{Thumbnail, style};

/// The limits of the plot's height, in points, and the greatest fraction of its width.
const HEIGHT: RangeInclusive<f32> = 150.0..=560.0;
const GREATEST_SHARE: f32 = 0.5;
/// Left below the plot for the folder's name, in points.
const BELOW: f32 = 60.0;

/// Points of a curve.
type Curve = Vec<[f64; 2]>;

/// Draws the plot; nothing for a run without epochs. If `curve` has the steps of a run with few
/// epochs, they take the place of the epochs.
pub fn accuracy_plot(ui: &mut Ui, summary: &RunSummary, curve: Option<&Thumbnail>) {
    let palette = style::palette(ui);
    let Some(last) = summary.epochs.last() else {
        return;
    };
    let value = format!(
        "validation {} after epoch {}",
        percent(last.validation_accuracy.into(), 2),
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
    style::caption(ui, title, how);
    let width = ui.available_width();
    // Down to the lower edge of the window.
    let space = ui.clip_rect().bottom() - ui.cursor().top() - BELOW;
    let height = space
        .min(width * GREATEST_SHARE)
        .clamp(*HEIGHT.start(), *HEIGHT.end());
    let shown = static_plot("history", vec2(width, height), &palette)
        .set_margin_fraction(vec2(0.05, 0.1))
        .x_axis_formatter(whole_tick)
        .y_axis_formatter(percent_tick)
        .show(ui, |plot| {
            let of_training = Series("training", &training, palette.train);
            of_training.line(plot, 2.0);
            if steps.is_none() {
                of_training.dots(plot, 3.0);
            }
            let of_validation = Series("validation", &validation, palette.validation);
            of_validation.dashed(plot, 1.5);
            of_validation.diamonds(plot, 5.0);
        });
    style::describe(&shown.response, Role::Figure, title, &value);
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

/// The plot's height, in points.
const REPEATS_HEIGHT: f32 = 180.0;

/// The run whose card stands for this one: the first of those that were repeated together.
pub fn represented_by<'r>(runs: &'r [RunEntry], entry: &'r RunEntry) -> &'r RunEntry {
    let repeats = entry
        .summary
        .as_ref()
        .ok()
        .and_then(|summary| Repeats::of(runs, summary));
    let first = repeats.as_ref().and_then(|repeats| repeats.runs().first());
    // A run that was stopped is none of them, and stands for itself.
    let is_one = |repeats: &Repeats<'_>| {
        repeats
            .runs()
            .iter()
            .any(|(one, _)| one.folder == entry.folder)
    };
    first
        .filter(|_| repeats.as_ref().is_some_and(is_one))
        .map_or(entry, |(first, _)| first)
}

/// True for a run in place of which another is listed.
pub fn is_represented(runs: &[RunEntry], entry: &RunEntry) -> bool {
    represented_by(runs, entry).folder != entry.folder
}

/// Draws what the repeated runs have in common, and each of them to select; nothing for a single
/// run.
pub fn repeats(
    ui: &mut Ui,
    runs: &[RunEntry],
    entry: &RunEntry,
    summary: &RunSummary,
    selected: &mut Option<Selected>,
) {
    let Some(repeats) = Repeats::of(runs, summary) else {
        return;
    };
    style::semibold(ui, "Repeated with other seeds");
    ui.add(Label::new(repeats.sentence()).wrap());
    plot(ui, &repeats, &entry.folder);
    ui.horizontal_wrapped(|ui| {
        ui.label("Run:");
        for (one, run) in repeats.runs() {
            let text = format!(
                "seed {}, {}",
                run.config.seed,
                percent(repeats.accuracy(run), 2)
            );
            if ui
                .add(style::toggle(&text, one.folder == entry.folder))
                .on_hover_text("Show this one")
                .clicked()
            {
                *selected = Some(Selected::Run(one.folder.clone()));
            }
        }
    });
    ui.add_space(style::GAP);
}

/// Validation accuracy by epoch: the curve of each run, the shown run's stronger, and
/// a band for the interval of the mean.
fn plot(ui: &mut Ui, repeats: &Repeats<'_>, shown: &Path) {
    const TITLE: &str = "Validation accuracy of all runs";
    let palette = style::palette(ui);
    let by_epoch = repeats.by_epoch();
    if by_epoch.len() < 2 {
        return;
    }
    ui.label(RichText::new("validation accuracy by epoch; band: 95% interval of the mean, dashed: mean, strong: this run").weak().small());
    let epochs: Vec<f64> = by_epoch
        .iter()
        .map(|(epoch, _)| f64::from(*epoch))
        .collect();
    let of = |figure: fn(&crate::math::statistics::MeanInterval) -> f64| -> Vec<f64> {
        by_epoch
            .iter()
            .map(|(_, mean)| figure(mean).clamp(0.0, 1.0) * 100.0)
            .collect()
    };
    let (low, high, means) = (
        of(|mean| mean.low),
        of(|mean| mean.high),
        of(|mean| mean.mean),
    );
    let mean: Vec<[f64; 2]> = epochs
        .iter()
        .zip(&means)
        .map(|(epoch, mean)| [*epoch, *mean])
        .collect();
    let value = means
        .last()
        .map(|mean| {
            format!(
                "mean {} after epoch {}",
                percent(mean / 100.0, 2),
                epochs.len()
            )
        })
        .unwrap_or_default();
    let curves: Vec<(bool, Curve)> = repeats
        .runs()
        .iter()
        .map(|(one, run)| {
            let by_epoch = |record: &EpochRecord| (record.epoch.into(), record.validation_accuracy);
            (one.folder == shown, points(run, by_epoch))
        })
        .collect();
    let size = vec2(ui.available_width(), REPEATS_HEIGHT);
    let drawn = static_plot("repeated runs", size, &palette)
        .set_margin_fraction(vec2(0.05, 0.1))
        .x_axis_formatter(whole_tick)
        .y_axis_formatter(percent_tick)
        .show(ui, |plot| {
            let band = FilledArea::new("interval", &epochs, &low, &high);
            plot.add(band.fill_color(palette.validation.gamma_multiply(0.2)));
            for (is_shown, curve) in &curves {
                let strength = if *is_shown { 1.0 } else { 0.4 };
                let run = Series("run", curve, palette.train.gamma_multiply(strength));
                run.line(plot, if *is_shown { 2.0 } else { 1.0 });
                run.dots(plot, if *is_shown { 3.0 } else { 2.0 });
            }
            let mean = Series("mean", &mean, palette.validation);
            mean.dashed(plot, 1.5);
            mean.diamonds(plot, 4.0);
        });
    style::describe(&drawn.response, Role::Figure, TITLE, &value);
}
