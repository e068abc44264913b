//! Maps and filters as pictures: colors with a legend, many pictures in one texture, and the
//! tooltip that shows one large.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{
    Align2, Color32, ColorImage, Mesh, Painter, Pos2, Rect, Role, Sense, Shape, TextStyle,
    TextureHandle, TextureOptions, Ui, pos2, vec2,
};

use crate::records::{InspectedLayer, Inspection, LayerKind};
use crate::window::inside::words::number;
use crate::window::style::{self, Palette};

/// Which colors stand for which numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f32,
    high: f32,
    /// Whether they show ink on paper.
    ink: bool,
}

/// Colors between the ends of a scale.
const SHADES: usize = 256;

impl Scale {
    /// For these numbers: from 0 on, or if some are negative, as far below 0 as above.
    pub fn of<'a>(values: impl IntoIterator<Item = &'a f32>) -> Self {
        let (mut low, mut high) = (0.0_f32, 0.0_f32);
        for value in values {
            (low, high) = (low.min(*value), high.max(*value));
        }
        let bound = high.max(-low).max(1e-6);
        Self {
            low: if low < 0.0 { -bound } else { 0.0 },
            high: bound,
            ink: false,
        }
    }

    /// For numbers of this layer; of the normalized image, whose paper is below 0, from the
    /// lightest pixel to the darkest.
    pub fn of_layer(layer: &InspectedLayer, values: &[f32]) -> Self {
        if layer.kind != LayerKind::Image {
            return Self::of(values);
        }
        let low = values.iter().copied().fold(f32::INFINITY, f32::min);
        let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        Self {
            low,
            high: high.max(low + 1e-6),
            ink: true,
        }
    }

    /// The colors from its low end to its high one. A number above zero is blue, one below orange,
    /// as for the weights of the first layer on Train; zero is paper.
    fn shades(self, palette: Palette) -> [Color32; SHADES] {
        let Palette {
            paper,
            ink,
            train,
            validation,
            ..
        } = palette;
        std::array::from_fn(|index| {
            let share = index as f32 / (SHADES - 1) as f32;
            let x = self.low + share * (self.high - self.low);
            if self.ink {
                return paper.lerp_to_gamma(ink, share);
            }
            // Small numbers are seen as well.
            let strength = (x.abs() / self.high).min(1.0).powf(0.8);
            if self.low < 0.0 {
                let color = if x < 0.0 { validation } else { train };
                paper.lerp_to_gamma(color, strength)
            } else if strength < 0.7 {
                paper.lerp_to_gamma(train, strength / 0.7)
            } else {
                train.lerp_to_gamma(ink, (strength - 0.7) / 0.3)
            }
        })
    }

    fn index(self, value: f32) -> usize {
        let share = (value - self.low) / (self.high - self.low);
        // Not a number is shown as the low end.
        (share.clamp(0.0, 1.0) * (SHADES - 1) as f32).round() as usize
    }

    /// The color of each number.
    pub fn colors(self, palette: Palette) -> impl Fn(f32) -> Color32 {
        let shades = self.shades(palette);
        move |value| shades[self.index(value).min(SHADES - 1)]
    }

    /// Draws the colors from end to end with the numbers that they stand for.
    pub fn legend(self, ui: &mut Ui, width: f32) {
        let palette = style::palette(ui);
        let font = TextStyle::Small.resolve(ui.style());
        let ends = [self.low, self.high].map(number);
        let [left, right] = ends
            .clone()
            .map(|text| style::text_width(ui, text, &font) + 5.0);
        let size = vec2(width.max(left + right + 24.0), font.size * 1.4);
        let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
        let bar = Rect::from_min_max(
            pos2(rect.left() + left, rect.center().y - 4.0),
            pos2(rect.right() - right, rect.center().y + 4.0),
        );
        style::gradient(ui.painter(), bar, &self.shades(palette));
        style::outline(ui.painter(), bar, 1.0, palette.line);
        let color = ui.visuals().weak_text_color();
        let texts = [
            (rect.left_center(), Align2::LEFT_CENTER),
            (rect.right_center(), Align2::RIGHT_CENTER),
        ];
        for ((at, align), text) in texts.into_iter().zip(&ends) {
            ui.painter().text(at, align, text, font.clone(), color);
        }
        let said = format!("{} to {}", ends[0], ends[1]);
        style::describe(&response, Role::Image, "Color scale", &said);
        response.on_hover_text("The color of each number. The scale follows what is shown");
    }
}

