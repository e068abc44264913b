//! The presets as cards: what each is, the accuracy to expect on the chosen data, and the time on
//! this machine, as small pictures with their figures.

use eframe::egui::{
    Align, Align2, Color32, FontId, Layout, Painter, Pos2, Rect, Response, Role, Sense, Stroke,
    StrokeKind, TextStyle, Ui, WidgetInfo, pos2, vec2,
};

use super::descriptions;
use crate::notices::harder_data_note;
use crate::run_config::{Preset, RunConfig};
use crate::text::format::{approximate, count, duration, joined, memory, percent};
use crate::window::style::icons::Icon;
use crate::window::train::AccuracySource;
use crate::window::{Action, App, Pushes as _, TrainAction, style};

/// The height of a card, and the distance between two, in points.
const HEIGHT: f32 = 46.0;
const DISTANCE: f32 = 5.0;
/// The space beside the figures, in points.
const RIGHT: f32 = 10.0;

/// The bar of a figure, the distance to its text, and the text's width, in points.
const BAR: [f32; 2] = [34.0, 5.0];
const BEFORE_TEXT: f32 = 5.0;
const TEXT: f32 = 44.0;
/// The accuracy whose bar has no length: far below what any preset reaches.
const LOWEST_ACCURACY: f64 = 0.7;

const ABOUT_BARS: &str = "The bars compare the presets, on a logarithmic scale.";

/// The accuracy and the time of a preset.
pub struct Figures {
    accuracy: Option<Gauge>,
    time: Option<Gauge>,
}

/// A figure with a bar.
struct Gauge {
    /// The bar's length; of all presets, the longest is the whole.
    length: f64,
    text: String,
    in_words: String,
    about: String,
}

impl Figures {
    /// Those of every preset, with bars that compare them.
    pub fn all(app: &App) -> Vec<(Preset, Self)> {
        let mut all: Vec<_> = Preset::ALL
            .iter()
            .map(|&preset| (preset, Self::of(app, preset)))
            .collect();
        let gauges: [fn(&mut Self) -> Option<&mut Gauge>; 2] =
            [|it| it.accuracy.as_mut(), |it| it.time.as_mut()];
        for of in gauges {
            let mut gauges: Vec<&mut Gauge> = all.iter_mut().filter_map(|(_, it)| of(it)).collect();
            let longest = gauges.iter().map(|it| it.length).fold(0.0, f64::max);
            for gauge in &mut gauges {
                gauge.length /= longest.max(f64::MIN_POSITIVE);
            }
        }
        all
    }

    fn of(app: &App, preset: Preset) -> Self {
        let accuracy = app.expected_accuracy(preset).map(|accuracy| {
            let text = percent(accuracy.value, 1);
            let about = match &accuracy.source {
                AccuracySource::Record(summary) => format!("Your record: {summary}."),
                AccuracySource::Run => format!("Classifies about {text} of the test images correctly, as your newest run with this preset did."),
                AccuracySource::Documented => format!("Classifies about {text} of the test images correctly, as measured by us."),
            };
            let error = (1.0 - accuracy.value).max(1e-3);
            Gauge {
                length: ((1.0 - LOWEST_ACCURACY) / error).ln().max(0.0),
                in_words: format!("about {text} accuracy"),
                about,
                text,
            }
        });
        let config = app.ctx.with_preset(preset);
        let time = app.expected_seconds(&config).map(|seconds| {
            let time = duration(seconds);
            Gauge {
                length: seconds.max(1.0).ln(),
                text: approximate(seconds),
                in_words: format!("about {time} on this machine"),
                about: format!(
                    "Takes about {time} on this machine, estimated from earlier runs or a benchmark."
                ),
            }
        });
        Self { accuracy, time }
    }

    /// What the figures measure, in a few words.
    pub fn names(all: &[(Preset, Self)], is_timing: bool) -> &'static str {
        if is_timing || all.iter().any(|(_, figures)| figures.time.is_some()) {
            "test accuracy, time"
        } else {
            "test accuracy"
        }
    }

    fn known(&self) -> impl Iterator<Item = &Gauge> {
        self.accuracy.iter().chain(&self.time)
    }

    /// Draws them beside each other, as a row that starts at the right.
    pub fn show(&self, ui: &mut Ui) {
        in_row(ui, self.time.as_ref(), style::palette(ui).bar);
        self.show_accuracy(ui);
    }

    /// Draws the accuracy alone.
    pub fn show_accuracy(&self, ui: &mut Ui) {
        in_row(ui, self.accuracy.as_ref(), style::palette(ui).accent);
    }
}

/// Draws a gauge in a row that starts at the right; its place stays empty if there is none.
fn in_row(ui: &mut Ui, gauge: Option<&Gauge>, color: Color32) {
    let size = vec2(BAR[0] + BEFORE_TEXT + TEXT, ui.spacing().interact_size.y);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    if let Some(gauge) = gauge {
        let colors = [color, style::palette(ui).ink];
        gauge.paint(ui, ui.painter(), rect.right_center(), colors);
        style::name(&response, Role::Label, &gauge.in_words);
        response.on_hover_text(format!("{} {ABOUT_BARS}", gauge.about));
    }
    ui.add_space(style::GAP);
}

