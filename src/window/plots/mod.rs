//! The live plots: loss, accuracy, throughput and memory of the current or last run.

pub mod chart;
pub mod curves;
pub mod figure;
pub mod range;
pub mod readout;
pub mod scale;
mod toolbar;

use std::sync::mpsc::{Receiver, channel};
use std::thread;

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{
    self, Label, ProgressBar, Rect, RichText, Role, Sense, TextStyle, TextWrapMode, Ui, Vec2,
    WidgetText, vec2,
};

use self::chart::{Chart, Look, Shown, Trace};
use self::curves::{Curves, Measured, Pyramid};
use self::figure::{Contents, Panel, lay_out};
use self::range::{Gesture, Range};
use self::readout::{Readout, mebibytes, percents};
pub use self::scale::static_plot;
use self::scale::{XAxis, XUnit, YAxis, significant};
use super::shell::help::Topic;
use super::shell::{help, shortcuts};
use super::style::image_sheet::ImageSheet;
use super::train::view::preview;
use super::{Action, App, DataImages, Headline, Phase, RunView, style};
use crate::bench::busy;
use crate::protocol::JobProgress;
use crate::records::{JobId, ModelRef, RunSummary};
use crate::run_config::Setting;
use crate::text::format::grouped;
use crate::window::style::Pushes as _;

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
    let Some(run) = app
        .train
        .run
        .as_ref()
        .filter(|_| !app.train.shows_next_run())
    else {
        if let Some(obstacle) = app
            .validation_errors()
            .iter()
            .find(|obstacle| obstacle.setting == Some(Setting::Data))
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
    headline(ui, app, run, training, actions);
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
            let button = style::toggle(ui, name, app.train.shows_next_run() == next);
            ui.add(button)
                .on_hover_text(format!("{about} ({keys})"))
                .pushes(actions, || Action::ShowNextRun(next));
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
            data_images(
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
        _ => data_images(ui, run, "Computing the first step", None, images),
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
        range::consume_scroll(ui);
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

/// Below this width, in points, only the most important is shown.
const COMPACT: f32 = 620.0;
/// Width of the accuracy, so that nothing beside it moves when it gets a digit more.
const ACCURACY_WIDTH: f32 = 140.0;
const ACCURACY_WIDTH_COMPACT: f32 = 120.0;
/// The least width of the run's name, in points.
const LEAST_TITLE: f32 = 120.0;
/// Widths of the epoch, the time left and the speed.
const PROGRESS_WIDTHS: [f32; 3] = [92.0, 116.0, 128.0];

/// Draws it. `training` is the training accuracy, from 0 to 1.
pub fn headline(
    ui: &mut Ui,
    app: &App,
    run: &RunView,
    training: Option<f64>,
    actions: &mut Vec<Action>,
) {
    let Some(headline) = run.headline(training) else {
        return;
    };
    let compact = ui.available_width() < COMPACT;
    let saved = if let Phase::Finished(summary) = &run.phase {
        app.models.saved_model_name(&summary.model_path)
    } else {
        None
    };
    caption(ui, saved.unwrap_or(&run.title()), &headline);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = style::GAP;
        let size = vec2(
            if compact {
                ACCURACY_WIDTH_COMPACT
            } else {
                ACCURACY_WIDTH
            },
            style::HEADLINE_HEIGHT,
        );
        style::column(ui, size, |ui| {
            ui.set_min_size(size);
            let value = RichText::new(&headline.value)
                .size(style::HEADLINE)
                .strong();
            ui.add(Label::new(value).extend())
                .on_hover_text(headline.about);
        });
        style::row(ui, vec2(ui.available_width(), size.y), |ui| {
            if let Phase::Finished(summary) = &run.phase {
                next(ui, run, summary, compact, actions);
            } else {
                headline_progress(ui, run, compact);
            }
        });
    });
    if let Some(note) = headline.note {
        style::note(ui, note);
    }
}

/// The run's name, and which accuracy the figure below is. The name is cut if there is no room for
/// both.
fn caption(ui: &mut Ui, title: &str, headline: &Headline) {
    let Headline {
        name,
        measured,
        about,
        ..
    } = headline;
    ui.horizontal(|ui| {
        let measured = WidgetText::from(style::hint(format!("{name} {measured}")));
        let measured = measured.into_galley(
            ui,
            Some(TextWrapMode::Extend),
            f32::INFINITY,
            TextStyle::Small,
        );
        let room = ui.available_width() - measured.size().x - ui.spacing().item_spacing.x;
        ui.scope(|ui| {
            ui.set_max_width(room.max(LEAST_TITLE));
            style::strong_line(ui, title);
        });
        ui.add(Label::new(measured)).on_hover_text(*about);
    });
}

