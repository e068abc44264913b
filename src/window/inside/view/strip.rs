//! A look inside beside the canvas of Train and Draw: a row of small maps for each layer. A click on
//! one opens it in Inside.

use eframe::egui::{Align2, Rect, Role, Sense, TextStyle, Ui, Vec2, pos2, vec2};

use super::maps::{LayerMaps, crisp, square};
use super::words;
use crate::records::{InspectedLayer, LayerKind};
use crate::window::{Action, App, InsideAction, Level, Screen, style};

/// The smallest and largest side of a map, in points.
const SIDE: std::ops::RangeInclusive<f32> = 14.0..=56.0;
/// The side of a map if there is room for several lines of them, in points.
const USUAL_SIDE: f32 = 30.0;
/// The space between two maps, in points.
const SPACE: f32 = 2.0;

/// Whether a layer has a row: what it computes can be seen.
fn is_shown(layer: &InspectedLayer) -> bool {
    let computes = !matches!(
        layer.kind,
        LayerKind::Image | LayerKind::Rearrangement | LayerKind::Activation(_)
    );
    computes && layer.side > 1 && !layer.values.is_empty()
}

/// Draws the rows in a place of this size; of many layers those that are evenly apart.
pub fn show(ui: &mut Ui, app: &App, maps: &mut LayerMaps, size: Vec2, actions: &mut Vec<Action>) {
    let (area, response) = ui.allocate_exact_size(size, Sense::hover());
    let Some((version, inspection)) = app.draw.inspection() else {
        style::describe(&response, Role::Image, "Feature maps", "nothing drawn yet");
        return;
    };
    maps.update(ui, inspection, version);
    let layers: Vec<usize> = (0..inspection.layers.len())
        .filter(|&index| is_shown(&inspection.layers[index]))
        .collect();
    let room = |side: f32| (size.y / (side + SPACE)).floor().max(1.0) as usize;
    let layers_shown = layers.len().min(room(*SIDE.start()));
    if layers_shown == 0 {
        return;
    }
    // Of a few layers there is room for more maps.
    let lines = (room(USUAL_SIDE) / layers_shown).max(1);
    let height = size.y / layers_shown as f32;
    let most = (height / lines as f32 - SPACE).clamp(*SIDE.start(), *SIDE.end());
    let pitch = height.min(lines as f32 * (most + SPACE) + SPACE);
    let (palette, classes) = (style::palette(ui), app.ctx.classes());
    let font = TextStyle::Small.resolve(ui.style());
    let of_all = |shown: usize, layer: &InspectedLayer| format!("{shown} of {}", layer.units);
    let names = layers.iter().flat_map(|&layer| {
        let layer = &inspection.layers[layer];
        [layer.name.clone(), of_all(layer.units, layer)]
    });
    let widths = names.map(|name| style::text_width(ui, name, &font));
    let indent = widths.fold(0.0, f32::max) + 6.0;
    for row in 0..layers_shown {
        let index = layers[row * layers.len() / layers_shown];
        let layer = &inspection.layers[index];
        let side = crisp(ui, layer.side, most);
        let top = area.top() + row as f32 * pitch;
        let columns = ((size.x - indent + SPACE) / (side + SPACE)).max(1.0) as usize;
        let shown = layer.units.min(columns * lines);
        let mut name = layer.name.clone();
        if shown < layer.units {
            name = format!("{name}\n{}", of_all(shown, layer));
        }
        let at = pos2(area.left(), top + side / 2.0);
        let (corner, color) = (Align2::LEFT_CENTER, palette.faded);
        ui.painter().text(at, corner, name, font.clone(), color);
        for unit in 0..shown {
            let place = vec2((unit % columns) as f32, (unit / columns) as f32);
            let corner = pos2(area.left() + indent, top) + place * (side + SPACE);
            let rect = square(ui, corner, side);
            maps.paint(ui.painter(), [index, unit], rect);
            let name = words::unit(inspection, index, unit, &classes);
            let name = format!("{}, {name}", layer.name);
            tile(ui, rect, [index, unit], &name, actions);
        }
    }
}

/// The button over a map that opens it.
fn tile(ui: &Ui, rect: Rect, [layer, unit]: [usize; 2], name: &str, actions: &mut Vec<Action>) {
    let palette = style::palette(ui);
    let id = ui.scope_id().with(("map", layer, unit));
    let response = ui.interact(rect, id, Sense::click());
    let is_pointed_at = response.hovered() || response.has_focus();
    let (width, color) = if is_pointed_at {
        (2.0, palette.accent)
    } else {
        (1.0, palette.line)
    };
    style::outline_outside(ui.painter(), rect, width, color);
    style::name(&response, Role::Button, name);
    if response.clicked() {
        actions.push(Action::Show(Screen::Inside));
        actions.push(InsideAction::Open(Level::Unit { layer, unit }).into());
    }
    response.on_hover_text(format!("{name}: click to look inside"));
}
