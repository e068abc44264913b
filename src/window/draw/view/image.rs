//! An image that is open over the canvas, in its place and as large.

use eframe::egui::{
    Align2, Color32, ColorImage, Rect, Response, Role, Sense, Stroke, StrokeKind, TextStyle,
    TextureHandle, TextureOptions, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use crate::text::format::{count, grouped};
use crate::text::visible;
use crate::window::style;
use crate::window::{Action, App, OpenImage};

#[derive(Default)]
pub struct ImageView {
    texture: Option<(u64, TextureHandle)>,
}

impl std::fmt::Debug for ImageView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageView").finish_non_exhaustive()
    }
}

impl ImageView {
    pub fn texture(&mut self, ui: &Ui, image: &OpenImage) -> TextureHandle {
        match &self.texture {
            Some((id, texture)) if *id == image.id => texture.clone(),
            _ => {
                let (size, pixels) = image.source.colored();
                let colored = ColorImage::from_rgba_unmultiplied(size, pixels);
                let texture =
                    ui.ctx()
                        .load_texture("opened image", colored, TextureOptions::LINEAR);
                self.texture = Some((image.id, texture.clone()));
                texture
            }
        }
    }
}

/// Draws the image in a place of this size; a click on a digit shows its probabilities. Gives where
/// the image is.
pub fn show(
    ui: &mut Ui,
    app: &App,
    image: &OpenImage,
    view: &mut ImageView,
    size: Vec2,
    actions: &mut Vec<Action>,
) -> Rect {
    let (place, response) = ui.allocate_exact_size(size, Sense::click());
    let texture = view.texture(ui, image);
    let [width, height] = image.source.size().map(|side| side as f32);
    let scale = (size.x / width).min(size.y / height);
    let rect = Rect::from_center_size(place.center(), vec2(width, height) * scale);
    let palette = style::palette(ui);
    let painter = ui.painter();
    painter.rect(
        place,
        style::RADIUS,
        palette.paper,
        Stroke::new(1.0, palette.line),
        StrokeKind::Inside,
    );
    painter.image(
        texture.id(),
        rect.shrink(1.0),
        Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)),
        Color32::WHITE,
    );
    describe(ui, image, app, &response, place);
    if let Some(pointer) = response
        .interact_pointer_pos()
        .filter(|_| response.clicked())
    {
        let at = (pointer - rect.min) / scale;
        let hit =
            |[x, y, w, h]: [f32; 4]| (x..=x + w).contains(&at.x) && (y..=y + h).contains(&at.y);
        if let Some(index) = app
            .draw
            .number
            .digits()
            .iter()
            .position(|digit| hit(digit.bounds))
        {
            actions.push(Action::ChooseDigit(index));
        }
    }
    rect
}

/// The image's name and size at its lower edge, and what screen readers say of it.
fn describe(ui: &Ui, image: &OpenImage, app: &App, response: &Response, place: Rect) {
    let [width, height] = image.source.size();
    let name = visible::label(&image.name);
    let line = format!(
        "{name}, {} × {} pixels. Clear closes it.",
        grouped(u64::from(width)),
        grouped(u64::from(height))
    );
    let palette = style::palette(ui);
    let text = ui.painter().layout(
        line.clone(),
        TextStyle::Small.resolve(ui.style()),
        palette.ink,
        place.width() - 16.0,
    );
    let at = Align2::LEFT_BOTTOM.anchor_size(place.left_bottom() + vec2(8.0, -6.0), text.size());
    style::floating_box(ui.painter(), at.expand2(vec2(4.0, 2.0)), palette);
    ui.painter().galley(at.min, text, palette.ink);
    let digits = app.draw.number.digits().len();
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(count(digits as u64, "digit")),
        ..WidgetInfo::labeled(Role::Image, true, "Opened image")
    });
    ui.ctx()
        .accesskit_node_builder(response.id, |node| node.set_description(line));
}
