//! The canvas: paints the ink, and what the pen or the eraser would do, or an image that is open
//! over it. The drawing itself belongs to [`crate::window::App`].

use std::sync::Arc;

use eframe::egui::{
    Align2, Color32, ColorImage, Context, CursorIcon, LayerId, PointerButton, Rect, Response, Role,
    Sense, Shape, Stroke, TextStyle, TextureHandle, TextureOptions, Ui, Vec2, WidgetInfo, pos2,
    vec2,
};

use super::ink::{Look, PaintedInk};
use super::pen::Pen;
use super::why::WhyView;
use crate::run_config::Classes;
use crate::text::format::{count, grouped};
use crate::text::visible;
use crate::window::{Action, App, CANVAS, DrawAction, Drawing, OpenImage, Tool, style};

/// The canvas's name in the accessibility tree.
pub const NAME: &str = "Drawing canvas";

#[derive(Debug, Default)]
pub struct CanvasView {
    pen: Pen,
    ink: PaintedInk,
    place: Option<Place>,
}

/// Where the canvas was shown.
#[derive(Clone, Copy, Debug)]
struct Place {
    frame: u64,
    rect: Rect,
    layer: LayerId,
    enabled: bool,
}

impl CanvasView {
    /// What the pointer did with the pen since the last frame, on the canvas where that frame
    /// showed it. Asked before the frame is laid out, so that the drawing is recognized meanwhile.
    pub fn follow_pointer(&mut self, ctx: &Context, app: &App, actions: &mut Vec<Action>) {
        let frame = ctx.cumulative_frame_nr();
        let place = self.place;
        let mut done = Vec::new();
        match place.filter(|place| place.enabled && place.frame + 1 >= frame) {
            Some(Place { rect, layer, .. }) => {
                let scale = rect.width() / app.draw.drawing_shown(&app.ctx).size()[0];
                self.pen
                    .follow_pointer(ctx, rect, layer, scale, app.draw.tool, &mut done);
            }
            // It was left with the pen down.
            None if self.pen.by_pointer.is_some() => self.pen.lift(&mut done),
            None => {}
        }
        actions.extend(done.into_iter().map(Action::Draw));
    }
}

/// Draws a canvas of this width, in points, with the drawing on it.
pub fn show(
    ui: &mut Ui,
    app: &App,
    drawing: &Drawing,
    (view, why): (&mut CanvasView, Option<&mut WhyView>),
    width: f32,
    actions: &mut Vec<Action>,
) -> Response {
    let scale = width / drawing.size()[0];
    let (rect, response) = ui.allocate_exact_size(
        vec2(width, drawing.size()[1] * scale),
        Sense::click_and_drag(),
    );
    view.place = Some(Place {
        frame: ui.ctx().cumulative_frame_nr(),
        rect,
        layer: ui.layer_id(),
        enabled: ui.is_enabled(),
    });
    if ui.is_enabled() {
        let mut done = Vec::new();
        view.pen
            .follow_keys(ui, &response, drawing.size(), app.draw.tool, &mut done);
        actions.extend(done.into_iter().map(Action::Draw));
    }
    let palette = style::palette(ui);
    style::paper(ui.painter(), rect, style::RADIUS, palette);
    if drawing.strokes().is_empty() {
        hint(
            ui,
            rect,
            drawing.size()[0] > CANVAS,
            &app.ctx.classes(),
            palette,
        );
    }
    paint(ui, app, drawing, &response, (view, why));
    let strokes = drawing.strokes().len();
    response.widget_info(|| WidgetInfo {
        current_text_value: Some(match strokes {
            0 => "empty".to_owned(),
            1 => "1 stroke".to_owned(),
            _ => format!("{strokes} strokes"),
        }),
        ..WidgetInfo::labeled(Role::Canvas, ui.is_enabled(), NAME)
    });
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_description(
            "Draw a digit here with mouse, pen or finger; the right mouse button erases. With the keyboard: arrow keys move the pen, Space puts it \
             down and lifts it, E switches between pen and eraser.",
        );
    });
    response.on_hover_cursor(CursorIcon::Crosshair)
}

