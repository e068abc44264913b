//! Shows 28x28 images: several in one texture, sampled without smoothing unless they are shown smaller than they are.

use eframe::egui::{Color32, ColorImage, Context, CornerRadius, Painter, Rect, TextureHandle, TextureOptions, pos2};

use super::style;
use crate::ink::{Image, SIDE};

/// Images in a row of the texture.
const COLUMNS: usize = 10;

/// A texture that holds several images.
#[derive(Clone)]
pub struct ImageSheet {
    texture: TextureHandle,
    rows: usize,
}

impl std::fmt::Debug for ImageSheet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageSheet").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl ImageSheet {
    /// The same for images that are shown smaller than they are: smoothed.
    pub fn thumbnails<'a>(ctx: &Context, name: &str, images: impl ExactSizeIterator<Item = &'a Image>) -> Self {
        Self::upload(ctx, name, images, TextureOptions::LINEAR)
    }

    /// Uploads the images; ink is white with the pixel's value as alpha, so that any theme can tint it.
    pub fn new<'a>(ctx: &Context, name: &str, images: impl ExactSizeIterator<Item = &'a Image>) -> Self {
        Self::upload(ctx, name, images, TextureOptions::NEAREST)
    }

    fn upload<'a>(ctx: &Context, name: &str, images: impl ExactSizeIterator<Item = &'a Image>, options: TextureOptions) -> Self {
        let rows = images.len().div_ceil(COLUMNS).max(1);
        let mut sheet = ColorImage::filled([COLUMNS * SIDE, rows * SIDE], Color32::TRANSPARENT);
        for (index, image) in images.enumerate() {
            let (left, top) = (index % COLUMNS * SIDE, index / COLUMNS * SIDE);
            for (y, row) in image.pixels().chunks_exact(SIDE).enumerate() {
                let start = (top + y) * COLUMNS * SIDE + left;
                for (pixel, &ink) in sheet.pixels.iter_mut().skip(start).zip(row) {
                    *pixel = Color32::from_white_alpha(ink);
                }
            }
        }
        Self { texture: ctx.load_texture(name, sheet, options), rows }
    }

    /// Paints image `index` as ink on paper.
    pub fn paint(&self, painter: &Painter, index: usize, rect: Rect, palette: style::Palette) {
        painter.rect_filled(rect, CornerRadius::ZERO, palette.paper);
        let (columns, rows) = (COLUMNS as f32, self.rows as f32);
        let (column, row) = ((index % COLUMNS) as f32, (index / COLUMNS) as f32);
        let uv = Rect::from_min_max(pos2(column / columns, row / rows), pos2((column + 1.0) / columns, (row + 1.0) / rows));
        painter.image(self.texture.id(), rect, uv, palette.ink);
    }
}
