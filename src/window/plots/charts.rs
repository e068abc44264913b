//! The charts of a run, and the crosshair and the range of steps that they share.

use eframe::egui::{Label, RichText, Ui};

use super::chart::{Chart, Frame, Look, Shown, Trace};
use super::curves::{Curves, Measured, Pyramid};
use super::figure::Panel;
use super::range::{Gesture, consume_scroll};
use super::readout::{Readout, mebibytes, percents};
use super::scale::YAxis;
use super::{PlotsView, VisibleTraces, readout, x_axis};
use crate::records::LearningRateChange;
use crate::text::format::{grouped, joined, significant};
use crate::window::shell::help::{self, Topic};
use crate::window::style::{self, Palette};
use crate::window::{App, RunView};

/// How to find one's way in the plots.
const NAVIGATION: &str =
    "Scroll to zoom, drag to pan, Shift and drag to zoom to a box, double-click to fit.";

/// The charts, and the crosshair and range that they share.
pub(super) fn charts(ui: &mut Ui, app: &App, view: &mut PlotsView, run: &RunView) {
    let x = x_axis(view, run);
    let note = smoothing_note(run, view.visible);
    let [loss, accuracy, throughput, memory] = subjects(
        &view.curves,
        view.visible,
        style::palette(ui),
        app.ctx.settings.log_loss,
        &note,
    );
    let readout = view
        .cursor
        .and_then(|step| Readout::at(&view.curves, step, x.steps_per_epoch));
    let last_step = view.curves.last_step();
    let (range, is_whole) = (view.range.steps(last_step), view.range.is_whole());
    let charts = Charts {
        frame: Frame {
            x,
            range,
            last_step,
            cursor: view.cursor,
            selected: view.selected,
        },
        is_whole,
        readout,
        rate_changes: &run.history.rate_changes,
    };

    // Loss and accuracy share the height; throughput and memory get a quarter of it. Below these
    // minima the area scrolls.
    let height = ui.available_height();
    let share = if app.ctx.settings.speed_and_memory {
        0.375
    } else {
        0.5
    };
    let learning = (height * share).max(style::PLOT_MIN_HEIGHT);
    let machine = (height * 0.25).max(style::PLOT_MIN_HEIGHT * 0.75);
    let from = &mut view.box_from;
    let mut shown = vec![
        charts.show(ui, loss, learning, from),
        charts.show(ui, accuracy, learning, from),
    ];
    if app.ctx.settings.speed_and_memory {
        ui.columns(2, |columns| {
            for (column, subject) in columns.iter_mut().zip([throughput, memory]) {
                shown.push(charts.show(column, subject, machine, from));
            }
        });
    }
    move_cursor(ui, view, &shown);
    change_range(ui, view, &shown, last_step);
    if let Some(readout) = &charts.readout
        && view.selected.is_none()
        && let Some(place) = shown
            .iter()
            .find(|shown| shown.hovered_step.is_some() || shown.focused)
    {
        readout::show(ui, readout, x, place);
    }
}

/// That the training loss is not the quantity that the validation loss is; empty if it is, or is
/// hidden.
pub(super) fn smoothing_note(run: &RunView, visible: VisibleTraces) -> String {
    let smoothing = run.config.label_smoothing;
    if smoothing > 0.0 && (visible.smooth || visible.raw) {
        format!(
            "Training loss includes label smoothing of {}",
            significant(smoothing)
        )
    } else {
        String::new()
    }
}

/// A gesture on one chart changes the range of all.
fn change_range(ui: &Ui, view: &mut PlotsView, shown: &[Shown], last_step: f64) {
    let before = (view.range, view.selected);
    let gesture = shown.iter().find_map(|shown| shown.gesture);
    view.selected = if let Some(Gesture::Box(steps)) = gesture {
        Some(steps)
    } else {
        None
    };
    if let Some(gesture) = gesture {
        view.range.follow(gesture, last_step);
    }
    if let Some(step) = shown.iter().find_map(|shown| shown.moved_to) {
        view.range.reveal(step, last_step);
    }
    if view.range != before.0 {
        consume_scroll(ui);
    }
    if (view.range, view.selected) != before {
        ui.ctx().request_repaint();
    }
}

/// The crosshair follows the pointer; otherwise it stays where the arrow keys moved it while a
/// chart has the focus.
fn move_cursor(ui: &Ui, view: &mut PlotsView, shown: &[Shown]) {
    let before = view.cursor;
    let hovered = shown.iter().find_map(|shown| shown.hovered_step);
    let moved = shown.iter().find_map(|shown| shown.moved_to);
    view.cursor = moved
        .or(hovered)
        .or(if shown.iter().any(|shown| shown.focused) {
            before
        } else {
            None
        });
    if view.cursor != before {
        // Charts above the one that moved the crosshair were drawn with its old position.
        ui.ctx().request_repaint();
    }
}

pub(super) struct Subject<'a> {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    has_help: bool,
    note: &'a str,
    newest: String,
    traces: Vec<Trace<'a>>,
    y: YAxis,
}

