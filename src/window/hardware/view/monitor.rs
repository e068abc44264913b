//! The monitor: a strip of live figures above the status bar, each with a curve of the last two
//! minutes. [`App`] samples them only while it is shown.

use std::collections::VecDeque;

use eframe::egui::{
    Align2, FontSelection, Mesh, Rect, RichText, Role, ScrollArea, Sense, Stroke, TextStyle, Ui,
    WidgetText, pos2, vec2,
};

use crate::hardware::{Gpu, LoadSample};
use crate::text::format::{memory, percent};
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
    let measured = |text: RichText| {
        WidgetText::from(text)
            .into_galley(ui, None, f32::INFINITY, FontSelection::Default)
            .size()
            .x
    };
    let text =
        measured(RichText::new(figure.widest).strong()).max(measured(style::hint(&figure.name)));
    let has_curve = !figure.curve.is_empty();
    let width = text + if has_curve { TEXT_GAP + CURVE } else { 0.0 };
    let (rect, response) = ui.allocate_exact_size(vec2(width.ceil(), HEIGHT), Sense::hover());
    let (small, body) = (
        TextStyle::Small.resolve(ui.style()),
        TextStyle::Body.resolve(ui.style()),
    );
    let painter = ui.painter();
    painter.text(
        rect.left_top(),
        Align2::LEFT_TOP,
        &figure.name,
        small,
        palette.faded,
    );
    painter.text(
        rect.left_bottom(),
        Align2::LEFT_BOTTOM,
        &figure.value,
        body,
        ui.visuals().strong_text_color(),
    );
    if has_curve {
        let place = Rect::from_min_max(
            pos2(rect.right() - CURVE, rect.top() + 3.0),
            rect.right_bottom() - vec2(0.0, 3.0),
        );
        curve(ui, place, &figure.curve);
    }
    let label = format!("{}, current value", figure.name);
    style::describe(&response, Role::Meter, &label, &figure.value);
    response.on_hover_text(&figure.about);
}

/// A line with the newest value at the right edge, and the area below it filled.
fn curve(ui: &Ui, place: Rect, shares: &[f32]) {
    let palette = style::palette(ui);
    let painter = ui.painter();
    painter.rect_filled(place, 3.0, palette.groove);
    let points: Vec<_> = shares
        .iter()
        .rev()
        .enumerate()
        .map(|(age, share)| {
            pos2(
                place.right() - age as f32 * STEP,
                place.bottom() - 1.0 - share.clamp(0.0, 1.0) * (place.height() - 2.0),
            )
        })
        .take_while(|point| point.x >= place.left() - 0.5)
        .collect();
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
    match points.as_slice() {
        [only] => {
            painter.circle_filled(*only - vec2(1.5, 0.0), 1.5, palette.machine);
        }
        _ => {
            painter.line(points, Stroke::new(1.5, palette.machine));
        }
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
    /// The latest samples, oldest first, as shares of the curve's height; empty for a figure
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
        let name = if gpus.len() == 1 {
            "GPU".to_owned()
        } else {
            format!("GPU {}", index + 1)
        };
        let past: Vec<&Gpu> = readings
            .iter()
            .filter_map(|reading| reading.gpus.get(index))
            .collect();
        figures.extend(of_gpu(&name, gpu, &past));
    }
    figures
}

fn cpu(readings: &VecDeque<LoadSample>, now: Option<&LoadSample>) -> Figure {
    let curve: Vec<f32> = readings.iter().map(|reading| reading.processor).collect();
    Figure {
        name: "CPU".to_owned(),
        value: now.map_or_else(unknown, |now| share(now.processor)),
        about: format!(
            "Utilisation of all cores together, by all programs.{}",
            between(&curve, |value| share(*value))
        ),
        curve,
        widest: "100 %",
    }
}

