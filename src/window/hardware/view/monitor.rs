//! The monitor: a strip of live figures above the status bar, each with a curve of the last two
//! minutes. [`App`] samples them only while it is shown.

use std::collections::VecDeque;

use eframe::egui::{
    Align2, Mesh, Rect, RichText, Role, ScrollArea, Sense, Stroke, TextStyle, Ui, pos2, vec2,
};

use crate::hardware::{Gpu, LoadSample};
use crate::text::format::{memory, percent};
use crate::window::style::SemiBold as _;
use crate::window::{App, style};

/// The strip's greatest height, in points; with many GPUs it scrolls.
const MAX_HEIGHT: f32 = 3.0 * (HEIGHT + style::GAP);

pub fn show(ui: &mut Ui, app: &App) {
    let figures = figures_of(app.machine.monitor.samples());
    // As high as its content needs, whatever the panel's height was a frame ago.
    let area = ScrollArea::vertical()
        .max_height(MAX_HEIGHT)
        .min_scrolled_height(MAX_HEIGHT)
        .auto_shrink([false, true]);
    area.show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(style::GAP * 1.5, style::GAP / 2.0);
            for figure in &figures {
                tile(ui, figure);
            }
        });
    });
}

const HEIGHT: f32 = 38.0;
/// The curve's width, in points, for two minutes of samples.
const CURVE: f32 = 72.0;
/// The distance between two samples, one second apart, in points.
const STEP: f32 = CURVE / 119.0;
/// Space between text and curve, in points.
const TEXT_GAP: f32 = 8.0;

fn tile(ui: &mut Ui, figure: &Figure) {
    let palette = style::palette(ui);
    let widest = style::text_size(ui, RichText::new(figure.widest).semibold());
    let text = widest
        .x
        .max(style::text_size(ui, style::hint(&figure.name)).x);
    let has_curve = !figure.curve.is_empty();
    let width = text + if has_curve { TEXT_GAP + CURVE } else { 0.0 };
    let (rect, response) = ui.allocate_exact_size(vec2(width.ceil(), HEIGHT), Sense::hover());
    let painter = ui.painter();
    let write = |at, anchor, text: &str, font: TextStyle, color| {
        painter.text(at, anchor, text, font.resolve(ui.style()), color);
    };
    let (name, value) = (&figure.name, &figure.value);
    let strong = ui.visuals().strong_text_color();
    write(
        rect.left_top(),
        Align2::LEFT_TOP,
        name,
        TextStyle::Small,
        palette.faded,
    );
    write(
        rect.left_bottom(),
        Align2::LEFT_BOTTOM,
        value,
        TextStyle::Body,
        strong,
    );
    if has_curve {
        let place = rect
            .with_min_x(rect.right() - CURVE)
            .shrink2(vec2(0.0, 3.0));
        curve(ui, place, &figure.curve);
    }
    let label = format!("{name}, current value");
    style::describe(&response, Role::Meter, &label, value);
    response.on_hover_text(&figure.about);
}

/// A line with the newest value at the right edge, and the area below it filled.
fn curve(ui: &Ui, place: Rect, shares: &[f32]) {
    let palette = style::palette(ui);
    let painter = ui.painter();
    painter.rect_filled(place, 3.0, palette.groove);
    let at = |(age, share): (usize, &f32)| {
        let height = share.clamp(0.0, 1.0) * (place.height() - 2.0);
        pos2(
            place.right() - age as f32 * STEP,
            place.bottom() - 1.0 - height,
        )
    };
    let newest_first = shares.iter().rev().enumerate().map(at);
    let shown = newest_first.take_while(|point| point.x >= place.left() - 0.5);
    let points: Vec<_> = shown.collect();
    let mut ground = Mesh::default();
    for (number, point) in (0..).map(|pair| 2 * pair).zip(&points) {
        let tint = palette.machine.gamma_multiply(0.25);
        ground.colored_vertex(*point, tint);
        ground.colored_vertex(pos2(point.x, place.bottom()), tint);
        if number > 0 {
            ground.add_triangle(number - 2, number - 1, number);
            ground.add_triangle(number - 1, number, number + 1);
        }
    }
    painter.add(ground);
    if let [only] = points.as_slice() {
        painter.circle_filled(*only - vec2(1.5, 0.0), 1.5, palette.machine);
    } else {
        painter.line(points, Stroke::new(1.5, palette.machine));
    }
}

/// Free memory below this is flagged as low: training takes about 300 MiB.
const LOW_MEMORY: u64 = 600 << 20;

/// A live figure as it is shown.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    pub name: String,
    /// The current value with its unit.
    pub value: String,
    /// An explanation in a sentence or two.
    pub about: String,
    /// The latest samples, oldest first, as fractions of the curve's height; empty for a figure
    /// without a curve.
    pub curve: Vec<f32>,
    /// The longest value it can have, so that the layout does not move when it changes.
    pub widest: &'static str,
}

