//! The map of the unit that is open, large: each number of it can be opened by pointer, keys and
//! wheel.

use eframe::egui::{CursorIcon, Rect, Role, Sense, Ui, vec2};

use super::maps::{Atlas, Scale, cell, crisp, place_at, square};
use super::network::range;
use super::unit::Open;
use super::{WHEEL, words};
use crate::window::style::image_sheet::choose_by_keys;
use crate::window::{Action, InsideAction, Level, Pushes as _, style};

impl Open<'_> {
    /// The map, of which each number can be opened; of a unit with one number that number, and its
    /// weights if they make one picture.
    pub fn map(
        &self,
        ui: &mut Ui,
        atlas: &Atlas,
        level: Level,
        wheel: &mut f32,
        actions: &mut Vec<Action>,
    ) {
        let Some((index, step)) = self.unit.steps.iter().enumerate().next_back() else {
            return;
        };
        let scale = Scale::of_layer(self.layer, &step.values);
        let legend = 30.0 + ui.spacing().interact_size.y * 2.0;
        let room = ui
            .available_width()
            .min(ui.available_height() - legend)
            .max(80.0);
        if step.side > 1 {
            let rect = large(ui, atlas, index, step.side, step.side, room);
            self.pick(ui, rect, level, wheel, actions);
            scale.legend(ui, rect.width());
            style::note(
                ui,
                "Click a pixel, or choose it with the arrow keys, to see how its value is computed.",
            );
            return;
        }
        style::figure(ui, "Answer", &words::number(step.value()), "");
        if let [term] = self.unit.terms.as_slice()
            && term.width > 1
        {
            let [_, weights] = self.pictures_of(0);
            let rows = term.weights.len().div_ceil(term.width);
            style::weak(ui, "Its weights, over what it looks at");
            let rect = large(ui, atlas, weights, term.width, rows, room - 60.0);
            let response = ui.interact(rect, ui.scope_id().with("weights"), Sense::hover());
            style::name(&response, Role::Image, "Weights");
            let at = response
                .hover_pos()
                .and_then(|at| place_at(rect, [term.width, rows], at));
            if let Some(weight) = at.and_then(|at| term.weights.get(at)) {
                response.on_hover_text_at_pointer(words::number(*weight));
            }
            self.weights.legend(ui, rect.width());
        }
        if let Level::Unit { layer, unit } = level {
            ui.add_space(style::GAP / 2.0);
            let open = Level::Number {
                layer,
                unit,
                place: 0,
            };
            ui.add(style::secondary_button("Show the sum"))
                .pushes(actions, || InsideAction::Open(open));
        }
    }

    /// Moves and zooms by pointer, keys and wheel.
    fn pick(&self, ui: &Ui, rect: Rect, level: Level, wheel: &mut f32, actions: &mut Vec<Action>) {
        let Some(step) = self.unit.steps.last() else {
            return;
        };
        let (side, look) = (step.side, self.unit.look);
        let palette = style::palette(ui);
        let response = ui.interact(rect, ui.scope_id().with("map"), Sense::click());
        let open = |place| {
            InsideAction::Open(Level::Number {
                layer: look.layer,
                unit: look.unit,
                place,
            })
        };
        let chosen = match level {
            Level::Number { place, .. } => Some(place),
            _ => None,
        };
        let outlined = |place, color| {
            style::outline_outside(ui.painter(), cell(rect, [side, side], place), 2.0, color);
        };
        if let Some(place) = chosen {
            outlined(place, palette.accent);
        }
        let mut by_key = chosen;
        choose_by_keys(ui, &response, &mut by_key, |from, down, right| {
            let Some(from) = from else { return step.place };
            let moved = |at: usize, by: isize| at.saturating_add_signed(by).min(side - 1);
            moved(from / side, down) * side + moved(from % side, right)
        });
        if let Some(place) = by_key.filter(|_| by_key != chosen) {
            actions.push(open(place).into());
        }
        let value = |place: usize| step.values.get(place).copied().map(words::number);
        let said = chosen
            .and_then(|place| Some(format!("{}: {}", words::place(side, place), value(place)?)));
        let said = said.unwrap_or_else(|| range(&step.values));
        style::describe(&response, Role::Image, "Map", &said);
        // The pointer may have moved on since the click.
        let clicked = response
            .interact_pointer_pos()
            .filter(|_| response.clicked());
        let place_of = |at| place_at(rect, [side, side], at);
        if let Some(place) = clicked.and_then(place_of) {
            actions.push(open(place).into());
        }
        let Some(place) = response.hover_pos().and_then(place_of) else {
            return;
        };
        outlined(place, palette.ink);
        // Down leads back, and up to the number.
        let least = if chosen.is_some() { 0.0 } else { -WHEEL };
        *wheel = (*wheel - ui.input(|input| input.smooth_scroll_delta().y)).max(least);
        if *wheel <= -WHEEL {
            *wheel = 0.0;
            actions.push(open(place).into());
        }
        let text = format!(
            "{}: {}",
            words::place(side, place),
            value(place).unwrap_or_default()
        );
        response
            .on_hover_cursor(CursorIcon::PointingHand)
            .on_hover_text_at_pointer(text);
    }
}

/// Paints a picture as large as there is room.
fn large(
    ui: &mut Ui,
    atlas: &Atlas,
    picture: usize,
    columns: usize,
    rows: usize,
    room: f32,
) -> Rect {
    let side = crisp(ui, columns.max(rows), room);
    let size = vec2(columns as f32, rows as f32) * (side / columns.max(rows) as f32);
    let (place, _) = ui.allocate_exact_size(size, Sense::hover());
    let rect = Rect::from_min_size(square(ui, place.min, side).min, size);
    atlas.paint(ui.painter(), picture, rect);
    style::outline_outside(ui.painter(), rect, 1.0, style::palette(ui).line);
    rect
}
