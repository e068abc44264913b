//! The live plots: loss, accuracy, throughput and memory of the current or last run.

mod chart;
pub mod curves;
mod data_images;
pub mod figure;
pub mod fit;
mod gestures;
mod headline;
pub mod pyramid;
pub mod range;
pub mod readout;
pub mod scale;
mod static_plot;
mod toolbar;

use std::sync::mpsc::{Receiver, channel};
use std::thread;

use eframe::egui::{self, Label, RichText, Ui};

use self::chart::{Chart, Look, Shown, Trace};
use self::curves::{Curves, Measured};
use self::data_images::DataImageGrid;
use self::figure::{Contents, Panel, lay_out};
use self::pyramid::Pyramid;
use self::range::{Gesture, Range};
use self::readout::{Readout, mebibytes, percents};
use self::scale::{XAxis, XUnit, YAxis, significant};
pub use self::static_plot::static_plot;
use super::shell::help;
use super::shell::help::Topic;
use super::shell::shortcuts;
use super::style;
use super::train::learning::view::preview;
use super::{Action, App, Field, Phase, RunView};
use crate::text::format::grouped;

/// The title of the dialog that asks where a figure is to be saved.
const SAVE_FIGURE: &str = "Save the figure";
/// How to find one's way in the plots.
const NAVIGATION: &str =
    "Scroll to zoom, drag to pan, Shift and drag to zoom to a box, double-click to fit.";

#[derive(Clone, Copy, Debug)]
struct VisibleTraces {
    smooth: bool,
    raw: bool,
    validation: bool,
}

#[derive(Debug, Default)]
pub struct PlotsView {
    curves: Curves,
    unit: XUnit,
    visible: VisibleTraces,
    /// The step of the crosshair, set by pointer or keys.
    cursor: Option<f64>,
    range: Range,
    /// The steps over which a box is being drawn, and where it began.
    selected: Option<[f64; 2]>,
    box_from: Option<f64>,
    preview: preview::Preview,
    data_images: DataImageGrid,
    /// The figure that is being painted for its file.
    painting: Option<Receiver<Vec<u8>>>,
}

impl Default for VisibleTraces {
    fn default() -> Self {
        Self {
            smooth: true,
            raw: true,
            validation: true,
        }
    }
}

/// Draws the plots, or how to get some.
pub fn show(ui: &mut Ui, app: &App, view: &mut PlotsView, actions: &mut Vec<Action>) {
    if app.train.run.is_some() {
        run_choice(ui, app, actions);
    }
    let Some(run) = app.train.run.as_ref().filter(|_| !app.shows_next_run()) else {
        if let Some(obstacle) = app
            .validation_errors()
            .iter()
            .find(|obstacle| obstacle.field == Field::Data)
        {
            return style::empty_state(
                ui,
                "There is no data to train on",
                &obstacle.message.to_string(),
            );
        }
        return preview::show(ui, app, &mut view.preview);
    };
    if view.curves.sync(run, app.ctx.settings.smoothing) {
        (view.range, view.cursor) = (Range::default(), None);
    }
    view.range.keep_within(view.curves.last_step());
    if view.curves.loss.raw.is_empty() && view.curves.validation_loss.is_empty() {
        return before_the_first_step(ui, app, run, &mut view.data_images);
    }
    let training = view
        .curves
        .accuracy
        .smooth
        .points()
        .last()
        .map(|point| point[1] / 100.0);
    headline::show(ui, app, run, training, actions);
    if let Some(format) = toolbar::show(ui, app, view, actions) {
        save_figure(ui, app, view, run, format, actions);
    }
    egui::ScrollArea::vertical()
        .auto_shrink(false)
        .show(ui, |ui| charts(ui, app, view, run));
    if let Some(bytes) = view
        .painting
        .as_ref()
        .and_then(|painting| painting.try_recv().ok())
    {
        view.painting = None;
        actions.push(Action::SaveFile {
            title: SAVE_FIGURE,
            name: figure_name(run, "png"),
            bytes,
        });
    }
}