/// All figures in the order they are shown in; before the first sample, those that every machine
/// has.
fn figures_of(readings: &VecDeque<LoadSample>) -> Vec<Figure> {
    let now = readings.back();
    let mut figures = vec![
        cpu(readings, now),
        inkling_memory(readings, now),
        free_memory(readings, now),
    ];
    let gpus = now.map_or(&[][..], |now| now.gpus.as_slice());
    for (index, gpu) in gpus.iter().enumerate() {
        let name = match gpus.len() {
            1 => "GPU".to_owned(),
            _ => format!("GPU {}", index + 1),
        };
        let past = readings
            .iter()
            .filter_map(|reading| reading.gpus.get(index));
        figures.extend(of_gpu(&name, gpu, &past.collect::<Vec<_>>()));
    }
    figures
}

fn cpu(readings: &VecDeque<LoadSample>, now: Option<&LoadSample>) -> Figure {
    let curve: Vec<f32> = readings.iter().map(|reading| reading.processor).collect();
    let between = between(&curve, |value| share(*value));
    Figure {
        name: "CPU".to_owned(),
        value: now.map_or_else(unknown, |now| share(now.processor)),
        about: format!("Utilization of all cores together, by all programs.{between}"),
        curve,
        widest: "100%",
    }
}

fn inkling_memory(readings: &VecDeque<LoadSample>, now: Option<&LoadSample>) -> Figure {
    let past = readings.iter().filter_map(|reading| reading.process_memory);
    let past: Vec<u64> = past.collect();
    // There is no natural maximum: the scale ends a little above the highest sample.
    let top = past.iter().max().map_or(1.0, |&most| most as f32 * 1.25);
    let now = now.and_then(|now| now.process_memory);
    let between = between(&past, |&bytes| memory(bytes));
    Figure {
        name: "Inkling's memory".to_owned(),
        value: now.map_or_else(unknown, memory),
        about: format!("Memory used by Inkling, including its engine.{between}"),
        curve: past.iter().map(|&bytes| bytes as f32 / top).collect(),
        widest: "999 MiB",
    }
}

fn free_memory(readings: &VecDeque<LoadSample>, now: Option<&LoadSample>) -> Figure {
    let past = readings.iter().map(|reading| reading.memory_available);
    let past: Vec<u64> = past.collect();
    let total = now.map_or(1, |now| now.memory_total.max(1));
    let value = now.map_or_else(unknown, |now| {
        let is_low = now.memory_available < LOW_MEMORY;
        memory(now.memory_available) + if is_low { ", low" } else { "" }
    });
    let (between, all) = (between(&past, |&bytes| memory(bytes)), memory(total));
    let share = |&bytes: &u64| bytes as f32 / total as f32;
    Figure {
        name: "Free memory".to_owned(),
        value,
        about: format!(
            "Memory available to programs, of {all} in this machine. Training takes about 300 MiB.{between}"
        ),
        curve: past.iter().map(share).collect(),
        widest: "599 MiB, low",
    }
}

fn of_gpu(name: &str, gpu: &Gpu, past: &[&Gpu]) -> Vec<Figure> {
    let used = |gpu: &Gpu| gpu.memory_total.saturating_sub(gpu.memory_free);
    let total = gpu.memory_total.max(1) as f32;
    let figure = |name: String, value: String, about: String, curve: Vec<f32>, widest| Figure {
        name,
        value,
        about,
        curve,
        widest,
    };
    let mut figures = Vec::new();
    // Not every GPU reports utilization or temperature.
    if let Some(utilization) = gpu.utilization {
        let busy: Vec<f32> = past.iter().filter_map(|gpu| gpu.utilization).collect();
        let between = between(&busy, |value| share(*value));
        let about = format!("Utilization of the {}, by all programs.{between}", gpu.name);
        figures.push(figure(
            name.to_owned(),
            share(utilization),
            about,
            busy,
            "100%",
        ));
    }
    let taken: Vec<u64> = past.iter().map(|gpu| used(gpu)).collect();
    let value = format!("{} of {}", memory(used(gpu)), memory(gpu.memory_total));
    let between = between(&taken, |&bytes| memory(bytes));
    let about = format!(
        "Memory of the {} in use by all programs.{between}",
        gpu.name
    );
    let curve = taken.iter().map(|&bytes| bytes as f32 / total).collect();
    let memory_name = format!("{name} memory");
    figures.push(figure(
        memory_name,
        value,
        about,
        curve,
        "139.9 GiB of 139.9 GiB",
    ));
    let degrees = gpu.temperature.map(|degrees| format!("{degrees} °C"));
    let watts = gpu.power.map(|watts| format!("{watts:.0} W"));
    let thermal: Vec<String> = [degrees, watts].into_iter().flatten().collect();
    if !thermal.is_empty() {
        let about = format!(
            "Temperature and power draw of the {}. It lowers its clock speed before it gets too hot.",
            gpu.name
        );
        let name = format!("{name} temperature, power");
        figures.push(figure(
            name,
            thermal.join(", "),
            about,
            Vec::new(),
            "100 °C, 1000 W",
        ));
    }
    figures
}

fn share(share: f32) -> String {
    percent(f64::from(share), 0)
}

fn unknown() -> String {
    "–".to_owned()
}

/// " In the last two minutes: 12% to 98%."
fn between<T: PartialOrd>(values: &[T], word: impl Fn(&T) -> String) -> String {
    let less = |a: &&T, b: &&T| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
    let (Some(least), Some(most)) = (values.iter().min_by(less), values.iter().max_by(less)) else {
        return String::new();
    };
    let (least, most) = (word(least), word(most));
    format!(" In the last two minutes: {least} to {most}.")
}
