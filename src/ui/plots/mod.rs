//! The live plots: loss, accuracy, throughput and memory of the current or last run.

mod chart;
pub mod curves;
pub mod pyramid;
pub mod readout;
pub mod scale;
pub mod screenshot;
mod toolbar;

use eframe::egui::{self, Label, RichText, Ui};

use self::chart::{Chart, Look, Shown, Trace};
use self::curves::{Curves, Measured};
use self::pyramid::Pyramid;
use self::readout::{Readout, megabytes, percents};
use self::scale::{XAxis, XUnit, YAxis, significant};
use self::screenshot::Pending;
use super::help::{self, Topic};
use super::learning::preview;
use super::style;
use crate::app::{Action, App, Phase, RunView};
use crate::text::format::grouped;

/// Which traces are visible.
#[derive(Clone, Copy, Debug)]
struct VisibleTraces {
    smooth: bool,
    raw: bool,
    validation: bool,
}

/// View state of the plots.
#[derive(Debug, Default)]
pub struct PlotsView {
    curves: Curves,
    unit: XUnit,
    visible: VisibleTraces,
    /// The step of the crosshair, set by pointer or keys.
    cursor: Option<f64>,
    screenshot: Option<Pending>,
    preview: preview::Preview,
}

impl Default for VisibleTraces {
    fn default() -> Self {
        Self { smooth: true, raw: true, validation: true }
    }
}

/// Draws the plots, or how to get some.
pub fn show(ui: &mut Ui, app: &App, view: &mut PlotsView, actions: &mut Vec<Action>) {
    let Some(run) = &app.run else {
        return preview::show(ui, app, &mut view.preview);
    };
    view.curves.sync(run, app.settings.smoothing);
    if view.curves.loss.raw.is_empty() && view.curves.validation_loss.is_empty() {
        before_the_first_step(ui, run);
        return;
    }
    let asked = toolbar::show(ui, app, view, actions);
    let area = egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| charts(ui, app, view, run, asked.fit));
    if asked.image {
        view.screenshot = Some(Pending::request(ui.ctx(), area.inner_rect));
    }
    if let Some(screenshot) = view.screenshot.as_ref().and_then(Pending::arrived)
        && let Some(pending) = view.screenshot.take()
        && let Some(bytes) = pending.png(&screenshot)
    {
        actions.push(Action::SavePng { name: format!("inkling-{}-plots.png", run.config.model), bytes });
    }
}

fn before_the_first_step(ui: &mut Ui, run: &RunView) {
    match run.phase {
        Phase::Preparing(fraction) => {
            style::empty_state(ui, "Preparing the data", "The plots start with the first step.");
            ui.vertical_centered(|ui| {
                let bar = egui::ProgressBar::new(fraction).desired_width(260.0).text(format!("{:.0} %", fraction * 100.0));
                ui.add(bar).accessible_name("Data preparation progress");
            });
        }
        Phase::Failed | Phase::Interrupted => {
            style::empty_state(ui, "The run failed before its first step", "See the message above for the reason and what to do.");
        }
        Phase::Discarded => {
            style::empty_state(ui, "The run was stopped before its first step", "Press Start to begin a new one.");
        }
        _ => style::empty_state(ui, "Computing the first step", "The plots start with it."),
    }
}

/// The four charts, and the crosshair they share.
fn charts(ui: &mut Ui, app: &App, view: &mut PlotsView, run: &RunView, fit: bool) {
    let steps_per_epoch = run.steps_per_epoch().map_or(1.0, |steps| steps.max(1) as f64);
    let x = XAxis { unit: view.unit, steps_per_epoch };
    let [loss, accuracy, throughput, memory] = subjects(&view.curves, view.visible, style::palette(ui), app.settings.log_loss);
    let readout = view.cursor.and_then(|step| Readout::at(&view.curves, step, steps_per_epoch));
    let frame = Frame { x, last_step: view.curves.last_step(), cursor: view.cursor, fit, readout };

    // Loss and accuracy get three eighths of the height each, throughput and memory the rest; below these minima the area scrolls.
    let height = ui.available_height();
    let learning = (height * 0.375).max(style::PLOT_MIN_HEIGHT);
    let machine = (height * 0.25).max(style::PLOT_MIN_HEIGHT * 0.75);
    let mut shown = vec![frame.show(ui, loss, learning), frame.show(ui, accuracy, learning)];
    ui.columns(2, |columns| {
        for (column, subject) in columns.iter_mut().zip([throughput, memory]) {
            shown.push(frame.show(column, subject, machine));
        }
    });
    move_cursor(ui, view, &shown);
    if let Some(readout) = &frame.readout
        && let Some(place) = shown.iter().find(|shown| shown.hovered_step.is_some() || shown.focused)
    {
        readout::show(ui, readout, x, place.transform);
    }
}