/// The switch between the run that there is and the next one.
fn run_choice(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let keys = ui.ctx().format_shortcut(&shortcuts::NEXT_RUN);
    ui.horizontal(|ui| {
        for (next, name, about) in [
            (
                false,
                "This run",
                "The curves of the run in progress, or of the last one",
            ),
            (
                true,
                "Next run",
                "The data and the network of the next run as they are set now, and what it will do",
            ),
        ] {
            let button = style::toggle(ui, name, app.shows_next_run() == next);
            if ui
                .add(button)
                .on_hover_text(format!("{about} ({keys})"))
                .clicked()
            {
                actions.push(Action::ShowNextRun(next));
            }
        }
    });
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FigureFormat {
    Png,
    Svg,
}

/// Saves loss and accuracy as they are shown. A PNG is painted on a thread of its own.
fn save_figure(
    ui: &Ui,
    app: &App,
    view: &mut PlotsView,
    run: &RunView,
    format: FigureFormat,
    actions: &mut Vec<Action>,
) {
    let note = smoothing_note(run, view.visible);
    let [loss, accuracy, ..] = subjects(
        &view.curves,
        view.visible,
        style::on_white(),
        app.ctx.settings.log_loss,
        &note,
    );
    let drawing = lay_out(
        &Contents {
            title: run.title(),
            subtitle: run.caption(),
            note: &note,
            panels: [
                loss.into_panel("Loss (nats)"),
                accuracy.into_panel("Accuracy"),
            ],
            x: x_axis(view, run),
            range: view.range.steps(view.curves.last_step()),
        },
        style::on_white(),
    );
    if format == FigureFormat::Svg {
        actions.push(Action::SaveFile {
            title: SAVE_FIGURE,
            name: figure_name(run, "svg"),
            bytes: figure::svg(&drawing).into_bytes(),
        });
        return;
    }
    let (sender, painting) = channel();
    let waker = ui.ctx().clone();
    thread::spawn(move || {
        if let Some(bytes) = figure::png(&drawing)
            && sender.send(bytes).is_ok()
        {
            waker.request_repaint();
        }
    });
    view.painting = Some(painting);
}

fn figure_name(run: &RunView, ending: &str) -> String {
    format!("inkling-{}-curves.{ending}", run.config.model)
}

fn x_axis(view: &PlotsView, run: &RunView) -> XAxis {
    XAxis {
        unit: view.unit,
        steps_per_epoch: run
            .steps_per_epoch()
            .map_or(1.0, |steps| steps.max(1) as f64),
    }
}

fn before_the_first_step(ui: &mut Ui, app: &App, run: &RunView, images: &mut DataImageGrid) {
    match run.phase {
        Phase::Preparing(_) => {
            data_images::show(
                ui,
                run,
                &run.state(),
                app.ctx.jobs.progress_of(run.id),
                images,
            );
        }
        Phase::Failed | Phase::Interrupted => {
            style::empty_state(
                ui,
                "The run failed before its first step",
                "See the message above for the reason and what to do.",
            );
        }
        Phase::Discarded => {
            style::empty_state(
                ui,
                "The run was stopped before its first step",
                "Press Start to begin a new one.",
            );
        }
        _ => data_images::show(ui, run, "Computing the first step", None, images),
    }
}

/// The charts, and the crosshair and range that they share.
fn charts(ui: &mut Ui, app: &App, view: &mut PlotsView, run: &RunView) {
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
    let frame = Frame {
        x,
        range,
        is_whole,
        last_step,
        cursor: view.cursor,
        selected: view.selected,
        readout,
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
        frame.show(ui, loss, learning, from),
        frame.show(ui, accuracy, learning, from),
    ];
    if app.ctx.settings.speed_and_memory {
        ui.columns(2, |columns| {
            for (column, subject) in columns.iter_mut().zip([throughput, memory]) {
                shown.push(frame.show(column, subject, machine, from));
            }
        });
    }
    move_cursor(ui, view, &shown);
    change_range(ui, view, &shown, last_step);
    if let Some(readout) = &frame.readout
        && view.selected.is_none()
        && let Some(place) = shown
            .iter()
            .find(|shown| shown.hovered_step.is_some() || shown.focused)
    {
        readout::show(ui, readout, x, place);
    }
}

/// That the training loss is not the quantity that the validation loss is; empty where it is, or is
/// hidden.
fn smoothing_note(run: &RunView, visible: VisibleTraces) -> String {
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

/// What was done to one chart is done to the range of all.
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
        gestures::consume_scroll(ui);
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

struct Subject<'a> {
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
    fn into_panel(self, name: &'static str) -> Panel<'a> {
        Panel {
            name,
            traces: self.traces,
            y: self.y,
        }
    }
}

fn subjects<'a>(
    curves: &'a Curves,
    visible: VisibleTraces,
    palette: style::Palette,
    log: bool,
    note: &'a str,
) -> [Subject<'a>; 4] {
    let learning = |measured: &'a Measured, validation: &'a Pyramid| {
        let all = [
            (
                visible.raw,
                Trace {
                    name: "raw",
                    curve: &measured.raw,
                    look: Look::Faint,
                    color: palette.train,
                },
            ),
            (
                visible.smooth,
                Trace {
                    name: "training",
                    curve: &measured.smooth,
                    look: Look::Solid,
                    color: palette.train,
                },
            ),
            (
                visible.validation,
                Trace {
                    name: "validation",
                    curve: validation,
                    look: Look::Marked,
                    color: palette.validation,
                },
            ),
        ];
        all.into_iter()
            .filter(|(shown, _)| *shown)
            .map(|(_, trace)| trace)
            .collect()
    };
    let machine = |name, curve| {
        vec![Trace {
            name,
            curve,
            look: Look::Solid,
            color: palette.machine,
        }]
    };
    let loss = if log {
        YAxis {
            log,
            unit: "",
            from_zero: false,
            least_range: 0.05,
            without_data: (-1.0, 0.0),
        }
    } else {
        YAxis {
            log,
            unit: "",
            from_zero: false,
            least_range: 0.002,
            without_data: (0.0, 2.3),
        }
    };
    let accuracy = YAxis {
        log: false,
        unit: "%",
        from_zero: false,
        least_range: 0.2,
        without_data: (0.0, 100.0),
    };
    let machine_axis = YAxis {
        log: false,
        unit: "",
        from_zero: true,
        least_range: 1.0,
        without_data: (0.0, 1.0),
    };
    [
        Subject {
            name: "Loss plot",
            title: "Loss",
            about: "Cross-entropy in nats: the mean of −ln p, where p is the probability given to the correct digit. Lower is better.",
            has_help: true,
            note,
            newest: newest(
                curves,
                &[
                    ("training", &curves.loss.smooth),
                    ("validation", &curves.validation_loss),
                ],
                significant,
            ),
            traces: learning(&curves.loss, &curves.validation_loss),
            y: loss,
        },
        Subject {
            name: "Accuracy plot",
            title: "Accuracy",
            about: "Share of images classified correctly. Validation images are not trained on, so validation accuracy shows how well the network generalises.",
            has_help: false,
            note: "",
            newest: newest(
                curves,
                &[
                    ("training", &curves.accuracy.smooth),
                    ("validation", &curves.validation_accuracy),
                ],
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
            newest: newest(curves, &[("", &curves.throughput)], |value| {
                format!("{} images/s", grouped(value.max(0.0).round() as u64))
            }),
            traces: machine("throughput", &curves.throughput),
            y: machine_axis,
        },
        Subject {
            name: "Memory plot",
            title: "Memory",
            about: "Memory used by Inkling.",
            has_help: false,
            note: "",
            newest: newest(curves, &[("", &curves.memory)], mebibytes),
            traces: machine("memory", &curves.memory),
            y: machine_axis,
        },
    ]
}

/// The latest values as text: "training 0.12, validation 0.10 at step 940".
fn newest(curves: &Curves, figures: &[(&str, &Pyramid)], format: impl Fn(f64) -> String) -> String {
    let values: Vec<String> = figures
        .iter()
        .filter_map(|(name, curve)| {
            curve.points().last().map(|point| {
                format!("{name} {}", format(point[1]))
                    .trim_start()
                    .to_owned()
            })
        })
        .collect();
    if values.is_empty() {
        "no data yet".to_owned()
    } else {
        format!("{} at step {:.0}", values.join(", "), curves.last_step())
    }
}

/// What all charts share in this frame.
struct Frame {
    x: XAxis,
    /// The first and the last step in view.
    range: [f64; 2],
    is_whole: bool,
    last_step: f64,
    cursor: Option<f64>,
    selected: Option<[f64; 2]>,
    readout: Option<Readout>,
}

impl Frame {
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
                ui.label(RichText::new(subject.title).strong())
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
            let Self {
                x,
                range,
                last_step,
                cursor,
                selected,
                ..
            } = *self;
            let Subject {
                name,
                note,
                traces,
                y,
                ..
            } = subject;
            Chart {
                name,
                value,
                note,
                traces,
                x,
                y,
                range,
                last_step,
                height: left,
                cursor,
                selected,
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
        let [from, to] = self.range;
        if self.is_whole {
            told
        } else {
            format!("Steps {from:.0} to {to:.0} in view; {told}")
        }
    }
}
