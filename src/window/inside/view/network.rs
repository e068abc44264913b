//! All layers below each other, or one: the units of each as tiles.

use std::ops::RangeInclusive;

use eframe::egui::epaint::CubicBezierShape;
use eframe::egui::{
    Align, Align2, Color32, Frame, Label, Layout, Margin, Painter, Pos2, Rect, RichText, Role,
    Sense, Shape, Stroke, TextStyle, Ui, Vec2, WidgetInfo, vec2,
};

use super::maps::{LayerMaps, Scale, crisp, square};
use super::{Shown, words};
use crate::records::{InspectedLayer, LayerKind};
use crate::window::style::SemiBold as _;
use crate::window::{Action, InsideAction, Level, Pushes as _, style};

/// The width of the line that joins the layers, in points.
const RAIL: f32 = 30.0;
/// The margin to the left of sentences and tiles, in points.
const INDENT: Margin = Margin {
    left: 4,
    ..Margin::ZERO
};
/// The height above the tiles of a layer, in points.
const BESIDE_TILES: f32 = 80.0;
/// The space between two tiles, in points.
const SPACE: f32 = 3.0;
/// The sides of tiles in the network and in a layer, in points.
const SMALL: RangeInclusive<f32> = 20.0..=66.0;
const LARGE: RangeInclusive<f32> = 40.0..=220.0;
/// The sides of cells, which stand for units that are one number, in points.
const CELL: RangeInclusive<f32> = 7.0..=30.0;
/// Rows of tiles of a layer in the network, if the tiles are not too small then.
const ROWS: usize = 2;
/// From this side on, in points, a tile has its name below it.
const NAMED: f32 = 60.0;
/// From this side on, in points, the cell of a class has its score below its name.
const WITH_SCORE: f32 = 46.0;
/// A layer with more units than this can be reached by keyboard only if it is in sight.
const REACHED: usize = 300;

/// Draws all layers, or `only` one of them.
pub fn show(
    ui: &mut Ui,
    shown: Shown<'_>,
    only: Option<usize>,
    maps: &mut LayerMaps,
    actions: &mut Vec<Action>,
) {
    let layers = &shown.inspection.layers;
    maps.update(ui, shown.inspection, shown.version);
    let id = only.map_or("network".to_owned(), |only| format!("layer {only}"));
    let largest = largest(layers, ui.available_height());
    style::scroll(ui, id, |ui| {
        // Space for the scroll bar, so that it never covers a number.
        ui.set_max_width(ui.available_width() - 12.0);
        let mut nodes: Vec<Pos2> = Vec::new();
        for (index, (layer, scale)) in layers.iter().zip(&maps.scales).enumerate() {
            if only.is_some_and(|only| only != index) {
                continue;
            }
            let tiles = Tiles {
                shown,
                layer,
                index,
                scale: *scale,
                color: &scale.colors(style::palette(ui)),
                maps,
                largest,
            };
            if only.is_some() {
                tiles.alone(ui, actions);
            } else {
                nodes.push(tiles.in_network(ui, actions));
            }
        }
        if only.is_none() {
            rail(ui, shown, &nodes);
        }
    });
}

/// The largest side of a tile with which all layers are in sight in a place of this height, or the
/// usual one.
fn largest(layers: &[InspectedLayer], height: f32) -> f32 {
    let (maps, others): (Vec<_>, Vec<_>) = layers
        .iter()
        .partition(|layer| layer.side > 1 && !layer.values.is_empty());
    let left = height - others.len() as f32 * BESIDE_TILES;
    let of_layer = left / maps.len().max(1) as f32 - BESIDE_TILES;
    (of_layer / ROWS as f32).clamp(*SMALL.end(), *LARGE.end())
}

/// The line from layer to layer, with an arc round each residual block.
fn rail(ui: &Ui, shown: Shown<'_>, nodes: &[Pos2]) {
    let palette = style::palette(ui);
    let stroke = Stroke::new(1.5, palette.edge);
    let painter = ui.painter();
    for (index, (layer, node)) in shown.inspection.layers.iter().zip(nodes).enumerate() {
        for input in layer
            .inputs
            .iter()
            .filter_map(|&input| Some((input, nodes.get(input)?)))
        {
            let (from, start) = input;
            // What only rearranges has a node, but no maps.
            let passed = &shown.inspection.layers[from + 1..index];
            let is_next = passed
                .iter()
                .all(|layer| layer.kind == LayerKind::Rearrangement);
            if is_next {
                painter.line_segment([*start, *node], stroke);
            } else {
                arc(painter, *start, *node, stroke);
            }
        }
    }
    for (layer, node) in shown.inspection.layers.iter().zip(nodes) {
        if layer.kind == LayerKind::Rearrangement {
            painter.circle(*node, 2.5, palette.background, stroke);
        } else {
            painter.circle(
                *node,
                5.0,
                palette.accent,
                Stroke::new(2.0, palette.background),
            );
        }
    }
}