impl Gauge {
    /// Paints the bar and the text in these colors, with the right edge here.
    fn paint(&self, ui: &Ui, painter: &Painter, right: Pos2, [color, ink]: [Color32; 2]) {
        let font = TextStyle::Small.resolve(ui.style());
        painter.text(right, Align2::RIGHT_CENTER, &self.text, font, ink);
        let [width, height] = BAR;
        let left = right - vec2(TEXT + BEFORE_TEXT + width, height / 2.0);
        let filled = self.length.clamp(0.0, 1.0) as f32;
        for (share, color) in [(1.0, ink.gamma_multiply(0.18)), (filled, color)] {
            let place = Rect::from_min_size(left, vec2(width * share, height));
            painter.rect_filled(place, height / 2.0, color);
        }
    }
}

/// Draws them below their title, and below them what the settings need.
pub fn show(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let all = Figures::all(app);
    ui.horizontal(|ui| {
        style::section(ui, "Preset");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(RIGHT);
            ui.label(style::hint(Figures::names(&all, false)))
                .on_hover_text(ABOUT_BARS);
        });
    });
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = DISTANCE;
        for (preset, figures) in &all {
            card(ui, app, *preset, figures).pushes(actions, || TrainAction::ApplyPreset(*preset));
        }
    });
    // In a separate scope, so that lines that come and go do not move the keyboard focus.
    ui.vertical(|ui| needs(ui, app));
}

fn card(ui: &mut Ui, app: &App, preset: Preset, figures: &Figures) -> Response {
    let chosen = app.ctx.config.preset == Some(preset);
    let config = app.ctx.with_preset(preset);
    let RunConfig { model, epochs, .. } = config;
    let work = format!("{}, {}", model.label(), count(u64::from(epochs), "epoch"));

    let size = vec2(ui.available_width(), HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let palette = style::palette(ui);
    let (tint, width) = match (chosen, response.hovered()) {
        (true, _) => (0.2, 1.5),
        (false, true) => (0.14, 0.0),
        (false, false) => (0.07, 0.0),
    };
    let fill = palette.accent.gamma_multiply(tint);
    let stroke = Stroke::new(width, palette.accent);
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    painter.rect(rect, style::RADIUS_SMALL, fill, stroke, StrokeKind::Inside);
    let faded = if ui.is_enabled() { 1.0 } else { 0.5 };
    let [ink, weak] = [palette.ink, palette.faded].map(|color| color.gamma_multiply(faded));
    let small = TextStyle::Small.resolve(ui.style());
    let (left, right) = (rect.left() + 42.0, rect.right() - RIGHT);
    let (first, second) = (rect.top() + HEIGHT * 0.32, rect.top() + HEIGHT * 0.72);
    let (name, color) = (preset.label(), if chosen { palette.accent } else { ink });
    let place = Rect::from_center_size(pos2(rect.left() + 22.0, rect.center().y), vec2(20.0, 20.0));
    icon(preset).paint(&painter, place, if chosen { palette.accent } else { weak });
    let font = FontId::new(14.0, style::fonts::medium());
    painter.text(pos2(left, first), Align2::LEFT_CENTER, name, font, color);
    let at = pos2(left, second);
    let color = if chosen { ink } else { weak };
    painter.text(at, Align2::LEFT_CENTER, &work, small, color);
    for (gauge, color, y) in [
        (&figures.accuracy, palette.accent, first),
        (&figures.time, palette.bar, second),
    ] {
        if let Some(gauge) = gauge {
            let color = color.gamma_multiply(faded);
            gauge.paint(ui, &painter, pos2(right, y), [color, ink]);
        }
    }
    if response.has_focus() {
        style::focus_ring(ui, rect);
    }
    let spoken = figures.known().map(|gauge| gauge.in_words.as_str());
    let spoken = joined(std::iter::once(work.as_str()).chain(spoken), ", ");
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(spoken.clone()),
        ..WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), chosen, preset.label())
    });
    let about = figures.known().map(|gauge| gauge.about.as_str());
    let what = descriptions::preset(preset);
    let network = descriptions::model(model);
    let about = [what.as_str(), network].into_iter().chain(about);
    let about = about.chain([ABOUT_BARS]);
    response.on_hover_text(joined(about, " "))
}

const fn icon(preset: Preset) -> Icon {
    match preset {
        Preset::QuickLook => Icon::QuickLook,
        Preset::OneEpoch => Icon::OneEpoch,
        Preset::Balanced => Icon::Balanced,
        Preset::Best => Icon::Best,
        Preset::Compact => Icon::Compact,
    }
}

fn needs(ui: &mut Ui, app: &App) {
    // Beside a run on such data it is below the headline.
    let run = app.train.run.as_ref();
    let run = run.filter(|_| !app.train.shows_next_run());
    let is_beside = run.is_some_and(|run| harder_data_note(&run.config.data).is_some());
    if let Some(note) = harder_data_note(&app.ctx.config.data).filter(|_| !is_beside) {
        style::note(ui, note);
    }
    if app.ctx.config.preset.is_none() {
        let time = app
            .expected_time(&app.ctx.config)
            .map_or_else(String::new, |time| {
                format!(" Training takes about {time} on this machine.")
            });
        style::note(ui, format!("Custom settings: they match no preset.{time}"));
    }
    if let Some((text, fits)) = app.train.expected_memory(&app.ctx) {
        let about = "Estimate: images, weights, optimizer state and activations";
        let response = if fits {
            ui.label(style::hint(text))
        } else {
            style::invalid(ui, &text)
        };
        response.on_hover_text(about);
    } else if let Some(bytes) = app.train.memory_needed(&app.ctx, &app.ctx.config) {
        // Shown from the first frame, so that nothing moves once the hardware has been detected.
        ui.label(style::hint(format!(
            "Needs about {} of memory.",
            memory(bytes)
        )));
    }
}
