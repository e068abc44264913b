//! A card in the list of models: name, date, accuracy, its curve and the person's note at a glance.

use std::borrow::Cow;
use std::sync::Arc;

use eframe::egui::text::{LayoutJob, TextWrapping};
use eframe::egui::{
    Color32, FontId, Galley, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, StrokeKind,
    TextStyle, Ui, WidgetInfo, pos2, vec2,
};

use crate::records::{Accuracy, Annotation, ModelRef, RunSummary};
use crate::run_config::EvaluationSplit;
use crate::runs::{Repeats, RunEntry};
use crate::text::format::{count, local_time, percent};
use crate::window::style::icons::Icon;
use crate::window::style::{self, Palette};
use crate::window::{App, Thumbnail};

/// A card's margins, and the space between its columns, in points.
const MARGIN: [f32; 2] = [12.0, 9.0];
const COLUMN_GAP: f32 = 10.0;
/// The curve, in points: on a card as wide as the list, and on a wide one.
const CURVE: [f32; 2] = [60.0, 30.0];
const WIDE_CURVE: [f32; 2] = [140.0, 30.0];
/// From this width on, in points, a card is wide.
const WIDE: f32 = 560.0;
/// Type size of the accuracy.
const ACCURACY: f32 = 20.0;
/// The greatest width of the name of a data set below it, in points.
const MEASURED_ON_WIDTH: f32 = 96.0;

pub struct Card<'a> {
    title: Cow<'a, str>,
    line: String,
    annotation: Annotation,
    accuracy: Option<Figure>,
    curve: Option<&'a Thumbnail>,
    in_use: bool,
    broken: bool,
}

/// The accuracy that stands for a model.
struct Figure {
    value: String,
    /// The line below it: the test set, or the other images that it was measured on.
    measured_on: String,
    about: String,
}

pub fn of_run<'a>(app: &'a App, runs: &[RunEntry], entry: &'a RunEntry) -> Card<'a> {
    let mut card = Card {
        title: Cow::Borrowed(&entry.title),
        line: "damaged".to_owned(),
        annotation: Annotation::default(),
        accuracy: None,
        curve: None,
        in_use: false,
        broken: true,
    };
    if let Ok(summary) = &entry.summary {
        let repeats = Repeats::of(runs, summary).filter(|_| summary.is_typical());
        card.line = line(entry, summary, repeats.as_ref());
        card.annotation = entry.annotation.clone();
        let mean = repeats.as_ref().and_then(mean_accuracy);
        card.accuracy = mean.or_else(|| summary.accuracy().as_ref().map(figure));
        card.curve = app.models.thumbnail(&entry.folder);
        let model = ModelRef::File(summary.model_path.clone());
        card.in_use = app.ctx.is_in_use(&model);
        card.broken = false;
    }
    card
}

pub fn of_starter(app: &App) -> Card<'_> {
    let starter = app.ctx.starter_model.as_ref();
    let accuracy = starter.and_then(|model| model.accuracy.as_ref());
    Card {
        title: Cow::Owned(app.model_name(&ModelRef::Starter)),
        line: "Included with Inkling".to_owned(),
        annotation: Annotation::default(),
        accuracy: accuracy.map(figure),
        curve: None,
        in_use: app.ctx.is_in_use(&ModelRef::Starter),
        broken: false,
    }
}

/// The line below the title: network and data of a model with its own name, the date,
/// and how it came about.
fn line(entry: &RunEntry, summary: &RunSummary, repeats: Option<&Repeats<'_>>) -> String {
    let is_named = !entry.annotation.name.is_empty();
    let facts = [
        is_named.then(|| summary.config.title()),
        Some(local_time(&summary.finished_at)),
        repeats.map(|repeats| count(repeats.runs().len() as u64, "run")),
        summary.stopped.then(|| "stopped".to_owned()),
        summary.imported.is_some().then(|| "imported".to_owned()),
    ];
    let facts = facts.into_iter().flatten();
    let facts = facts.chain(entry.annotation.tags.clone());
    facts.collect::<Vec<_>>().join(" · ")
}

/// The text that a search looks in: a run's title, network and data, its note, its tags, its date,
/// and the name of its folder.
pub fn searched_text(entry: &RunEntry) -> String {
    let folder = entry.folder.file_name().unwrap_or(entry.folder.as_os_str());
    let Annotation { note, tags, .. } = &entry.annotation;
    let mut text = format!("{} {note} {}", entry.title, tags.join(" "));
    if let Ok(run) = &entry.summary {
        text += &format!(" {} {}", run.config.title(), local_time(&run.finished_at));
    }
    text + " " + &folder.to_string_lossy()
}