/// The ink and the pen on the paper.
fn paint(
    ui: &Ui,
    app: &App,
    drawing: &Drawing,
    response: &Response,
    (view, why): (&mut CanvasView, Option<&mut WhyView>),
) {
    let (tool, rect) = (app.draw.tool, response.rect);
    let palette = style::palette(ui);
    let painter = ui.painter();
    let scale = rect.width() / drawing.size()[0];
    let clipped = painter.with_clip_rect(rect.shrink(1.0).intersect(ui.clip_rect()));
    let look = Look {
        origin: rect.min,
        scale,
        width: drawing.pen * scale,
        color: palette.ink,
        pixel: ui.pixels_per_point().recip(),
    };
    let ink: Vec<_> = view.ink.meshes(drawing.strokes(), look).collect();
    let is_explained = why.is_some_and(|why| why.paint(ui, app, &clipped, (rect.min, scale), &ink));
    if !is_explained {
        let meshes = ink.into_iter().map(|(_, mesh)| Arc::clone(mesh));
        clipped.extend(meshes.map(Shape::Mesh));
    }
    let pen = &view.pen;
    let erasing = pen.by_pointer.map_or(tool == Tool::Eraser, |button| {
        tool == Tool::Eraser || button == PointerButton::Secondary
    });
    let radius = scale / 2.0
        * if erasing {
            drawing.eraser()
        } else {
            drawing.pen
        };
    let pointer = ui
        .input(|input| input.pointer.latest_pos())
        .filter(|_| response.hovered() || pen.by_pointer.is_some());
    // What the eraser would take away, or the pen leave, here.
    match pointer {
        Some(pointer) if erasing => {
            clipped.circle_filled(pointer, radius, palette.paper.gamma_multiply(0.5));
            clipped.circle_stroke(pointer, radius, Stroke::new(3.0, palette.paper));
            clipped.circle_stroke(pointer, radius, Stroke::new(1.5, palette.faded));
        }
        Some(pointer) if pen.by_pointer.is_none() => {
            clipped.circle_filled(pointer, radius, palette.ink.gamma_multiply(0.16));
            clipped.circle_stroke(
                pointer,
                radius,
                Stroke::new(1.0, palette.ink.gamma_multiply(0.4)),
            );
        }
        _ => {}
    }
    if response.has_focus() {
        style::focus_ring(ui, rect);
        // The keyboard's pen: a ring with a cross, filled while the pen is down.
        let at = rect.min + vec2(pen.at[0], pen.at[1]) * scale;
        let color = palette.accent;
        if pen.by_key {
            clipped.circle_filled(
                at,
                radius,
                color.gamma_multiply(if erasing { 0.2 } else { 0.6 }),
            );
        }
        clipped.circle_stroke(at, radius, Stroke::new(2.0, color));
        clipped.hline(at.x - 5.0..=at.x + 5.0, at.y, Stroke::new(1.5, color));
        clipped.vline(at.x, at.y - 5.0..=at.y + 5.0, Stroke::new(1.5, color));
    }
}

/// The most classes that the prompt names.
const NAMED_IN_HINT: usize = 10;

/// The names of classes in two lines, or of the first of many.
fn listed(classes: &Classes, most: usize) -> String {
    let names: Vec<&str> = classes.names().take(most).collect();
    let (first, second) = names.split_at(names.len().div_ceil(2));
    let more = if classes.len() > most { ", …" } else { "" };
    format!("{}\n{}{more}", first.join(", "), second.join(", "))
}

/// The prompt on an empty canvas.
fn hint(ui: &Ui, rect: Rect, several: bool, classes: &Classes, palette: style::Palette) {
    let color = palette.faded;
    let painter = ui.painter();
    let small = rect.width() < 220.0;
    let title = if small {
        TextStyle::Body
    } else {
        TextStyle::Heading
    }
    .resolve(ui.style());
    let prompt = match several {
        true if classes.are_digits() => "Write a number here".to_owned(),
        true => format!("Draw {} here", classes.plural()),
        false => format!("Draw {} here", classes.one()),
    };
    painter.text(rect.center(), Align2::CENTER_BOTTOM, prompt, title, color);
    if !small {
        let below = pos2(rect.center().x, rect.center().y + 6.0);
        let how = match several {
            true if classes.are_digits() => {
                "several digits side by side, with mouse, pen or finger".to_owned()
            }
            true => "side by side, with mouse, pen or finger".to_owned(),
            false if classes.are_digits() => "0 to 9, with mouse, pen or finger".to_owned(),
            false => listed(classes, NAMED_IN_HINT),
        };
        painter.text(
            below,
            Align2::CENTER_TOP,
            how,
            TextStyle::Body.resolve(ui.style()),
            color,
        );
    }
}

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

/// Draws the image in a place of this size; a click on a digit shows its probabilities. Returns
/// where the image is.
pub fn image(
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
    style::paper(painter, place, style::RADIUS, palette);
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
            .digits(&app.ctx)
            .iter()
            .position(|digit| hit(digit.bounds))
        {
            actions.push(DrawAction::ChooseDigit(index).into());
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
    let digits = app.draw.digits(&app.ctx).len();
    style::describe(
        response,
        Role::Image,
        "Opened image",
        &count(digits as u64, "digit"),
    );
    ui.ctx()
        .accesskit_node_builder(response.id, |node| node.set_description(line));
}
