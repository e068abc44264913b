//! The live plots: loss, accuracy, throughput and memory of the current or last run.

pub mod chart;
mod charts;
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

use self::charts::{charts, smoothing_note, subjects};
use self::curves::Curves;
use self::figure::Contents;
use self::range::Range;
use self::scale::{XAxis, XUnit};
use crate::bench::busy;
use crate::protocol::JobProgress;
use crate::records::{JobId, ModelRef, RunSummary};
use crate::run_config::Setting;
use crate::text::format::{grouped, percent};
use crate::window::shell::shortcuts;
use crate::window::style::SemiBold as _;
use crate::window::style::icons::Icon;
use crate::window::style::image_sheet::{Cached, ImageSheet};
use crate::window::train::view::preview;
use crate::window::{
    Action, App, DataImages, DrawAction, Headline, ModelsAction, Phase, Pushes as _, RunView,
    TrainAction, style,
};

/// The title of the dialog that asks where a figure is to be saved.
const SAVE_FIGURE: &str = "Save the figure";
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
    let run = app.train.run.as_ref();
    let Some(run) = run.filter(|_| !app.train.shows_next_run()) else {
        if let Some(obstacle) = app.errors_of(Setting::Data).next() {
            let title = "There is no data to train on";
            let body = obstacle.message.to_string();
            return style::empty_state(ui, Icon::Problem, title, &body, |ui| {
                ui.add(style::secondary_button("Choose a folder…"))
                    .pushes(actions, || TrainAction::ChooseDataFolder);
            });
        }
        return preview::show(ui, app, &mut view.preview, actions);
    };
    if view.curves.sync(run, app.ctx.settings.smoothing) {
        (view.range, view.cursor) = (Range::default(), None);
    }
    view.range.keep_within(view.curves.last_step());
    if view.curves.loss.raw.is_empty() && view.curves.validation_loss.is_empty() {
        return before_the_first_step(ui, app, run, &mut view.data_images, actions);
    }
    let training = view.curves.accuracy.smooth.points().last();
    let training = training.map(|point| point[1] / 100.0);
    headline(ui, app, run, training, actions);
    if let Some(format) = toolbar::show(ui, app, view, actions) {
        save_figure(ui, app, view, run, format, actions);
    }
    egui::ScrollArea::vertical()
        .auto_shrink(false)
        .show(ui, |ui| charts(ui, app, view, run));
    let painting = view.painting.as_ref();
    if let Some(bytes) = painting.and_then(|painting| painting.try_recv().ok()) {
        view.painting = None;
        actions.push(save(run, "png", bytes));
    }
}

fn save(run: &RunView, ending: &str, bytes: Vec<u8>) -> Action {
    Action::SaveFile {
        title: SAVE_FIGURE,
        name: format!("inkling-{}-curves.{ending}", run.config.model),
        bytes,
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
            let button = style::toggle(name, app.train.shows_next_run() == next);
            ui.add(button)
                .on_hover_text(format!("{about} ({keys})"))
                .pushes(actions, || TrainAction::ShowNextRun(next));
        }
    });
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FigureFormat {
    Png,
    Svg,
}

/// Saves loss and accuracy as they are shown. A PNG is painted on a separate thread.
fn save_figure(
    ui: &Ui,
    app: &App,
    view: &mut PlotsView,
    run: &RunView,
    format: FigureFormat,
    actions: &mut Vec<Action>,
) {
    let (curves, colors) = (&view.curves, style::on_white());
    let note = smoothing_note(run, view.visible);
    let log = app.ctx.settings.log_loss;
    let [loss, accuracy, ..] = subjects(curves, view.visible, colors, log, &note);
    let contents = Contents {
        title: run.config.title(),
        subtitle: run.caption(),
        note: &note,
        panels: [
            loss.into_panel("Loss (nats)"),
            accuracy.into_panel("Accuracy"),
        ],
        x: x_axis(view, run),
        range: view.range.steps(curves.last_step()),
        rate_changes: &run.history.rate_changes,
    };
    let svg = figure::svg(&contents, colors);
    if format == FigureFormat::Svg {
        actions.push(save(run, "svg", svg.into_bytes()));
        return;
    }
    let (sender, painting) = channel();
    let waker = ui.ctx().clone();
    thread::spawn(move || {
        if let Some(bytes) = figure::png(&svg)
            && sender.send(bytes).is_ok()
        {
            waker.request_repaint();
        }
    });
    view.painting = Some(painting);
}

fn x_axis(view: &PlotsView, run: &RunView) -> XAxis {
    XAxis {
        unit: view.unit,
        steps_per_epoch: run
            .steps_per_epoch()
            .map_or(1.0, |steps| steps.max(1) as f64),
    }
}