fn headline_progress(ui: &mut Ui, run: &RunView, compact: bool) {
    let progress_figures = run.progress_figures();
    if progress_figures.is_empty() {
        ui.add(Label::new(run.state()).wrap());
    }
    // The speed also stands in the run panel.
    let shown = if compact { 2 } else { PROGRESS_WIDTHS.len() };
    for ((name, value), width) in progress_figures
        .into_iter()
        .zip(PROGRESS_WIDTHS)
        .take(shown)
    {
        let size = vec2(width, style::HEADLINE_HEIGHT);
        style::column(ui, size, |ui| {
            ui.set_min_size(size);
            ui.spacing_mut().item_spacing.y = 3.0;
            ui.label(style::hint(name));
            ui.add(Label::new(RichText::new(value).size(style::HEADLINE_BESIDE)).extend());
        });
    }
}

/// What to do with a finished run's model.
fn next(
    ui: &mut Ui,
    run: &RunView,
    summary: &RunSummary,
    compact: bool,
    actions: &mut Vec<Action>,
) {
    ui.spacing_mut().item_spacing.x = 8.0;
    let model = || ModelRef::File(summary.model_path.clone());
    ui.add(style::primary_button(ui, "Draw with it"))
        .on_hover_text("Draw digits and see this model recognise them")
        .pushes(actions, || Action::DrawWith(model()));
    let about = "The test images it got wrong, and which digits it confuses";
    ui.add(style::secondary_button("See its mistakes"))
        .on_hover_text(about)
        .pushes(actions, || Action::ShowResults(summary.folder.clone()));
    if ui
        .add(style::secondary_button("Export…"))
        .on_hover_text("Save this model for other programs")
        .clicked()
    {
        actions.extend([
            Action::ShowModel(summary.folder.clone()),
            Action::OpenExport(model()),
        ]);
    }
    if !compact {
        style::note(ui, run.outcome());
    }
}

/// Images in a row; the greatest side of one, and the space between two, in points.
const COLUMNS: usize = 10;
const SIDE: f32 = 44.0;
const SPACE: f32 = 4.0;
/// From this share of the CPU on, from 0 to 1, it is said that other programs use it.
const SLOWED: f32 = 0.5;
/// What is above the images, in points.
const ABOVE: f32 = 100.0;

/// View state: the images in a texture, with the run they belong to and how many there had been.
#[derive(Debug, Default)]
pub struct DataImageGrid(Option<(JobId, usize, ImageSheet)>);

/// Draws what is being done, how far it is, and the images.
pub fn data_images(
    ui: &mut Ui,
    run: &RunView,
    doing: &str,
    progress: Option<JobProgress>,
    grid: &mut DataImageGrid,
) {
    let room = ui.available_size();
    let rows = DataImages::SHOWN / COLUMNS;
    let side = (room.x / COLUMNS as f32)
        .min((room.y - ABOVE) / rows as f32)
        .min(SIDE + SPACE)
        .floor()
        - SPACE;
    let size = vec2(COLUMNS as f32, rows as f32) * (side + SPACE) - Vec2::splat(SPACE);
    ui.vertical_centered(|ui| {
        ui.add_space(((room.y - ABOVE - size.y) * 0.3).max(0.0));
        ui.label(RichText::new(doing).heading());
        let note = match progress {
            Some(now) if now.background_load > SLOWED => {
                format!("{} That slows this down.", busy(now.background_load))
            }
            _ => "The plots start with the first step.".to_owned(),
        };
        ui.label(RichText::new(note).weak());
        // The same space without the bar, so that the images stay where they are.
        let (bar, _) =
            ui.allocate_exact_size(vec2(260.0, ui.spacing().interact_size.y), Sense::hover());
        if let Some(JobProgress { fraction, .. }) = progress {
            let progress = ProgressBar::new(fraction).text(format!("{:.0} %", fraction * 100.0));
            ui.put(bar, progress)
                .accessible_name("Data preparation progress");
        }
        ui.add_space(style::GAP / 2.0);
        if side >= 12.0 {
            images(ui, run, side, size, grid);
        }
    });
}

fn images(
    ui: &mut Ui,
    run: &RunView,
    side: f32,
    size: Vec2,
    DataImageGrid(grid): &mut DataImageGrid,
) {
    let DataImages { images, count } = &run.data_images;
    let (area, response) = ui.allocate_exact_size(size, Sense::hover());
    if images.is_empty() {
        return;
    }
    let name = format!("Images of {}", run.config.data.label());
    style::describe(&response, Role::Image, &name, &grouped(images.len() as u64));
    if grid
        .as_ref()
        .is_none_or(|(of, seen, _)| (*of, *seen) != (run.id, *count))
    {
        *grid = Some((
            run.id,
            *count,
            ImageSheet::thumbnails(ui.ctx(), "data images", images.iter()),
        ));
    }
    let Some((_, _, sheet)) = grid else { return };
    let palette = style::palette(ui);
    for index in 0..images.len() {
        let at =
            area.min + vec2((index % COLUMNS) as f32, (index / COLUMNS) as f32) * (side + SPACE);
        let rect =
            Rect::from_min_size(at, Vec2::splat(side)).round_to_pixels(ui.pixels_per_point());
        sheet.paint(ui.painter(), index, rect, palette);
        style::outline_outside(ui.painter(), rect, 1.0, palette.line);
    }
}
