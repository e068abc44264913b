//! The first layer's weights as images: blue where a weight is positive, orange where it is
//! negative, paper where it is zero.

use eframe::egui::{
    Color32, ColorImage, Context, Rect, Role, Sense, Stroke, StrokeKind, TextureHandle,
    TextureOptions, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use crate::records::{JobId, WeightImages};
use crate::window::Learning;
use crate::window::style;
use crate::window::style::Palette;

/// The widgets' name in the accessibility tree.
const NAME: &str = "First layer";
/// Space between two images, in points.
const SPACE: f32 = 3.0;

/// The images in a texture, side by side.
pub struct LayerSheet {
    /// What is in it: the run, the steps behind it, and the colours.
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
pub fn show(ui: &mut Ui, learning: &Learning, sheet: &mut Option<LayerSheet>, side: f32) {
    let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), side), Sense::hover());
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(
            learning
                .layer_sentence()
                .unwrap_or_else(|| "not shown yet".to_owned()),
        ),
        ..WidgetInfo::labeled(Role::Image, true, NAME)
    });
    let Some((step, layer)) = &learning.first_layer else {
        return;
    };
    paint(
        ui,
        Rect::from_min_size(area.min, Vec2::splat(side)),
        layer,
        (learning.run, *step),
        sheet,
    );
}

/// Paints images of weights into this area, as large as fit there; the run and the steps behind
/// them tell them from others.
pub fn paint(
    ui: &Ui,
    area: Rect,
    layer: &WeightImages,
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
        ui.painter().rect_stroke(
            rect,
            0.0,
            Stroke::new(1.0, palette.line),
            StrokeKind::Inside,
        );
    }
}

/// The texture; `None` where the images are not as large as said.
fn texture(ctx: &Context, layer: &WeightImages, palette: Palette) -> Option<TextureHandle> {
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