fn before_the_first_step(
    ui: &mut Ui,
    app: &App,
    run: &RunView,
    images: &mut DataImageGrid,
    actions: &mut Vec<Action>,
) {
    let (title, what_to_do) = match run.phase {
        Phase::Preparing(_) => {
            let progress = app.ctx.jobs.progress_of(run.id);
            return data_images(ui, run, &run.state(), progress, images);
        }
        Phase::Failed | Phase::Interrupted => (
            "The run failed before its first step",
            "See the message above for the reason and what to do.",
        ),
        Phase::Discarded => (
            "The run was stopped before its first step",
            "No step was made, so that there is nothing to see of it.",
        ),
        _ => return data_images(ui, run, "Computing the first step", None, images),
    };
    style::empty_state(ui, Icon::Problem, title, what_to_do, |ui| {
        ui.add(style::secondary_button("See what the next run does"))
            .pushes(actions, || TrainAction::ShowNextRun(true));
    });
}

/// Below this width, in points, only the most important is shown.
const COMPACT: f32 = 620.0;
/// Width of the accuracy, so that nothing beside it moves when it gets a digit more.
const ACCURACY_WIDTH: f32 = 140.0;
const ACCURACY_WIDTH_COMPACT: f32 = 120.0;
/// The least width of the run's name, in points.
const LEAST_TITLE: f32 = 120.0;

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
    let summary = run.summary();
    let saved = summary.and_then(|run| app.models.saved_model_name(&run.model_path));
    caption(ui, saved.unwrap_or(&run.config.title()), &headline);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = style::GAP;
        let width = if compact {
            ACCURACY_WIDTH_COMPACT
        } else {
            ACCURACY_WIDTH
        };
        let size = vec2(width, style::HEADLINE_HEIGHT);
        style::column(ui, size, |ui| {
            ui.set_min_size(size);
            let value = RichText::new(counted(ui, run, &headline)).size(style::HEADLINE);
            ui.add(Label::new(value.semibold()).extend())
                .accessible_name(&headline.value)
                .on_hover_text(headline.about);
        });
        let rest = vec2(ui.available_width(), size.y);
        style::row(ui, rest, |ui| match (summary, &headline.note) {
            (Some(summary), _) => next(ui, run, summary, compact, actions),
            (None, Some(note)) => drop(style::note(ui, note)),
            (None, None) => {}
        });
    });
    if let (Some(_), Some(note)) = (summary, headline.note) {
        style::note(ui, note);
    }
}

/// The headline's figure; when the run ends, it counts up to it.
fn counted(ui: &Ui, run: &RunView, headline: &Headline) -> String {
    // Not of this place, which has another once the run has ended.
    let id = egui::Id::unique(("headline", run.id));
    let seconds = if run.summary().is_some() {
        style::motion(ui).celebration
    } else {
        0.0
    };
    let target = headline.fraction as f32;
    let shown = ui.ctx().animate_value_with_time(id, target, seconds);
    if shown >= target {
        headline.value.clone()
    } else {
        percent(shown.into(), 2)
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

/// Buttons for a finished run's model. The primary one of this screen is Start.
fn next(
    ui: &mut Ui,
    run: &RunView,
    summary: &RunSummary,
    compact: bool,
    actions: &mut Vec<Action>,
) {
    ui.spacing_mut().item_spacing.x = 8.0;
    let model = || ModelRef::File(summary.model_path.clone());
    let about = "Draw digits and see this model recognize them";
    style::ask(ui, style::secondary_button("Draw with it"), None, about)
        .pushes(actions, || DrawAction::DrawWith(model()));
    let about = "The test images it got wrong, and which digits it confuses";
    style::ask(ui, style::secondary_button("See its mistakes"), None, about)
        .pushes(actions, || {
            ModelsAction::ShowResults(summary.folder.clone())
        });
    let about = "Save this model for other programs";
    if style::ask(ui, style::quiet_button("Export…"), None, about).clicked() {
        actions.push(ModelsAction::ShowModel(summary.folder.clone()).into());
        actions.push(ModelsAction::OpenExport(model()).into());
    }
    if !compact {
        style::note(ui, run.outcome());
    }
}

/// Images in a row; the greatest side of one, and the space between two, in points.
const COLUMNS: usize = 10;
const SIDE: f32 = 44.0;
const SPACE: f32 = 4.0;
/// If other programs use at least this fraction of the CPU, a note is added.
const SLOWED: f32 = 0.5;
/// The height above the images, in points.
const ABOVE: f32 = 100.0;

/// View state: the images in a texture, with the run they belong to and how many there had been.
#[derive(Debug, Default)]
pub struct DataImageGrid(Cached<(JobId, usize)>);

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
        ui.heading(doing);
        let note = match progress {
            Some(now) if now.background_load > SLOWED => {
                format!("{} That slows this down.", busy(now.background_load))
            }
            _ => "The plots start with the first step.".to_owned(),
        };
        ui.weak(note);
        // The same space without the bar, so that the images stay where they are.
        let (bar, _) =
            ui.allocate_exact_size(vec2(260.0, ui.spacing().interact_size.y), Sense::hover());
        if let Some(JobProgress { fraction, .. }) = progress {
            let progress = ProgressBar::new(fraction).text(percent(fraction.into(), 0));
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
    let upload = |_: &_| ImageSheet::thumbnails(ui.ctx(), "data images", images.iter());
    let sheet = grid.of((run.id, *count), upload);
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