/// Numbers in rows, with the colors for them.
#[derive(Clone, Copy, Debug)]
pub struct Picture<'a> {
    pub width: usize,
    pub values: &'a [f32],
    pub scale: Scale,
}

impl Picture<'_> {
    fn height(&self) -> usize {
        self.values.len().div_ceil(self.width.max(1)).max(1)
    }
}

/// Numbers in a row of the texture.
const ROW: usize = 1024;

/// Pictures in one texture, which is uploaded again when they, or the colors, are others.
#[derive(Default)]
pub struct Atlas {
    content: Option<(u64, Palette)>,
    texture: Option<TextureHandle>,
    places: Vec<Rect>,
}

impl std::fmt::Debug for Atlas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Atlas").finish_non_exhaustive()
    }
}

impl Atlas {
    /// Takes in these pictures, unless it has this `version` already.
    pub fn update<'a>(
        &mut self,
        ui: &Ui,
        version: u64,
        pictures: impl FnOnce() -> Vec<Picture<'a>>,
    ) {
        let palette = style::palette(ui);
        let content = Some((version, palette));
        if self.content == content {
            return;
        }
        self.content = content;
        let (mut x, mut y, mut row_height) = (0, 0, 0);
        let placed: Vec<(Picture<'_>, [usize; 2])> = pictures()
            .into_iter()
            .map(|picture| {
                if x + picture.width > ROW {
                    (x, y, row_height) = (0, y + row_height, 0);
                }
                let corner = [x, y];
                x += picture.width;
                row_height = row_height.max(picture.height());
                (picture, corner)
            })
            .collect();
        let size = [ROW, (y + row_height).max(1)];
        let mut image = ColorImage::filled(size, palette.paper);
        for layer in placed.chunk_by(|(one, _), (other, _)| one.scale == other.scale) {
            let color = layer[0].0.scale.colors(palette);
            for (picture, [left, top]) in layer {
                for (row, values) in picture.values.chunks(picture.width.max(1)).enumerate() {
                    let start = (top + row) * ROW + left;
                    let pixels = image.pixels.iter_mut().skip(start);
                    for (pixel, value) in pixels.zip(values) {
                        *pixel = color(*value);
                    }
                }
            }
        }
        let uv = |[x, y]: [usize; 2]| pos2(x as f32 / ROW as f32, y as f32 / size[1] as f32);
        let places = placed.iter().map(|(picture, [left, top])| {
            let end = [left + picture.width, top + picture.height()];
            Rect::from_min_max(uv([*left, *top]), uv(end))
        });
        self.places = places.collect();
        if let Some(texture) = &mut self.texture {
            texture.set(image, TextureOptions::NEAREST);
        } else {
            let texture = ui
                .ctx()
                .load_texture("maps", image, TextureOptions::NEAREST);
            self.texture = Some(texture);
        }
    }

    /// Paints the picture with this index.
    pub fn paint(&self, painter: &Painter, index: usize, rect: Rect) {
        if let (Some(texture), Some(place)) = (&self.texture, self.places.get(index)) {
            painter.image(texture.id(), rect, *place, Color32::WHITE);
        }
    }
}

/// The maps of all layers of a network in one texture, each layer with its own scale.
#[derive(Debug, Default)]
pub struct LayerMaps {
    atlas: Atlas,
    version: Option<u64>,
    pub scales: Vec<Scale>,
    /// The index of each layer's first map in the texture.
    firsts: Vec<usize>,
}

