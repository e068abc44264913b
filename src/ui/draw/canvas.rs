//! The canvas: turns pointer, touch and keys into pen actions and paints the ink. The drawing itself belongs to [`crate::app::App`].

use eframe::egui::{
    self, Align2, CursorIcon, Event, EventFilter, Key, PointerButton, Pos2, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, pos2, vec2,
};

use super::stroke;
use crate::app::{Action, CANVAS, Drawing};
use crate::ui::style;

/// How far an arrow key moves the pen, in canvas units: about a pixel of the model's image.
const STRIDE: f32 = 10.0;
/// The distance with Shift held.
const FINE_STRIDE: f32 = 2.0;

/// The canvas's name in the accessibility tree.
pub const NAME: &str = "Drawing canvas";

/// The pen's state between frames.
#[derive(Clone, Copy, Debug)]
pub struct Pen {
    /// The pen is down, put down by the pointer.
    by_pointer: bool,
    /// The pen is down, put down by the space bar.
    by_key: bool,
    /// The keyboard pen's position, in canvas units.
    at: [f32; 2],
}

impl Default for Pen {
    fn default() -> Self {
        Self { by_pointer: false, by_key: false, at: [CANVAS / 2.0; 2] }
    }
}

/// Draws a canvas of this width, in points, with the drawing on it.
pub fn show(ui: &mut Ui, drawing: &Drawing, pen: &mut Pen, width: f32, actions: &mut Vec<Action>) -> Response {
    let scale = width / drawing.size()[0];
    let (rect, response) = ui.allocate_exact_size(vec2(width, drawing.size()[1] * scale), Sense::click_and_drag());
    if ui.is_enabled() {
        pointer(ui, rect, scale, pen, actions);
        keys(ui, &response, drawing.size(), pen, actions);
    }
    paint(ui, drawing, rect, scale, &response, pen);
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
            "Draw a digit here with mouse, pen or finger. With the keyboard: arrow keys move the pen, Space puts it down and lifts it.",
        );
    });
    response.on_hover_cursor(CursorIcon::Crosshair)
}

/// Every pointer position since the last frame becomes a point, so that fast strokes stay smooth. The first finger or the pen
/// also arrives as pointer events; further fingers and a resting palm draw nothing.
fn pointer(ui: &Ui, rect: Rect, scale: f32, pen: &mut Pen, actions: &mut Vec<Action>) {
    let layer = ui.layer_id();
    let events = ui.input(|input| input.events.clone());
    for event in events {
        match event {
            // Not through a menu or a dialog in front of the canvas.
            Event::PointerButton { pos, button: PointerButton::Primary, pressed: true, .. }
                if rect.contains(pos) && ui.ctx().layer_id_at(pos).is_none_or(|top| top == layer) =>
            {
                pen.by_pointer = true;
                pen.by_key = false;
                actions.push(Action::PenDown(to_canvas(pos, rect, scale)));
            }
            Event::PointerMoved(pos) if pen.by_pointer => actions.push(Action::PenMove(to_canvas(pos, rect, scale))),
            Event::PointerButton { pos, button: PointerButton::Primary, pressed: false, .. } if pen.by_pointer => {
                pen.by_pointer = false;
                actions.push(Action::PenMove(to_canvas(pos, rect, scale)));
                actions.push(Action::PenUp);
            }
            Event::PointerGone | Event::WindowFocused(false) if pen.by_pointer => {
                pen.by_pointer = false;
                actions.push(Action::PenUp);
            }
            _ => {}
        }
    }
}

