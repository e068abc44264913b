//! Draws one live figure: its name, its value, and a small curve of the last two minutes.

use eframe::egui::{
    Align2, FontSelection, Mesh, Rect, RichText, Role, Sense, Stroke, TextStyle, Ui, WidgetInfo,
    WidgetText, pos2, vec2,
};

use super::figures::Figure;
use crate::window::style;

pub(super) const HEIGHT: f32 = 38.0;
/// The curve's width, in points, for two minutes of samples.
const CURVE: f32 = 72.0;
/// The distance between two samples, one second apart, in points.
const STEP: f32 = CURVE / 119.0;
/// Space between text and curve, in points.
const TEXT_GAP: f32 = 8.0;

pub fn show(ui: &mut Ui, figure: &Figure) {
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
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(figure.value.clone()),
        ..WidgetInfo::labeled(Role::Meter, true, &label)
    });
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