fn inkling_memory(readings: &VecDeque<LoadSample>, now: Option<&LoadSample>) -> Figure {
    let past: Vec<u64> = readings
        .iter()
        .filter_map(|reading| reading.process_memory)
        .collect();
    // There is no natural maximum: the scale ends a little above the highest sample.
    let top = past.iter().max().map_or(1.0, |&most| most as f32 * 1.25);
    Figure {
        name: "Inkling's memory".to_owned(),
        value: now
            .and_then(|now| now.process_memory)
            .map_or_else(unknown, memory),
        about: format!(
            "Memory used by Inkling, including its engine.{}",
            between(&past, |&bytes| memory(bytes))
        ),
        curve: past.iter().map(|&bytes| bytes as f32 / top).collect(),
        widest: "999 MiB",
    }
}

fn free_memory(readings: &VecDeque<LoadSample>, now: Option<&LoadSample>) -> Figure {
    let past: Vec<u64> = readings
        .iter()
        .map(|reading| reading.memory_available)
        .collect();
    let total = now.map_or(1, |now| now.memory_total.max(1));
    let low = if now.is_some_and(|now| now.memory_available < LOW_MEMORY) {
        ", low"
    } else {
        ""
    };
    Figure {
        name: "Free memory".to_owned(),
        value: now.map_or_else(unknown, |now| {
            format!("{}{low}", memory(now.memory_available))
        }),
        about: format!(
            "Memory available to programs, of {} in this machine. Training takes about 300 MiB.{}",
            memory(total),
            between(&past, |&bytes| memory(bytes))
        ),
        curve: past
            .iter()
            .map(|&bytes| bytes as f32 / total as f32)
            .collect(),
        widest: "599 MiB, low",
    }
}

fn of_gpu(name: &str, gpu: &Gpu, past: &[&Gpu]) -> Vec<Figure> {
    let used = |gpu: &Gpu| gpu.memory_total.saturating_sub(gpu.memory_free);
    let busy: Vec<f32> = past.iter().filter_map(|gpu| gpu.utilization).collect();
    let taken: Vec<u64> = past.iter().map(|gpu| used(gpu)).collect();
    let total = gpu.memory_total.max(1) as f32;
    let thermal = [
        gpu.temperature.map(|degrees| format!("{degrees} °C")),
        gpu.power.map(|watts| format!("{watts:.0} W")),
    ];
    let mut figures = vec![Figure {
        name: format!("{name} memory"),
        value: format!("{} of {}", memory(used(gpu)), memory(gpu.memory_total)),
        about: format!(
            "Memory of the {} in use by all programs.{}",
            gpu.name,
            between(&taken, |&bytes| memory(bytes))
        ),
        curve: taken.iter().map(|&bytes| bytes as f32 / total).collect(),
        widest: "139.9 GiB of 139.9 GiB",
    }];
    // Not every GPU reports utilisation or temperature.
    if let Some(utilization) = gpu.utilization {
        let busy = Figure {
            name: name.to_owned(),
            value: share(utilization),
            about: format!(
                "Utilisation of the {}, by all programs.{}",
                gpu.name,
                between(&busy, |value| share(*value))
            ),
            curve: busy,
            widest: "100 %",
        };
        figures.insert(0, busy);
    }
    if thermal.iter().any(Option::is_some) {
        figures.push(Figure {
            name: format!("{name} temperature, power"),
            value: thermal.into_iter().flatten().collect::<Vec<_>>().join(", "),
            about: format!("Temperature and power draw of the {}. It lowers its clock speed before it gets too hot.", gpu.name),
            curve: Vec::new(),
            widest: "100 °C, 1000 W",
        });
    }
    figures
}

fn share(share: f32) -> String {
    percent(f64::from(share), 0)
}

fn unknown() -> String {
    "–".to_owned()
}

/// " In the last two minutes: 12 % to 98 %."
fn between<T: PartialOrd>(values: &[T], word: impl Fn(&T) -> String) -> String {
    let less = |a: &&T, b: &&T| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal);
    let (Some(least), Some(most)) = (values.iter().min_by(less), values.iter().max_by(less)) else {
        return String::new();
    };
    format!(
        " In the last two minutes: {} to {}.",
        word(least),
        word(most)
    )
}
