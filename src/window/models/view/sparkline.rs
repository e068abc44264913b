//! The small curve of a run's accuracy on its card.

use eframe::egui::{Painter, Pos2, Rect, Shape, Stroke, pos2};

use crate::text::format::percent;
use crate::window::Thumbnail;
use crate::window::style::Palette;

/// Accuracies closer together than this do not fill the height: small differences should look
/// small.
const MIN_RANGE: f32 = 0.01;

/// Paints the curve into `rect`, with a dot at its end, in the colours of the plots under Train.
pub fn paint(painter: &Painter, rect: Rect, thumbnail: &Thumbnail, palette: Palette) {
    let color = if thumbnail.validation {
        palette.validation
    } else {
        palette.train
    };
    let (low, high) = range(&thumbnail.values);
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

/// The curve in words: "Validation accuracy by epoch, from 97.1 % to 99.3 %".
pub fn about(thumbnail: &Thumbnail) -> String {
    let what = if thumbnail.validation {
        "Validation accuracy by epoch"
    } else {
        "Training accuracy by step"
    };
    let [first, last] = [thumbnail.values.first(), thumbnail.values.last()]
        .map(|value| percent(f64::from(*value.unwrap_or(&0.0)), 1));
    format!("{what}, from {first} to {last}")
}

fn range(values: &[f32]) -> (f32, f32) {
    let (low, high) = values
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
    (low.min(high - MIN_RANGE), high)
}