fn arc(painter: &Painter, start: Pos2, end: Pos2, stroke: Stroke) {
    let out = vec2(-RAIL * 0.55, 0.0);
    let bend = vec2(0.0, 26.0_f32.min((end.y - start.y) / 3.0));
    let points = [start, start + out + bend / 2.0, end + out - bend / 2.0, end];
    let shape = CubicBezierShape::from_points_stroke(points, false, Color32::TRANSPARENT, stroke);
    painter.add(Shape::CubicBezier(shape));
}

/// The units of a layer.
struct Tiles<'a> {
    shown: Shown<'a>,
    layer: &'a InspectedLayer,
    index: usize,
    scale: Scale,
    color: &'a dyn Fn(f32) -> Color32,
    maps: &'a LayerMaps,
    /// The largest side of a tile among the other layers, in points.
    largest: f32,
}

impl Tiles<'_> {
    /// Draws the layer among the others; returns the place of its node on the line beside it.
    fn in_network(&self, ui: &mut Ui, actions: &mut Vec<Action>) -> Pos2 {
        let top = ui.cursor().min;
        let line = ui.spacing().interact_size.y;
        let node = top + vec2(RAIL / 2.0, line / 2.0);
        let width = ui.available_width() - RAIL;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            ui.add_space(RAIL);
            ui.vertical(|ui| {
                ui.set_width(width);
                ui.spacing_mut().item_spacing = vec2(style::GAP / 2.0, 3.0);
                if self.layer.values.is_empty() {
                    let line = format!("{}, {}", self.layer.name, words::shape(self.layer));
                    ui.horizontal(|ui| ui.label(style::hint(line)));
                    return;
                }
                self.header(ui, actions);
                let side = self.fitting(ui, *SMALL.start()..=self.largest, ROWS);
                self.units(ui, side, actions);
                ui.add_space(style::GAP / 2.0);
            });
        });
        node
    }

    /// Draws the layer with the whole room for it.
    fn alone(&self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let classes = self.shown.app.ctx.classes();
        style::wrapped(
            ui,
            words::sentence(self.shown.inspection, self.index, &classes),
        );
        style::note(ui, words::figures(self.layer));
        self.scale.legend(ui, 260.0);
        ui.add_space(style::GAP / 2.0);
        let height = (ui.ctx().content_rect().bottom() - ui.cursor().top() - 60.0).max(100.0);
        let sides = self.sides(ui, *LARGE.start()..=LARGE.end().max(height / 2.0));
        let rows = |side: f32| (height / (side + SPACE + 18.0)).max(1.0) as usize;
        let fits = |side: &f32| self.layer.units.div_ceil(self.columns(ui, *side)) <= rows(*side);
        let side = sides.iter().copied().rev().find(fits).unwrap_or(sides[0]);
        self.units(ui, side, actions);
    }

    fn header(&self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let classes = self.shown.app.ctx.classes();
        ui.horizontal(|ui| {
            let kind = words::kind(self.layer.kind);
            let title = RichText::new(kind).semibold();
            if self.layer.units > 1 {
                let name = format!("{kind} {}", self.layer.name);
                let button = ui.add(style::quiet_button(title).small());
                button.widget_info(|| WidgetInfo::labeled(Role::Button, true, name.clone()));
                button
                    .on_hover_text("Show all of this layer large")
                    .pushes(actions, || InsideAction::Open(Level::Layer(self.index)));
            } else {
                ui.add_space(ui.spacing().button_padding.x);
                ui.label(title);
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                self.scale.legend(ui, 150.0);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(Label::new(style::hint(words::figures(self.layer))).truncate());
                });
            });
        });
        let sentence = words::sentence(self.shown.inspection, self.index, &classes);
        Frame::new()
            .inner_margin(INDENT)
            .show(ui, |ui| style::wrapped(ui, sentence));
    }

    /// The sides that tiles may have, ascending: of maps those whose numbers are all as large.
    fn sides(&self, ui: &Ui, range: RangeInclusive<f32>) -> Vec<f32> {
        if self.layer.side == 1 {
            let largest = if words::is_last(self.shown.inspection, self.index) {
                range.end().min(64.0)
            } else {
                *CELL.end()
            };
            return (*CELL.start() as u32..=largest as u32)
                .map(|side| side as f32)
                .collect();
        }
        let pixel = self.layer.side as f32 / ui.pixels_per_point();
        let whole = (1..).map(|times| times as f32 * pixel);
        let mut sides: Vec<f32> = whole
            .skip_while(|side| side < range.start())
            .take_while(|side| side <= range.end())
            .collect();
        if sides.is_empty() {
            sides.push(crisp(ui, self.layer.side, *range.start()).max(pixel));
        }
        sides
    }

    fn columns(&self, ui: &Ui, side: f32) -> usize {
        let space = self.space();
        let width = (ui.available_width() - 4.0).max(side);
        (((width + space) / (side + space)) as usize).clamp(1, self.layer.units.max(1))
    }

    fn space(&self) -> f32 {
        if self.layer.side == 1 && self.layer.units > 32 {
            1.0
        } else {
            SPACE
        }
    }

    /// The largest side with which the units take no more than so many `rows`, or the smallest.
    fn fitting(&self, ui: &Ui, range: RangeInclusive<f32>, rows: usize) -> f32 {
        let sides = self.sides(ui, range);
        let rows = match self.layer.side {
            1 if words::is_last(self.shown.inspection, self.index) => 1,
            1 => rows * 2,
            _ => rows,
        };
        let fits = |side: &&f32| self.layer.units.div_ceil(self.columns(ui, **side)) <= rows;
        sides
            .iter()
            .rev()
            .find(fits)
            .or(sides.first())
            .copied()
            .unwrap_or(20.0)
    }

    fn units(&self, ui: &mut Ui, side: f32, actions: &mut Vec<Action>) {
        let (units, space) = (self.layer.units, self.space());
        let columns = self.columns(ui, side);
        let is_last = words::is_last(self.shown.inspection, self.index);
        let below = if side >= NAMED && !is_last { 17.0 } else { 0.0 };
        let pitch = vec2(side + space, side + space + below);
        let rows = units.div_ceil(columns);
        let size = vec2(columns as f32 * pitch.x, rows as f32 * pitch.y);
        let (area, _) = ui.allocate_exact_size(size + vec2(4.0, 4.0), Sense::hover());
        let classes = self.shown.app.ctx.classes();
        for unit in 0..units {
            let offset = vec2((unit % columns) as f32, (unit / columns) as f32) * pitch;
            let rect = square(ui, area.min + vec2(INDENT.leftf(), 2.0) + offset, side);
            if units > REACHED && !ui.is_rect_visible(rect) {
                continue;
            }
            let name = words::unit(self.shown.inspection, self.index, unit, &classes);
            self.tile(ui, unit, rect, &name, actions);
            if below > 0.0 {
                let at = rect.center_bottom() + vec2(0.0, 2.0);
                let font = TextStyle::Small.resolve(ui.style());
                let color = ui.visuals().weak_text_color();
                ui.painter()
                    .text(at, Align2::CENTER_TOP, &name, font, color);
            }
        }
    }

    fn tile(&self, ui: &mut Ui, unit: usize, rect: Rect, name: &str, actions: &mut Vec<Action>) {
        let palette = style::palette(ui);
        let id = ui.scope_id().with((self.index, unit));
        let response = ui.interact(rect, id, Sense::click());
        let map = self.layer.map(unit);
        let value = range(map);
        let painter = ui.painter();
        if self.layer.side > 1 {
            self.maps.paint(painter, [self.index, unit], rect);
            style::outline_outside(painter, rect, 1.0, palette.line);
        } else {
            let number = map.first().copied().unwrap_or_default();
            let color = (self.color)(number);
            painter.rect_filled(rect, 0.0, color);
            style::outline(painter, rect, 1.0, palette.line);
            if words::is_last(self.shown.inspection, self.index) {
                let classes = self.shown.app.ctx.classes();
                let [body, small] = [TextStyle::Body, TextStyle::Small];
                let [body, small] = [body, small].map(|font| font.resolve(ui.style()));
                let text = style::readable_on(color);
                let (at, class) = (rect.center(), classes.name(unit).to_owned());
                if rect.width() < WITH_SCORE {
                    painter.text(at, Align2::CENTER_CENTER, class, body, text);
                } else {
                    painter.text(at, Align2::CENTER_BOTTOM, class, body, text);
                    painter.text(at, Align2::CENTER_TOP, &value, small, text);
                }
            }
        }
        if response.hovered() || response.has_focus() {
            style::outline_outside(painter, rect, 2.0, palette.accent);
        }
        let layer = &self.layer.name;
        style::describe(&response, Role::Button, &format!("{layer}, {name}"), &value);
        let level = Level::Unit {
            layer: self.index,
            unit,
        };
        response.pushes(actions, || InsideAction::Open(level));
        response.on_hover_ui(|ui| {
            if self.layer.side > 1 {
                let large = crisp(ui, self.layer.side, 170.0);
                let (rect, _) = ui.allocate_exact_size(Vec2::splat(large), Sense::hover());
                let rect = square(ui, rect.min, large);
                self.maps.paint(ui.painter(), [self.index, unit], rect);
            }
            ui.label(format!("{name}: {value}"));
            ui.label(style::hint("Click to look closer"));
        });
    }
}

/// "0.000 to 2.310", or the only number.
pub fn range(map: &[f32]) -> String {
    if let [only] = map {
        return words::number(*only);
    }
    let low = map.iter().copied().fold(f32::INFINITY, f32::min);
    let high = map.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    format!("{} to {}", words::number(low), words::number(high))
}