impl LayerMaps {
    /// Takes in what a network computed, unless it is of this `version` already.
    pub fn update(&mut self, ui: &Ui, inspection: &Inspection, version: u64) {
        let layers = &inspection.layers;
        if self.version.replace(version) != Some(version) {
            let scales = layers.iter();
            self.scales = scales
                .map(|layer| Scale::of_layer(layer, &layer.values))
                .collect();
            let mut first = 0;
            let firsts = layers.iter().map(|layer| {
                let maps = if layer.side > 1 && !layer.values.is_empty() {
                    layer.units
                } else {
                    0
                };
                first += maps;
                first - maps
            });
            self.firsts = firsts.collect();
        }
        let maps = layers.iter().zip(&self.scales);
        self.atlas.update(ui, version, || {
            maps.filter(|(layer, _)| layer.side > 1)
                .flat_map(|(layer, &scale)| {
                    let size = layer.side * layer.side;
                    layer.values.chunks_exact(size).map(move |values| Picture {
                        width: layer.side,
                        values,
                        scale,
                    })
                })
                .collect()
        });
    }

    /// Paints the map of a unit of a layer.
    pub fn paint(&self, painter: &Painter, [layer, unit]: [usize; 2], rect: Rect) {
        if let Some(first) = self.firsts.get(layer) {
            self.atlas.paint(painter, first + unit, rect);
        }
    }
}

/// The side of a picture of `numbers` in a row that is at most `side` points: each number as many
/// screen pixels as every other, if there are enough for that.
pub fn crisp(ui: &Ui, numbers: usize, side: f32) -> f32 {
    let scale = ui.pixels_per_point();
    let pixels = (side * scale / numbers.max(1) as f32).floor();
    if pixels < 1.0 {
        return side;
    }
    pixels * numbers as f32 / scale
}

/// A square of this `side` at whole screen pixels.
pub fn square(ui: &Ui, at: Pos2, side: f32) -> Rect {
    let corner = at.round_to_pixels(ui.pixels_per_point());
    Rect::from_min_size(corner, vec2(side, side))
}

/// The place in a picture with `columns` numbers in a row and so many `rows` that a point lies on.
pub fn place_at(rect: Rect, [columns, rows]: [usize; 2], at: Pos2) -> Option<usize> {
    let offset = at - rect.min;
    let [column, row] = [
        (offset.x / rect.width(), columns),
        (offset.y / rect.height(), rows),
    ]
    .map(|(share, count)| {
        (0.0..1.0)
            .contains(&share)
            .then_some((share * count as f32) as usize)
    });
    Some(row? * columns + column?)
}

/// The cell of a place in a picture with `columns` numbers in a row and so many `rows`.
pub fn cell(rect: Rect, [columns, rows]: [usize; 2], place: usize) -> Rect {
    let size = vec2(rect.width() / columns as f32, rect.height() / rows as f32);
    let (row, column) = (place / columns.max(1), place % columns.max(1));
    let corner = rect.min + vec2(column as f32 * size.x, row as f32 * size.y);
    Rect::from_min_size(corner, size)
}

/// Paints the drawing, as the network sees it, over a picture of its patches.
pub fn ink_over(ui: &Ui, rect: Rect, image: Option<&InspectedLayer>) {
    let Some(image) = image else { return };
    let scale = Scale::of_layer(image, &image.values);
    let ink = style::palette(ui).ink;
    let mut mesh = Mesh::default();
    for (place, value) in image.values.iter().enumerate() {
        let share = scale.index(*value) as f32 / (SHADES - 1) as f32;
        let pixel = cell(rect, [image.side; 2], place);
        mesh.add_colored_rect(pixel, ink.gamma_multiply(0.4 * share));
    }
    ui.painter().add(Shape::mesh(mesh));
}
