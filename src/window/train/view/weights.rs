//! The first layer's weights as images: blue where a weight is positive, orange where it is
//! negative, paper where it is zero. And what the statistics of the training images gave the
//! network to start from: principal components, their fractions of the variance, and the variance
//! after every layer.

use eframe::egui::{
    Align, Color32, ColorImage, Context, Grid, Label, Layout, Rect, RichText, Role, ScrollArea,
    Sense, TextureHandle, TextureOptions, Ui, Vec2, pos2, vec2,
};

use crate::records::{FilterImages, InitializationReport, JobId, PatchComponents};
use crate::window::HeldOutView;
use crate::window::style::SemiBold as _;
use crate::window::style::{self, Palette};

/// The widgets' name in the accessibility tree.
const NAME: &str = "First layer";
/// Space between two images, in points.
const SPACE: f32 = 3.0;

/// The images in a texture, side by side.
pub struct LayerSheet {
    /// Its content: the run, the steps behind it, and the colors.
    content: (JobId, u64, Palette),
    texture: TextureHandle,
    images: usize,
}

impl std::fmt::Debug for LayerSheet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LayerSheet")
            .field("images", &self.images)
            .finish_non_exhaustive()
    }
}

/// Draws the images in a square of this `side`.
pub fn filters(ui: &mut Ui, learning: &HeldOutView, sheet: &mut Option<LayerSheet>, side: f32) {
    let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), side), Sense::hover());
    let sentence = learning.layer_sentence();
    let sentence = sentence.as_deref().unwrap_or("not shown yet");
    style::describe(&response, Role::Image, NAME, sentence);
    if let Some((step, layer)) = &learning.first_layer {
        let place = Rect::from_min_size(area.min, Vec2::splat(side));
        paint(ui, place, layer, (learning.run, *step), sheet);
    }
}

/// Paints images of weights into this area, as large as fit there; the run and its steps
/// identify them.
pub fn paint(
    ui: &Ui,
    area: Rect,
    layer: &FilterImages,
    (run, step): (JobId, u64),
    sheet: &mut Option<LayerSheet>,
) {
    let palette = style::palette(ui);
    let content = (run, step, palette);
    if sheet.as_ref().is_none_or(|sheet| sheet.content != content) {
        *sheet = texture(ui.ctx(), layer, palette).map(|texture| LayerSheet {
            content,
            texture,
            images: layer.images.len(),
        });
    }
    let Some(LayerSheet {
        texture, images, ..
    }) = sheet
    else {
        return;
    };
    let size_of = |columns: usize| {
        ((area.width() + SPACE) / columns as f32 - SPACE)
            .min(64.0)
            .floor()
    };
    let fits = |&columns: &usize| {
        images.div_ceil(columns) as f32 * (size_of(columns) + SPACE) - SPACE <= area.height()
    };
    let columns = (1..=*images).find(fits).unwrap_or(*images);
    let size = size_of(columns);
    for index in 0..*images {
        let place = vec2((index % columns) as f32, (index / columns) as f32) * (size + SPACE);
        let rect = Rect::from_min_size(area.min + place, Vec2::splat(size));
        let [left, right] = [index, index + 1].map(|edge| edge as f32 / *images as f32);
        ui.painter().image(
            texture.id(),
            rect,
            Rect::from_min_max(pos2(left, 0.0), pos2(right, 1.0)),
            Color32::WHITE,
        );
        style::outline(ui.painter(), rect, 1.0, palette.line);
    }
}

/// The texture; `None` if the images are not as large as said.
fn texture(ctx: &Context, layer: &FilterImages, palette: Palette) -> Option<TextureHandle> {
    let (width, height, count) = (
        usize::from(layer.width),
        usize::from(layer.height),
        layer.images.len(),
    );
    if width == 0
        || height == 0
        || count == 0
        || layer
            .images
            .iter()
            .any(|image| image.len() != width * height)
    {
        return None;
    }
    let mut pixels = ColorImage::filled([width * count, height], palette.paper);
    for (index, image) in layer.images.iter().enumerate() {
        for (y, row) in image.chunks_exact(width).enumerate() {
            let start = y * width * count + index * width;
            for (pixel, &weight) in pixels.pixels.iter_mut().skip(start).zip(row) {
                let strength = (f32::from(weight) - 128.0) / 127.0;
                let color = if strength < 0.0 {
                    palette.validation
                } else {
                    palette.train
                };
                *pixel = palette.paper.lerp_to_gamma(color, strength.abs().min(1.0));
            }
        }
    }
    Some(ctx.load_texture("first layer", pixels, TextureOptions::NEAREST))
}

/// The height of the components' images, and of the bars below them, in points.
const IMAGES: f32 = 110.0;
const BARS: f32 = 44.0;
const MAX_BARS: usize = 32;

/// Draws it, no higher than `height`.
pub fn start(
    ui: &mut Ui,
    report: &InitializationReport,
    run: JobId,
    sheet: &mut Option<LayerSheet>,
    height: f32,
) {
    style::room(ui, height, |ui| {
        let area = ScrollArea::vertical().id_salt("initialization");
        let area = area.auto_shrink(false).max_height(height);
        area.show(ui, |ui| {
            if let Some(components) = &report.components {
                title(ui, "Principal components");
                let size = vec2(ui.available_width(), IMAGES);
                let (area, response) = ui.allocate_exact_size(size, Sense::hover());
                style::name(&response, Role::Image, "Principal components");
                paint(ui, area, &components.images, (run, 0), sheet);
                title(ui, "Variance explained by each");
                bars(ui, components);
            }
            layers(ui, report);
        });
    });
}

fn title(ui: &mut Ui, title: &str) {
    ui.add(Label::new(RichText::new(title).small().semibold()).truncate());
}

/// A bar for the fraction of each component.
fn bars(ui: &mut Ui, components: &PatchComponents) {
    let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), BARS), Sense::hover());
    let (name, sentence) = (
        "Variance explained by each component",
        components.sentence(),
    );
    style::describe(&response, Role::Image, name, &sentence);
    response.on_hover_text(sentence);
    let shown = components.explained.iter().copied().take(MAX_BARS);
    let greatest = shown.clone().fold(f32::MIN_POSITIVE, f32::max);
    let width = area.width() / shown.len().max(1) as f32;
    let color = style::palette(ui).train;
    for (index, share) in shown.enumerate() {
        let height = (share / greatest * area.height()).max(1.0);
        let corner = area.left_bottom() + vec2(index as f32 * width, -height);
        let bar = Rect::from_min_size(corner, vec2((width - 1.0).max(1.0), height));
        ui.painter().rect_filled(bar, 0.0, color);
    }
}

fn layers(ui: &mut Ui, report: &InitializationReport) {
    let small = |text: &str| Label::new(RichText::new(text).small()).truncate();
    title(ui, "Variance of each layer's output");
    let grid = Grid::new("variances").num_columns(3);
    grid.spacing(vec2(style::GAP, 2.0)).show(ui, |ui| {
        let row = |ui: &mut Ui, name: &str, figures: [&str; 2]| {
            ui.add(small(name));
            for text in figures {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.add(small(text))
                });
            }
            ui.end_row();
        };
        let method = report.method.label().split(' ').next();
        row(ui, "Layer", ["random weights", method.unwrap_or_default()]);
        for layer in &report.layers {
            let [before, after] = [layer.before, layer.after].map(|it| format!("{it:.3}"));
            row(ui, &layer.layer, [&before, &after]);
        }
    });
}