/// The crosshair follows the pointer; otherwise it stays where the arrow keys moved it while a chart has the focus.
fn move_cursor(ui: &Ui, view: &mut PlotsView, shown: &[Shown]) {
    let before = view.cursor;
    let hovered = shown.iter().find_map(|shown| shown.hovered_step);
    let moved = shown.iter().find_map(|shown| shown.moved_to);
    view.cursor = moved.or(hovered).or(if shown.iter().any(|shown| shown.focused) { before } else { None });
    if view.cursor != before {
        // Charts above the one that moved the crosshair were drawn with its old position.
        ui.ctx().request_repaint();
    }
}

/// What one chart shows.
struct Subject<'a> {
    /// The name in the accessibility tree.
    name: &'static str,
    title: &'static str,
    about: &'static str,
    has_help: bool,
    newest: String,
    traces: Vec<Trace<'a>>,
    y: YAxis,
}

fn subjects<'a>(curves: &'a Curves, visible: VisibleTraces, palette: style::Palette, log: bool) -> [Subject<'a>; 4] {
    let learning = |measured: &'a Measured, validation: &'a Pyramid| {
        let all = [
            (visible.raw, Trace { name: "raw", curve: &measured.raw, look: Look::Faint, color: palette.train }),
            (visible.smooth, Trace { name: "training", curve: &measured.smooth, look: Look::Solid, color: palette.train }),
            (visible.validation, Trace { name: "validation", curve: validation, look: Look::Marked, color: palette.validation }),
        ];
        all.into_iter().filter(|(shown, _)| *shown).map(|(_, trace)| trace).collect()
    };
    let machine = |name, curve| vec![Trace { name, curve, look: Look::Solid, color: palette.machine }];
    let linear = |unit, from_zero| YAxis { log: false, unit, from_zero };
    [
        Subject {
            name: "Loss plot",
            title: "Loss",
            about: "Cross-entropy in nats: the mean of −ln p, where p is the probability given to the correct digit. Lower is better.",
            has_help: true,
            newest: newest(curves, &[("training", &curves.loss.smooth), ("validation", &curves.validation_loss)], significant),
            traces: learning(&curves.loss, &curves.validation_loss),
            y: YAxis { log, unit: "", from_zero: false },
        },
        Subject {
            name: "Accuracy plot",
            title: "Accuracy",
            about: "Share of images classified correctly. Validation images are not trained on, so validation accuracy shows how well the network generalises.",
            has_help: false,
            newest: newest(curves, &[("training", &curves.accuracy.smooth), ("validation", &curves.validation_accuracy)], percents),
            traces: learning(&curves.accuracy, &curves.validation_accuracy),
            y: linear("%", false),
        },
        Subject {
            name: "Throughput plot",
            title: "Throughput",
            about: "Training images per second.",
            has_help: false,
            newest: newest(curves, &[("", &curves.throughput)], |value| format!("{} images/s", grouped(value.max(0.0).round() as u64))),
            traces: machine("throughput", &curves.throughput),
            y: linear("", true),
        },
        Subject {
            name: "Memory plot",
            title: "Memory",
            about: "Memory used by Inkling, in MB (1 MB = 1024 × 1024 bytes).",
            has_help: false,
            newest: newest(curves, &[("", &curves.memory)], megabytes),
            traces: machine("memory", &curves.memory),
            y: linear("", true),
        },
    ]
}

/// The latest values as text: "training 0.12, validation 0.10 at step 940".
fn newest(curves: &Curves, figures: &[(&str, &Pyramid)], format: impl Fn(f64) -> String) -> String {
    let values: Vec<String> = figures
        .iter()
        .filter_map(|(name, curve)| curve.points().last().map(|point| format!("{name} {}", format(point[1])).trim_start().to_owned()))
        .collect();
    if values.is_empty() { "no data yet".to_owned() } else { format!("{} at step {:.0}", values.join(", "), curves.last_step()) }
}

/// What all charts share in this frame.
struct Frame {
    x: XAxis,
    last_step: f64,
    cursor: Option<f64>,
    fit: bool,
    readout: Option<Readout>,
}

impl Frame {
    /// A title line and the chart below it, together `height` points high.
    fn show(&self, ui: &mut Ui, subject: Subject<'_>, height: f32) -> Shown {
        ui.vertical(|ui| {
            let top = ui.cursor().top();
            let title = |ui: &mut Ui| {
                ui.label(RichText::new(subject.title).strong()).on_hover_text(subject.about);
                ui.add(Label::new(RichText::new(&subject.newest).weak()).truncate());
            };
            // The first chart's title line ends with the help on all plots.
            if subject.has_help {
                help::beside(ui, Topic::Plots, title);
            } else {
                _ = ui.horizontal(title);
            }
            let value = self.readout.as_ref().map_or(subject.newest, Readout::sentence);
            let left = height - (ui.cursor().top() - top) - ui.spacing().item_spacing.y;
            let Self { x, last_step, cursor, fit, .. } = *self;
            Chart { name: subject.name, value, traces: subject.traces, x, y: subject.y, last_step, height: left, cursor, fit }.show(ui)
        })
        .inner
    }
}