impl<'a> Subject<'a> {
    /// The same in a figure.
    pub(super) fn into_panel(self, name: &'static str) -> Panel<'a> {
        Panel {
            name,
            traces: self.traces,
            y: self.y,
        }
    }
}

pub(super) fn subjects<'a>(
    curves: &'a Curves,
    visible: VisibleTraces,
    palette: Palette,
    log: bool,
    note: &'a str,
) -> [Subject<'a>; 4] {
    let trace = |name, curve, look, color| Trace {
        name,
        curve,
        look,
        color,
    };
    let Palette {
        train,
        validation,
        machine,
        ..
    } = palette;
    let learning = |measured: &'a Measured, validated: &'a Pyramid| {
        let raw = trace("raw", &measured.raw, Look::Faint, train);
        let smooth = trace("training", &measured.smooth, Look::Solid, train);
        let marked = trace("validation", validated, Look::Marked, validation);
        let all = [
            (visible.raw, raw),
            (visible.smooth, smooth),
            (visible.validation, marked),
        ];
        let shown = all.into_iter().filter(|(shown, _)| *shown);
        shown.map(|(_, trace)| trace).collect()
    };
    let of_machine = |name, curve| vec![trace(name, curve, Look::Solid, machine)];
    let axis = |least_range, without_data| YAxis {
        log: false,
        in_percent: false,
        from_zero: false,
        least_range,
        without_data,
    };
    let loss = if log {
        YAxis {
            log,
            ..axis(0.05, (-1.0, 0.0))
        }
    } else {
        axis(0.002, (0.0, 2.3))
    };
    let accuracy = YAxis {
        in_percent: true,
        ..axis(0.2, (0.0, 100.0))
    };
    let machine_axis = YAxis {
        from_zero: true,
        ..axis(1.0, (0.0, 1.0))
    };
    let latest = |training, validated, format: fn(f64) -> String| {
        let figures = [("training", training), ("validation", validated)];
        newest(&figures, format)
    };
    [
        Subject {
            name: "Loss plot",
            title: "Loss",
            about: "Cross-entropy in nats: the mean of −ln p, where p is the probability given to the correct digit. Lower is better.",
            has_help: true,
            note,
            newest: latest(&curves.loss.smooth, &curves.validation_loss, significant),
            traces: learning(&curves.loss, &curves.validation_loss),
            y: loss,
        },
        Subject {
            name: "Accuracy plot",
            title: "Accuracy",
            about: "Fraction of images classified correctly. Validation images are not trained on, so validation accuracy shows how well the network generalizes.",
            has_help: false,
            note: "",
            newest: latest(
                &curves.accuracy.smooth,
                &curves.validation_accuracy,
                percents,
            ),
            traces: learning(&curves.accuracy, &curves.validation_accuracy),
            y: accuracy,
        },
        Subject {
            name: "Throughput plot",
            title: "Throughput",
            about: "Training images per second.",
            has_help: false,
            note: "",
            newest: newest(&[("", &curves.throughput)], |value| {
                format!("{} images/s", grouped(value.max(0.0).round() as u64))
            }),
            traces: of_machine("throughput", &curves.throughput),
            y: machine_axis,
        },
        Subject {
            name: "Memory plot",
            title: "Memory",
            about: "Memory used by Inkling.",
            has_help: false,
            note: "",
            newest: newest(&[("", &curves.memory)], mebibytes),
            traces: of_machine("memory", &curves.memory),
            y: machine_axis,
        },
    ]
}

/// The latest values as text: "training 0.12 at step 940, validation 0.10 at step 860".
fn newest(figures: &[(&str, &Pyramid)], format: impl Fn(f64) -> String) -> String {
    let latest: Vec<(f64, String)> = figures
        .iter()
        .filter_map(|(name, curve)| {
            let &[step, value] = curve.points().last()?;
            let text = format!("{name} {}", format(value));
            Some((step, text.trim_start().to_owned()))
        })
        .collect();
    if latest.is_empty() {
        return "no data yet".to_owned();
    }
    let alike = latest.chunk_by(|(one, _), (other, _)| one == other);
    let texts = alike.map(|alike| {
        let values = joined(alike.iter().map(|(_, text)| text), ", ");
        format!("{values} at step {}", grouped(alike[0].0 as u64))
    });
    joined(texts, ", ")
}

struct Charts<'a> {
    frame: Frame,
    is_whole: bool,
    readout: Option<Readout>,
    rate_changes: &'a [LearningRateChange],
}

impl Charts<'_> {
    /// A title line and the chart below it, together `height` points high.
    fn show(
        &self,
        ui: &mut Ui,
        subject: Subject<'_>,
        height: f32,
        box_from: &mut Option<f64>,
    ) -> Shown {
        ui.vertical(|ui| {
            let top = ui.cursor().top();
            let title = |ui: &mut Ui| {
                style::semibold(ui, subject.title)
                    .on_hover_text(format!("{}\n\n{NAVIGATION}", subject.about));
                ui.add(Label::new(RichText::new(&subject.newest).weak()).truncate());
            };
            // The first chart's title line ends with the help on all plots.
            if subject.has_help {
                help::beside(ui, Topic::Plots, title);
            } else {
                _ = ui.horizontal(title);
            }
            let value = self.told(&subject);
            let left = height - (ui.cursor().top() - top) - ui.spacing().item_spacing.y;
            Chart {
                name: subject.name,
                value,
                note: subject.note,
                traces: subject.traces,
                rate_changes: self.rate_changes,
                y: subject.y,
                height: left,
                frame: self.frame,
            }
            .show(ui, box_from)
        })
        .inner
    }

    /// The values at the crosshair or the latest ones, and what else there is to see in the chart.
    fn told(&self, subject: &Subject<'_>) -> String {
        let mut told = self
            .readout
            .as_ref()
            .map_or_else(|| subject.newest.clone(), Readout::sentence);
        if !subject.note.is_empty() {
            told = format!("{told}. {}", subject.note);
        }
        if !self.rate_changes.is_empty() {
            let changes: Vec<_> = self
                .rate_changes
                .iter()
                .map(LearningRateChange::phrase)
                .collect();
            told = format!("{told}. Learning rate {}", changes.join(", "));
        }
        let [from, to] = self.frame.range;
        if self.is_whole {
            told
        } else {
            format!("Steps {from:.0} to {to:.0} in view; {told}")
        }
    }
}
