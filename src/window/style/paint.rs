//! Shapes that are painted without being widgets: bars, outlines, paper, the focus ring.

use std::sync::Arc;

use eframe::egui::{
    Align2, Color32, Context, FontId, Memory, Mesh, Painter, Pos2, Rect, Sense, Shape, Stroke,
    StrokeKind, TextStyle, Ui, Vec2, pos2, vec2,
};

use super::icons::Icon;
use super::{Palette, RADIUS_SMALL, palette, tokens};

/// A bar with a name to its left and one or two lines of text in it.
pub struct NamedBar<'a> {
    /// Where it starts, after its name, in points.
    pub left: f32,
    pub name: &'a str,
    pub share: f32,
    /// How strongly it is filled, from 0 to 1.
    pub strength: f32,
    /// Its text, and a second line, which may be empty.
    pub lines: [&'a str; 2],
    /// The distance of texts from its edge, in points, and where the second line stands.
    pub margin: f32,
    pub second: f32,
    /// The fonts of the name with the first line, and of the second line.
    pub fonts: [TextStyle; 2],
}

impl NamedBar<'_> {
    pub fn paint(self, ui: &Ui, rect: Rect) {
        let margin = self.margin;
        let color = ui.visuals().text_color();
        let [font, small] = self.fonts.map(|font| font.resolve(ui.style()));
        let full = rect.with_min_x(rect.left() + self.left);
        let full = full.shrink2(vec2(0.0, 2.0));
        let filled = Rect::from_min_size(full.min, vec2(full.width() * self.share, full.height()));
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        let at = pos2(full.left() - margin, rect.center().y);
        painter.text(at, Align2::RIGHT_CENTER, self.name, font.clone(), color);
        let fill = palette(ui).accent.gamma_multiply(self.strength);
        painter.rect_filled(filled, 3.0, fill);
        let [text, below] = self.lines;
        let first = if below.is_empty() { 0.5 } else { 0.31 };
        let weak = ui.visuals().weak_text_color();
        let rows = [
            (text, first, font, color),
            (below, self.second, small, weak),
        ];
        for (text, y, font, color) in rows {
            let at = pos2(full.left() + margin, rect.top() + rect.height() * y);
            painter.text(at, Align2::LEFT_CENTER, text, font, color);
        }
    }
}

/// The picture of a thing: its icon on a tinted square with this side.
pub fn picture(ui: &mut Ui, picture: Icon, side: f32) {
    let (rect, _) = ui.allocate_exact_size(Vec2::splat(side), Sense::hover());
    let accent = palette(ui).accent;
    let ground = accent.gamma_multiply(0.12);
    ui.painter().rect_filled(rect, side * 0.25, ground);
    picture.paint(ui.painter(), rect.shrink(side * 0.24), accent);
}

/// A focus ring for widgets that we paint ourselves.
pub fn focus_ring(ui: &Ui, rect: Rect) {
    ui.painter().rect_stroke(
        rect.expand(2.0),
        RADIUS_SMALL,
        Stroke::new(2.0, palette(ui).accent),
        StrokeKind::Outside,
    );
}

/// Paints a ring around the focused widget, whatever it is.
pub fn ring_around_focus(ctx: &Context) {
    let Some(id) = ctx.memory(Memory::focused) else {
        return;
    };
    if let Some(response) = ctx
        .read_response(id)
        .filter(|response| response.interact_rect.is_positive())
    {
        let p = tokens::of(ctx.global_style().visuals.dark_mode);
        let painter = ctx.layer_painter(response.layer_id);
        painter.rect_stroke(
            response.interact_rect.expand(1.5),
            RADIUS_SMALL,
            Stroke::new(2.0, p.accent),
            StrokeKind::Outside,
        );
    }
}

/// An outline within a rectangle.
pub fn outline(painter: &Painter, rect: Rect, width: f32, color: Color32) {
    painter.rect_stroke(rect, 0.0, Stroke::new(width, color), StrokeKind::Inside);
}

/// An outline around a rectangle.
pub fn outline_outside(painter: &Painter, rect: Rect, width: f32, color: Color32) {
    painter.rect_stroke(rect, 0.0, Stroke::new(width, color), StrokeKind::Outside);
}

/// Paper with a thin outline.
pub fn paper(painter: &Painter, rect: Rect, radius: f32, palette: Palette) {
    let outline = Stroke::new(1.0, palette.line);
    painter.rect(rect, radius, palette.paper, outline, StrokeKind::Inside);
}

/// Paints a text over lines: around its letters they are hidden by the background.
pub fn text_with_halo(
    painter: &Painter,
    at: Pos2,
    anchor: Align2,
    text: String,
    font: FontId,
    color: Color32,
    palette: Palette,
) {
    const WIDTH: f32 = 2.0;
    let galley = painter.layout_no_wrap(text, font, color);
    let place = anchor.anchor_size(at, galley.size()).min;
    for eighth in 0..8_u8 {
        let around = Vec2::angled(f32::from(eighth) * std::f32::consts::FRAC_PI_4) * WIDTH;
        let galley = Arc::clone(&galley);
        painter.galley_with_override_text_color(place + around, galley, palette.background);
    }
    painter.galley(place, galley, color);
}

/// Colors side by side, from the left edge to the right one.
pub fn gradient(painter: &Painter, rect: Rect, colors: &[Color32]) {
    let width = rect.width() / colors.len().max(1) as f32;
    let mut mesh = Mesh::default();
    for (index, color) in colors.iter().enumerate() {
        let left = rect.left() + width * index as f32;
        let part = Rect::from_x_y_ranges(left..=left + width, rect.y_range());
        mesh.add_colored_rect(part, *color);
    }
    painter.add(Shape::mesh(mesh));
}

/// The background of a box that floats over a plot.
pub fn floating_box(painter: &Painter, rect: Rect, palette: Palette) {
    painter.rect(
        rect,
        RADIUS_SMALL,
        palette.raised.gamma_multiply(0.95),
        Stroke::new(1.0, palette.line),
        StrokeKind::Inside,
    );
}

/// A bar of this fraction of its track, from 0 to 1; at 0 there is only the track.
pub fn bar(painter: &Painter, track: Rect, share: f32, color: Color32, palette: Palette) {
    painter.rect_filled(track, RADIUS_SMALL, palette.groove);
    if share > 0.0 {
        let filled = Rect::from_min_size(
            track.min,
            vec2((track.width() * share.min(1.0)).max(2.0), track.height()),
        );
        painter.rect_filled(filled, RADIUS_SMALL, color);
    }
}