fn mean_accuracy(repeats: &Repeats<'_>) -> Option<Figure> {
    let value = percent(repeats.mean()?.mean, 2);
    Some(Figure {
        about: format!("Mean {} accuracy: {value}", repeats.measured_on()),
        value,
        measured_on: "mean".to_owned(),
    })
}

fn figure(accuracy: &Accuracy) -> Figure {
    let is_test = accuracy.split == EvaluationSplit::Test;
    let measured_on = if is_test {
        accuracy.data.label()
    } else {
        "validation".to_owned()
    };
    Figure {
        value: accuracy.percent(),
        measured_on,
        about: accuracy.to_string(),
    }
}

pub struct Laid<'a> {
    card: Card<'a>,
    width: f32,
    title: Arc<Galley>,
    /// The line below the title, and its galley.
    line: String,
    below: Arc<Galley>,
    note: Option<Arc<Galley>>,
    /// The accuracy, and what it was measured on.
    accuracy: Option<[Arc<Galley>; 2]>,
    curve: Option<(&'a Thumbnail, [f32; 2])>,
}

impl<'a> Card<'a> {
    pub fn lay_out(self, ui: &Ui, width: f32) -> Laid<'a> {
        let [body, small] =
            [TextStyle::Body, TextStyle::Small].map(|font| font.resolve(ui.style()));
        let (strong, weak) = (
            ui.visuals().strong_text_color(),
            ui.visuals().weak_text_color(),
        );
        let line = if self.in_use {
            format!("{} · in use", self.line)
        } else {
            self.line.clone()
        };
        // From the right: accuracy, curve, texts. The note is below all of them.
        let inner = width - 2.0 * MARGIN[0];
        let accuracy = self.accuracy.as_ref().map(|figure| {
            let font = FontId::new(ACCURACY, style::fonts::semibold());
            let on = &figure.measured_on;
            [
                lines(ui, &figure.value, font, strong, inner, 1),
                lines(ui, on, small.clone(), weak, MEASURED_ON_WIDTH, 1),
            ]
        });
        let curve = self
            .curve
            .map(|curve| (curve, if width >= WIDE { WIDE_CURVE } else { CURVE }));
        let columns = [
            accuracy.as_ref().map(accuracy_width),
            curve.map(|(_, [width, _])| width),
        ];
        let room = columns
            .into_iter()
            .flatten()
            .fold(inner, |room, column| room - column - COLUMN_GAP);
        let color = if self.broken {
            style::palette(ui).bad
        } else {
            strong
        };
        let star = self.star_width(&body);
        let title = lines(ui, &self.title, body, color, room - star, 2);
        let below = lines(ui, &line, small.clone(), weak, room, 1);
        let note = &self.annotation.note;
        let note = (!note.is_empty()).then(|| lines(ui, note, small, weak, inner, 1));
        Laid {
            card: self,
            width,
            title,
            line,
            below,
            note,
            accuracy,
            curve,
        }
    }

    fn star_width(&self, font: &FontId) -> f32 {
        if self.annotation.starred {
            font.size + 4.0
        } else {
            0.0
        }
    }

    fn label(&self, line: &str) -> String {
        let Annotation { starred, note, .. } = &self.annotation;
        let mut label = self.title.to_string();
        if *starred {
            label += ", starred";
        }
        label += &format!(", {line}");
        if !note.is_empty() {
            label += &format!(", {note}");
        }
        if let Some(figure) = &self.accuracy {
            label += &format!(", {}", figure.about);
        }
        label
    }
}

fn accuracy_width(texts: &[Arc<Galley>; 2]) -> f32 {
    texts.iter().map(|text| text.size().x).fold(0.0, f32::max)
}