fn keys(ui: &Ui, response: &Response, size: [f32; 2], pen: &mut Pen, actions: &mut Vec<Action>) {
    if !response.has_focus() {
        if std::mem::take(&mut pen.by_key) {
            actions.push(Action::PenUp);
        }
        return;
    }
    let arrows = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
    let events = ui.input(|input| input.events.clone());
    for event in events {
        let Event::Key { key, pressed: true, repeat, modifiers, .. } = event else { continue };
        let stride = if modifiers.shift { FINE_STRIDE } else { STRIDE };
        let [dx, dy] = match key {
            Key::ArrowLeft => [-stride, 0.0],
            Key::ArrowRight => [stride, 0.0],
            Key::ArrowUp => [0.0, -stride],
            Key::ArrowDown => [0.0, stride],
            Key::Space if !repeat && !modifiers.any() => {
                pen.by_key = !pen.by_key;
                actions.push(if pen.by_key { Action::PenDown(pen.at) } else { Action::PenUp });
                continue;
            }
            _ => continue,
        };
        pen.at = [(pen.at[0] + dx).clamp(0.0, size[0]), (pen.at[1] + dy).clamp(0.0, size[1])];
        if pen.by_key {
            actions.push(Action::PenMove(pen.at));
        }
    }
}

/// From screen to canvas units; a stroke that leaves the canvas follows its edge.
fn to_canvas(pos: Pos2, rect: Rect, scale: f32) -> [f32; 2] {
    let at = (pos - rect.min) / scale;
    [at.x.clamp(0.0, rect.width() / scale), at.y.clamp(0.0, rect.height() / scale)]
}

fn paint(ui: &Ui, drawing: &Drawing, rect: Rect, scale: f32, response: &Response, pen: &Pen) {
    let palette = style::palette(ui);
    let painter = ui.painter();
    painter.rect(rect, style::RADIUS, palette.paper, Stroke::new(1.0, palette.line), StrokeKind::Inside);
    let to_screen = |[x, y]: [f32; 2]| rect.min + vec2(x, y) * scale;
    let width = drawing.pen * scale;
    if drawing.strokes().is_empty() {
        hint(ui, rect, drawing.size()[0] > CANVAS, palette);
    }
    let clipped = painter.with_clip_rect(rect.shrink(1.0).intersect(ui.clip_rect()));
    for stroke in drawing.strokes() {
        let points: Vec<Pos2> = stroke.iter().copied().map(to_screen).collect();
        clipped.extend(stroke::shapes(&points, width, palette.ink));
    }
    if let Some(pointer) = response.hover_pos().filter(|_| !pen.by_pointer) {
        // What the pen would leave here.
        clipped.circle_filled(pointer, width / 2.0, palette.ink.gamma_multiply(0.16));
        clipped.circle_stroke(pointer, width / 2.0, Stroke::new(1.0, palette.ink.gamma_multiply(0.4)));
    }
    if response.has_focus() {
        style::focus_ring(ui, rect);
        // The keyboard's pen: a ring with a cross, filled while the pen is down.
        let at = to_screen(pen.at);
        let color = palette.accent;
        if pen.by_key {
            clipped.circle_filled(at, width / 2.0, color.gamma_multiply(0.6));
        }
        clipped.circle_stroke(at, width / 2.0, Stroke::new(2.0, color));
        clipped.hline(at.x - 5.0..=at.x + 5.0, at.y, Stroke::new(1.5, color));
        clipped.vline(at.x, at.y - 5.0..=at.y + 5.0, Stroke::new(1.5, color));
    }
}

/// The prompt on an empty canvas.
fn hint(ui: &Ui, rect: Rect, several: bool, palette: style::Palette) {
    let color = palette.ink.gamma_multiply(0.45);
    let painter = ui.painter();
    let small = rect.width() < 220.0;
    let title = if small { egui::TextStyle::Body } else { egui::TextStyle::Heading }.resolve(ui.style());
    let prompt = if several { "Write a number here" } else { "Draw a digit here" };
    painter.text(rect.center(), Align2::CENTER_BOTTOM, prompt, title, color);
    if !small {
        let below = pos2(rect.center().x, rect.center().y + 6.0);
        let how = if several { "several digits side by side, with mouse, pen or finger" } else { "0 to 9, with mouse, pen or finger" };
        painter.text(below, Align2::CENTER_TOP, how, egui::TextStyle::Body.resolve(ui.style()), color);
    }
}
