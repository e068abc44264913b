//! The attention of one patch, by each head of a layer side by side.

use eframe::egui::{Align2, Role, Sense, TextStyle, Ui, vec2};

use super::maps::{Atlas, cell, crisp, ink_over, place_at, square};
use super::unit::Open;
use super::words;
use crate::window::{Action, InsideAction, Level, Pushes as _, style};

/// The side of a head's picture, in points.
const SIDE: std::ops::RangeInclusive<f32> = 64.0..=240.0;
/// The distance between two of them, in points.
const SPACE: f32 = 10.0;

pub fn show(ui: &mut Ui, open: &Open<'_>, atlas: &Atlas, actions: &mut Vec<Action>) {
    let count = open.unit.attention.len();
    if count == 0 {
        return;
    }
    style::section(ui, "What the framed patch attends to, by head");
    style::note(ui, "The weights of each head add up to 1.");
    open.weights.legend(ui, 220.0);
    let room = |columns: usize| ui.available_width() / columns as f32 - SPACE;
    // Two rows, if they are too small in one.
    let room = if room(count) < *SIDE.start() {
        room(count.div_ceil(2))
    } else {
        room(count)
    };
    let side = crisp(ui, open.layer.side, room.clamp(*SIDE.start(), *SIDE.end()));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(SPACE, style::GAP / 2.0);
        for head in 0..count {
            one(ui, open, atlas, head, side, actions);
        }
    });
}

/// One head's picture; a click opens its sum for the same patch.
fn one(
    ui: &mut Ui,
    open: &Open<'_>,
    atlas: &Atlas,
    head: usize,
    side: f32,
    actions: &mut Vec<Action>,
) {
    let Some(weights) = open.unit.attention.get(head) else {
        return;
    };
    let (palette, look, patches) = (style::palette(ui), open.unit.look, open.layer.side);
    let features = (open.layer.units / open.unit.attention.len()).max(1);
    let is_open = look.unit / features == head;
    let font = TextStyle::Small.resolve(ui.style());
    let size = vec2(side, side + font.size * 1.6);
    let (place, response) = ui.allocate_exact_size(size, Sense::click());
    let rect = square(ui, place.min, side);
    let painter = ui.painter();
    atlas.paint(painter, open.picture_of_head(head), rect);
    ink_over(ui, rect, open.shown.inspection.layers.first());
    let patch = open.unit.steps.last().map_or(0, |step| step.place);
    style::outline(painter, cell(rect, [patches; 2], patch), 1.5, palette.ink);
    let (width, color) = if is_open || response.hovered() || response.has_focus() {
        (2.0, palette.accent)
    } else {
        (1.0, palette.line)
    };
    style::outline_outside(painter, rect, width, color);
    let name = format!("Head {}", head + 1);
    let title = if is_open {
        format!("{name} (open)")
    } else {
        name.clone()
    };
    let below = rect.left_bottom() + vec2(0.0, 4.0);
    let text_color = ui.visuals().weak_text_color();
    painter.text(below, Align2::LEFT_TOP, title, font, text_color);
    let weight_of = |patch: usize| {
        let weight = weights.get(patch).copied().unwrap_or_default();
        format!(
            "{}: {}",
            words::place(patches, patch),
            words::number(weight)
        )
    };
    let largest = weights.iter().enumerate();
    let largest = largest.max_by(|(_, a), (_, b)| a.total_cmp(b));
    let most = largest.map_or(0, |(patch, _)| patch);
    let said = format!("most to {}", weight_of(most));
    style::describe(&response, Role::Button, &name, &said);
    let pointed_at = response
        .hover_pos()
        .and_then(|at| place_at(rect, [patches; 2], at));
    if let Some(place) = look.place {
        let unit = head * features + look.unit % features;
        let layer = look.layer;
        response.pushes(actions, || {
            InsideAction::Open(Level::Number { layer, unit, place })
        });
    }
    let about = pointed_at.map_or(said, |patch| format!("to {}", weight_of(patch)));
    response.on_hover_text_at_pointer(format!("{name}, {about}. Click for its sum"));
}