impl Laid<'_> {
    /// The height that it needs, in points.
    pub fn height(&self) -> f32 {
        let texts = self.title.size().y + 4.0 + self.below.size().y;
        let figure = self.accuracy.iter().flatten();
        let figure: f32 = figure.map(|text| text.size().y).sum();
        let note = self.note.as_ref().map_or(0.0, |note| note.size().y + 2.0);
        texts.max(figure) + note + 2.0 * MARGIN[1]
    }

    /// Draws it in this height.
    pub fn show(self, ui: &mut Ui, height: f32, selected: bool) -> Response {
        let palette = style::palette(ui);
        let body = TextStyle::Body.resolve(ui.style());
        let strong = ui.visuals().strong_text_color();
        let weak = ui.visuals().weak_text_color();
        let (rect, response) = ui.allocate_exact_size(vec2(self.width, height), Sense::click());
        let fill = if selected {
            palette.accent.gamma_multiply(0.1)
        } else if response.hovered() {
            ui.visuals().widgets.hovered.weak_bg_fill
        } else {
            palette.card
        };
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        let outline = if selected {
            Stroke::new(1.5, palette.accent)
        } else {
            Stroke::new(1.0, palette.line)
        };
        painter.rect(rect, style::RADIUS, fill, outline, StrokeKind::Inside);
        let inner = rect.shrink2(MARGIN.into());
        let mut top = inner.min;
        let star = self.card.star_width(&body);
        if star > 0.0 {
            let row_height = ui.text_style_height(&TextStyle::Body);
            let place = top + vec2(0.0, (row_height - body.size) * 0.5);
            let place = Rect::from_min_size(place, vec2(body.size, body.size));
            Icon::Favorite.paint(&painter, place, palette.accent);
        }
        painter.galley(top + vec2(star, 0.0), Arc::clone(&self.title), strong);
        top.y += self.title.size().y + 4.0;
        painter.galley(top, Arc::clone(&self.below), weak);
        if let Some(note) = &self.note {
            let at = pos2(top.x, inner.bottom() - note.size().y);
            painter.galley(at, Arc::clone(note), weak);
        }
        let mut about = None;
        let mut right = inner.right();
        if let (Some(figure), Some(texts)) = (&self.card.accuracy, &self.accuracy) {
            let mut top = inner.top();
            for text in texts {
                let at = pos2(right - text.size().x, top);
                painter.galley(at, Arc::clone(text), weak);
                top += text.size().y;
            }
            let left = right - accuracy_width(texts);
            about = response
                .hover_pos()
                .filter(|at| at.x >= left)
                .map(|_| figure.about.clone());
            right = left - COLUMN_GAP;
        }
        if let Some((thumbnail, [curve_width, height])) = self.curve {
            let place = Rect::from_min_size(
                pos2(right - curve_width, inner.top() + 4.0),
                vec2(curve_width, height),
            );
            sparkline(&painter, place, thumbnail, palette);
            about = about.or_else(|| {
                response
                    .hover_pos()
                    .filter(|at| place.contains(*at))
                    .map(|_| about_curve(thumbnail))
            });
        }
        let label = self.card.label(&self.line);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, selected, label.clone()));
        let is_cut = self.note.as_ref().is_some_and(|note| note.elided);
        let about = about.or_else(|| is_cut.then(|| self.card.annotation.note.clone()));
        about.map_or(response.clone(), |about| response.on_hover_text(about))
    }
}

/// The text in at most this many rows of this width, cut off if it is longer.
fn lines(
    ui: &Ui,
    text: &str,
    font: FontId,
    color: Color32,
    width: f32,
    rows: usize,
) -> Arc<Galley> {
    let mut job = LayoutJob::simple(text.to_owned(), font, color, width.max(40.0));
    job.wrap = TextWrapping {
        max_width: width.max(40.0),
        max_rows: rows,
        break_anywhere: rows == 1,
        ..TextWrapping::default()
    };
    ui.painter().layout_job(job)
}

/// Accuracies closer together than this do not fill the height: small differences should look
/// small.
const MIN_RANGE: f32 = 0.01;

/// Paints the curve into `rect`, with a dot at its end, in the colors of the plots under Train.
pub fn sparkline(painter: &Painter, rect: Rect, thumbnail: &Thumbnail, palette: Palette) {
    let color = if thumbnail.validation {
        palette.validation
    } else {
        palette.train
    };
    let (low, high) = curve_range(&thumbnail.values);
    let steps = thumbnail.values.len().saturating_sub(1).max(1) as f32;
    let inner = rect.shrink(3.0);
    let at = |(index, value): (usize, &f32)| -> Pos2 {
        let height = ((value - low) / (high - low)).clamp(0.0, 1.0);
        pos2(
            inner.left() + inner.width() * index as f32 / steps,
            inner.bottom() - inner.height() * height,
        )
    };
    let points: Vec<Pos2> = thumbnail.values.iter().enumerate().map(at).collect();
    painter.hline(
        rect.x_range(),
        rect.bottom(),
        Stroke::new(1.0, palette.line),
    );
    if let Some(end) = points.last() {
        painter.circle_filled(*end, 2.5, color);
    }
    painter.add(Shape::line(points, Stroke::new(1.5, color)));
}

/// The curve in words: "Validation accuracy by epoch, from 97.1% to 99.3%".
pub fn about_curve(thumbnail: &Thumbnail) -> String {
    let what = if thumbnail.validation {
        "Validation accuracy by epoch"
    } else {
        "Training accuracy by step"
    };
    let [first, last] = [thumbnail.values.first(), thumbnail.values.last()]
        .map(|value| percent(f64::from(*value.unwrap_or(&0.0)), 1));
    format!("{what}, from {first} to {last}")
}

fn curve_range(values: &[f32]) -> (f32, f32) {
    let (low, high) = values
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
    (low.min(high - MIN_RANGE), high)
}
