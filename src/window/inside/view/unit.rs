//! One unit: its map large, the steps to it, and the filter that it looks at each map before it
//! with; or one number of the map.

use eframe::egui::{Align2, Rect, RichText, Role, Sense, TextStyle, Ui, Vec2, pos2, vec2};

use super::maps::{Atlas, Picture, Scale, cell, crisp, ink_over, square};
use super::network::range;
use super::{Shown, heads, number, single_step, words};
use crate::records::{InspectedLayer, InspectedUnit, LayerKind};
use crate::window::{Action, InsideAction, Level, Pushes as _, style};

/// The width of the column with the map, of the room's, and its limits in points.
const MAP: f32 = 0.4;
const MAP_WIDTH: std::ops::RangeInclusive<f32> = 190.0..=460.0;
/// The same if the numbers themselves need more of it.
const MAP_BESIDE_NUMBERS: f32 = 0.29;
/// The greatest side of a step's map, and of the pictures of inputs and filters, in points.
const STEP: f32 = 150.0;
const PAIR: f32 = 200.0;
/// The side of those pictures if there are many, in points.
const SMALL_PAIR: f32 = 62.0;

/// What is open, with its pictures: the maps of the steps, then each term's input and weights, then
/// what each head of an attention layer attends to.
pub struct Open<'a> {
    pub shown: Shown<'a>,
    pub unit: &'a InspectedUnit,
    pub layer: &'a InspectedLayer,
    /// The layers that it takes as input.
    pub inputs: Vec<&'a InspectedLayer>,
    /// The colors of all weights, and of numbers that are not a map.
    pub weights: Scale,
    numbers: Scale,
}

pub fn show(
    ui: &mut Ui,
    shown: Shown<'_>,
    level: Level,
    (atlas, wheel): (&mut Atlas, &mut f32),
    actions: &mut Vec<Action>,
) {
    let layers = &shown.inspection.layers;
    let Some(unit) = &shown.inspection.unit else {
        return;
    };
    let Some(layer) = layers.get(unit.look.layer) else {
        return;
    };
    let inputs = layer.inputs.iter().filter_map(|&input| layers.get(input));
    let inputs: Vec<_> = inputs.collect();
    let numbers = unit
        .terms
        .iter()
        .flat_map(|term| term.inputs.iter().copied());
    let numbers: Vec<f32> = numbers.collect();
    let numbers = Scale::of_layer(inputs.first().unwrap_or(&layer), &numbers);
    let open = Open {
        shown,
        unit,
        layer,
        inputs,
        weights: Scale::of(all_weights(unit)),
        numbers,
    };
    atlas.update(ui, shown.version, || open.pictures());
    let atlas = &*atlas;
    let share = match level {
        Level::Number { .. } => MAP_BESIDE_NUMBERS,
        _ => MAP,
    };
    let height = ui.available_height();
    let widest = MAP_WIDTH.end().max(height * 0.6);
    let width = (ui.available_width() * share).clamp(*MAP_WIDTH.start(), widest);
    ui.horizontal_top(|ui| {
        style::wide_column(ui, vec2(width.floor(), height), |ui| {
            open.map(ui, atlas, level, wheel, actions);
        });
        ui.add_space(style::GAP);
        style::wide_column(ui, vec2(ui.available_width(), height), |ui| {
            style::scroll(ui, ("unit", matches!(level, Level::Unit { .. })), |ui| {
                // The scroll bar covers nothing.
                ui.set_max_width(ui.available_width() - style::GAP);
                if let Level::Number { .. } = level {
                    number::show(ui, &open);
                    heads::show(ui, &open, atlas, actions);
                } else {
                    open.about(ui, atlas, actions);
                }
            });
        });
    });
}

/// All weights that are shown of a unit.
fn all_weights(unit: &InspectedUnit) -> impl Iterator<Item = &f32> {
    let of_terms = unit.terms.iter().map(|term| &term.weights);
    of_terms.chain(&unit.attention).flatten()
}

