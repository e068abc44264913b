//! Shows 28x28 images: several in one texture, sampled without smoothing unless they are shown
//! smaller than they are. And the arrow keys in a grid of them.

use eframe::egui::emath::GuiRounding as _;
use eframe::egui::{
    Align2, Color32, ColorImage, Context, CornerRadius, EventFilter, Key, Painter, Rect, Response,
    Role, Sense, TextStyle, TextureHandle, TextureOptions, Ui, Vec2, pos2, vec2,
};

use crate::ink::{Image, SIDE};
use crate::window::style;

/// Images in a row of the texture.
const COLUMNS: usize = 10;

#[derive(Clone)]
pub struct ImageSheet {
    texture: TextureHandle,
    rows: usize,
}

impl std::fmt::Debug for ImageSheet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageSheet")
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl ImageSheet {
    /// The same for images that are shown smaller than they are: smoothed.
    pub fn thumbnails<'a>(
        ctx: &Context,
        name: &str,
        images: impl ExactSizeIterator<Item = &'a Image>,
    ) -> Self {
        Self::upload(ctx, name, images, TextureOptions::LINEAR)
    }

    /// Uploads the images; ink is white with the pixel's value as alpha, so that any theme can tint
    /// it.
    pub fn new<'a>(
        ctx: &Context,
        name: &str,
        images: impl ExactSizeIterator<Item = &'a Image>,
    ) -> Self {
        Self::upload(ctx, name, images, TextureOptions::NEAREST)
    }

    fn upload<'a>(
        ctx: &Context,
        name: &str,
        images: impl ExactSizeIterator<Item = &'a Image>,
        options: TextureOptions,
    ) -> Self {
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
        Self {
            texture: ctx.load_texture(name, sheet, options),
            rows,
        }
    }

    /// Paints image `index` as ink on paper.
    pub fn paint(&self, painter: &Painter, index: usize, rect: Rect, palette: style::Palette) {
        painter.rect_filled(rect, CornerRadius::ZERO, palette.paper);
        let (columns, rows) = (COLUMNS as f32, self.rows as f32);
        let (column, row) = ((index % COLUMNS) as f32, (index / COLUMNS) as f32);
        let uv = Rect::from_min_max(
            pos2(column / columns, row / rows),
            pos2((column + 1.0) / columns, (row + 1.0) / rows),
        );
        painter.image(self.texture.id(), rect, uv, palette.ink);
    }
}

/// A sheet that is uploaded again only when what it shows has changed.
#[derive(Debug)]
pub struct Cached<K>(Option<(K, ImageSheet)>);

impl<K> Default for Cached<K> {
    fn default() -> Self {
        Self(None)
    }
}

impl<K: PartialEq> Cached<K> {
    pub fn of(&mut self, key: K, upload: impl FnOnce(&K) -> ImageSheet) -> &ImageSheet {
        self.0.take_if(|(shown, _)| *shown != key);
        let (_, sheet) = self.0.get_or_insert_with(|| {
            let sheet = upload(&key);
            (key, sheet)
        });
        sheet
    }
}

impl Cached<Vec<Image>> {
    pub fn of_images<'a>(
        &mut self,
        ui: &Ui,
        name: &str,
        images: impl Iterator<Item = &'a Image>,
    ) -> &ImageSheet {
        self.of(images.cloned().collect(), |images| {
            ImageSheet::new(ui.ctx(), name, images.iter())
        })
    }
}

/// Paints an image with a frame; sides of a whole number of screen pixels per pixel are crisp.
pub fn framed(ui: &Ui, sheet: &ImageSheet, index: usize, rect: Rect) {
    let palette = style::palette(ui);
    sheet.paint(ui.painter(), index, rect, palette);
    style::outline(ui.painter(), rect, 1.0, palette.line);
}

/// The size of a tile whose image has this side, with as many lines of text.
pub fn tile_size(ui: &Ui, side: f32, lines: usize) -> Vec2 {
    let small = TextStyle::Small.resolve(ui.style());
    vec2(side, side + small.size * 1.3 * lines as f32 + 6.0)
}

/// An image that can be clicked, with `N` lines of text below it. `spoken` is for screen readers.
pub fn tile<const N: usize>(
    ui: &mut Ui,
    sheet: &ImageSheet,
    index: usize,
    side: f32,
    lines: [&str; N],
    spoken: &str,
) -> Response {
    let small = TextStyle::Small.resolve(ui.style());
    let (rect, response) = ui.allocate_exact_size(tile_size(ui, side, N), Sense::click());
    let image = Rect::from_min_size(
        rect.min.round_to_pixels(ui.pixels_per_point()),
        Vec2::splat(side),
    );
    framed(ui, sheet, index, image);
    if response.hovered() {
        style::outline(ui.painter(), image, 2.0, style::palette(ui).accent);
    }
    let painter = ui
        .painter()
        .with_clip_rect(rect.expand2(vec2(4.0, 0.0)).intersect(ui.clip_rect()));
    let mut top = image.bottom() + 4.0;
    for (line, color) in lines.into_iter().zip([
        ui.visuals().strong_text_color(),
        ui.visuals().weak_text_color(),
    ]) {
        top = painter
            .text(
                pos2(rect.left(), top),
                Align2::LEFT_TOP,
                line,
                small.clone(),
                color,
            )
            .bottom();
    }
    style::name(&response, Role::Button, spoken);
    response
}

/// While the grid has the keyboard's focus, arrow keys choose another cell: the one that `moved`
/// returns for this many rows down and columns to the right of the chosen one. Escape gives up the
/// choice, and then the focus.
pub fn choose_by_keys<C: Copy>(
    ui: &Ui,
    grid: &Response,
    chosen: &mut Option<C>,
    moved: impl Fn(Option<C>, isize, isize) -> C,
) {
    if !grid.has_focus() {
        return;
    }
    style::focus_ring(ui, grid.rect);
    let keys = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        escape: chosen.is_some(),
        ..EventFilter::default()
    };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(grid.id, keys));
    ui.input(|input| {
        let steps =
            |forward, back| input.num_presses(forward) as isize - input.num_presses(back) as isize;
        let (down, right) = (
            steps(Key::ArrowDown, Key::ArrowUp),
            steps(Key::ArrowRight, Key::ArrowLeft),
        );
        if (down, right) != (0, 0) {
            *chosen = Some(moved(*chosen, down, right));
        }
        if input.key_pressed(Key::Escape) {
            *chosen = None;
        }
    });
}