impl<'a> Open<'a> {
    /// The steps' maps, then of each term what it is about and its weights.
    fn pictures(&self) -> Vec<Picture<'a>> {
        let unit = self.unit;
        let steps = unit.steps.iter().map(|step| Picture {
            width: step.side,
            values: &step.values,
            scale: Scale::of_layer(self.layer, &step.values),
        });
        let terms = unit.terms.iter().enumerate().flat_map(|(index, term)| {
            let weights = Picture {
                width: term.width,
                values: &term.weights,
                scale: self.weights,
            };
            [self.input(index), weights]
        });
        let heads = unit.attention.iter().map(|weights| Picture {
            width: self.layer.side,
            values: weights,
            scale: self.weights,
        });
        steps.chain(terms).chain(heads).collect()
    }

    /// The map that a term takes its numbers from, or the numbers if they come from several.
    pub fn input(&self, term: usize) -> Picture<'a> {
        let first = self.inputs.first();
        let source = match self.layer.kind {
            LayerKind::Convolution { .. } => first.map(|layer| (layer, layer.map(term))),
            LayerKind::Residual => {
                let layer = self.inputs.get(term);
                layer.map(|layer| (layer, layer.map(self.unit.look.unit)))
            }
            _ => None,
        };
        if let Some((layer, values)) = source {
            return Picture {
                width: layer.side,
                values,
                scale: Scale::of_layer(layer, &layer.values),
            };
        }
        let (width, values) = self
            .unit
            .terms
            .get(term)
            .map_or((1, &[][..]), |term| (term.width, &term.inputs));
        Picture {
            width,
            values,
            scale: self.numbers,
        }
    }

    /// The unit of the layer before that a term is about.
    fn unit_before(&self, term: usize) -> Option<(usize, usize)> {
        let index = *self.layer.inputs.get(match self.layer.kind {
            LayerKind::Residual => term,
            _ => 0,
        })?;
        let before = self.shown.inspection.layers.get(index)?;
        let unit = match self.layer.kind {
            LayerKind::Residual | LayerKind::GlobalAveragePooling => self.unit.look.unit,
            _ if self.unit.terms.len() == before.units => term,
            _ => return None,
        };
        Some((index, unit))
    }

    /// The source of a term's numbers.
    pub fn term_name(&self, term: usize) -> String {
        let classes = self.shown.app.ctx.classes();
        let inspection = self.shown.inspection;
        // A convolution's map is an input channel here, not a filter.
        let name = |(layer, unit): (usize, usize)| match inspection.layers.get(layer) {
            Some(before) if matches!(before.kind, LayerKind::Convolution { .. }) => {
                format!("{}, map {}", before.name, unit + 1)
            }
            _ => words::unit(inspection, layer, unit, &classes),
        };
        let of_layer = || {
            self.inputs
                .first()
                .map_or_else(String::new, |it| it.name.clone())
        };
        self.unit_before(term).map_or_else(of_layer, name)
    }

    /// The picture of a term's input, and of its weights, in the atlas.
    pub const fn pictures_of(&self, term: usize) -> [usize; 2] {
        let first = self.unit.steps.len() + 2 * term;
        [first, first + 1]
    }

    /// The picture of what a head attends to, in the atlas.
    pub const fn picture_of_head(&self, head: usize) -> usize {
        self.unit.steps.len() + 2 * self.unit.terms.len() + head
    }

    /// The part of a term's map that is multiplied for the number, if that is not all of it.
    pub fn window(&self, rect: Rect) -> Option<Rect> {
        let LayerKind::Convolution {
            size,
            stride,
            padding,
            ..
        } = self.layer.kind
        else {
            return None;
        };
        let (first, before) = (self.unit.steps.first()?, self.inputs.first()?);
        let pixel = rect.width() / before.side as f32;
        let [column, row] = [
            first.place % first.side.max(1),
            first.place / first.side.max(1),
        ]
        .map(|at| (at * stride) as f32 - padding as f32);
        let corner = rect.min + vec2(column, row) * pixel;
        Some(Rect::from_min_size(
            corner,
            Vec2::splat(size as f32 * pixel),
        ))
    }

    /// The steps to the map, and what the unit looks at.
    fn about(&self, ui: &mut Ui, atlas: &Atlas, actions: &mut Vec<Action>) {
        let classes = self.shown.app.ctx.classes();
        let layer = self.unit.look.layer;
        style::wrapped(ui, words::sentence(self.shown.inspection, layer, &classes));
        style::note(ui, words::figures(self.layer));
        single_step::show(ui, self, actions);
        if self.unit.steps.len() > 1 {
            style::section(ui, "Step by step");
            ui.horizontal_wrapped(|ui| self.steps(ui, atlas));
        }
        heads::show(ui, self, atlas, actions);
        let title = match self.layer.kind {
            LayerKind::Convolution { .. } => "Its filter, for each map that it looks at",
            LayerKind::Dense { .. } if self.unit.terms.len() > 1 => {
                "Its weights, for each map that it looks at"
            }
            LayerKind::Dense { .. } => "What it looks at, and its weights",
            LayerKind::Attention { .. } => "What this head gathers, and from which patches",
            LayerKind::Residual => "What is added",
            LayerKind::GlobalAveragePooling => "What it is the mean of",
            _ => return,
        };
        style::section(ui, title);
        if !matches!(
            self.layer.kind,
            LayerKind::Residual | LayerKind::GlobalAveragePooling | LayerKind::Attention { .. }
        ) {
            self.weights.legend(ui, 220.0);
        }
        let largest = self.largest_pair(ui);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(style::GAP, style::GAP / 2.0);
            for term in 0..self.unit.terms.len() {
                self.pair(ui, atlas, (term, largest), actions);
            }
        });
    }

    fn steps(&self, ui: &mut Ui, atlas: &Atlas) {
        ui.spacing_mut().item_spacing.x = 6.0;
        let count = self.unit.steps.len() as f32;
        let room = ((ui.available_width() + 26.0) / count - 32.0).clamp(56.0, STEP);
        for (index, step) in self.unit.steps.iter().enumerate() {
            if index > 0 {
                ui.label(RichText::new("→").weak());
            }
            let side = crisp(ui, step.side, room);
            let name = words::step(step.kind);
            let width = style::text_size(ui, style::hint(name)).x.max(side);
            let size = vec2(
                width,
                side + 2.0 * ui.text_style_height(&TextStyle::Small) + 6.0,
            );
            let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
            let picture = square(ui, rect.min, side);
            let palette = style::palette(ui);
            atlas.paint(ui.painter(), index, picture);
            style::outline_outside(ui.painter(), picture, 1.0, palette.line);
            if step.side > 1 {
                let place = cell(picture, [step.side; 2], step.place);
                style::outline_outside(ui.painter(), place, 1.5, palette.ink);
            }
            let font = TextStyle::Small.resolve(ui.style());
            let color = ui.visuals().weak_text_color();
            let values = range(&step.values);
            let lines = [name, if step.side > 1 { "" } else { values.as_str() }];
            for (line, text) in lines.into_iter().enumerate() {
                let at = picture.left_bottom() + vec2(0.0, 4.0 + line as f32 * font.size * 1.2);
                ui.painter()
                    .text(at, Align2::LEFT_TOP, text, font.clone(), color);
            }
            style::describe(&response, Role::Image, name, &values);
            response.on_hover_text(format!("{name}: {values}"));
        }
    }

    /// The greatest side of the pictures of inputs and weights: the largest with which all are in
    /// sight, or the usual one.
    fn largest_pair(&self, ui: &Ui) -> f32 {
        let count = self.unit.terms.len();
        let width = ui.available_width();
        let usual = if count > 6 {
            SMALL_PAIR
        } else {
            ((width - 24.0) / 2.0).clamp(SMALL_PAIR, PAIR)
        };
        let height = ui.ctx().content_rect().bottom() - ui.cursor().top() - 60.0;
        let fits = |side: &f32| {
            let [across, down] = [
                2.0 * side + 14.0 + style::GAP,
                side + 20.0 + style::GAP / 2.0,
            ];
            let columns = ((width + style::GAP) / across) as usize;
            columns > 0 && count.div_ceil(columns) as f32 * down <= height
        };
        let sides = (SMALL_PAIR as u32..=(height / 2.0).max(SMALL_PAIR) as u32).rev();
        let fitting = sides.map(|side| side as f32).find(fits);
        fitting.unwrap_or(usual).max(usual)
    }

    /// The source of a term's numbers, and their weights; a click opens the former.
    fn pair(
        &self,
        ui: &mut Ui,
        atlas: &Atlas,
        (term, largest): (usize, f32),
        actions: &mut Vec<Action>,
    ) {
        let Some(weights) = self.unit.terms.get(term) else {
            return;
        };
        let palette = style::palette(ui);
        let input = self.input(term);
        let columns = [input.width, weights.width];
        let sides = columns.map(|columns| crisp(ui, columns, largest));
        let has_weights =
            weights.weights.len() > 1 && self.layer.kind != LayerKind::GlobalAveragePooling;
        let shown = if has_weights { 2 } else { 1 };
        let small = TextStyle::Small.resolve(ui.style());
        let width = sides[0] + if has_weights { 14.0 + sides[1] } else { 0.0 };
        let size = vec2(
            width.max(SMALL_PAIR),
            sides[0].max(sides[1]) + small.size * 1.4,
        );
        let (rect, response) = ui.allocate_exact_size(size, Sense::click());
        let lefts = [rect.left(), rect.left() + sides[0] + 14.0];
        let lengths = [input.values.len(), weights.weights.len()];
        for (index, picture) in self.pictures_of(term).into_iter().enumerate().take(shown) {
            let corner = square(ui, pos2(lefts[index], rect.top()), sides[index]).min;
            let rows = lengths[index].div_ceil(columns[index].max(1)) as f32;
            let size = vec2(
                sides[index],
                sides[index] * rows / columns[index].max(1) as f32,
            );
            let place = Rect::from_min_size(corner, size);
            atlas.paint(ui.painter(), picture, place);
            style::outline_outside(ui.painter(), place, 1.0, palette.line);
            if index == 0
                && let Some(window) = self.window(place)
            {
                style::outline_outside(ui.painter(), window, 1.0, palette.accent);
            }
            if index == 1 && matches!(self.layer.kind, LayerKind::Attention { .. }) {
                ink_over(ui, place, self.shown.inspection.layers.first());
            }
        }
        if has_weights {
            let sign = TextStyle::Body.resolve(ui.style());
            let at = pos2(lefts[1] - 7.0, rect.top() + sides[1] / 2.0);
            let color = ui.visuals().weak_text_color();
            ui.painter()
                .text(at, Align2::CENTER_CENTER, "×", sign, color);
        }
        let (before, name) = (self.unit_before(term), self.term_name(term));
        let at = rect.left_bottom();
        let color = ui.visuals().weak_text_color();
        ui.painter()
            .text(at, Align2::LEFT_BOTTOM, &name, small, color);
        let about = format!("weights {}", range(&weights.weights));
        style::describe(
            &response,
            Role::Button,
            &format!("{name} and its weights"),
            &about,
        );
        if response.hovered() && before.is_some() {
            style::outline_outside(ui.painter(), rect.expand(4.0), 1.0, palette.accent);
        }
        if let Some((layer, unit)) = before {
            response.pushes(actions, || InsideAction::Open(Level::Unit { layer, unit }));
        }
        let open = if before.is_some() {
            ". Click to look at that map"
        } else {
            ""
        };
        response.on_hover_text(format!("{name}: {about}{open}"));
    }
}
