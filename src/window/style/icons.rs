//! Small icons beside text, so that color is never the only signal. They are painted because the
//! bundled fonts lack these glyphs.

use eframe::egui::{
    Color32, Mesh, Painter, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, Vec2, pos2, vec2,
};

use crate::window::style;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// Something is wrong: a triangle with an exclamation mark.
    Problem,
    /// Information: a filled dot in a ring.
    Note,
    /// Done: a tick.
    Done,
}

/// Paints an icon as high as a line of text.
pub fn icon(ui: &mut Ui, icon: Icon) -> Response {
    let side = ui.text_style_height(&eframe::egui::TextStyle::Body);
    let (rect, response) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
    let palette = style::palette(ui);
    let painter = ui.painter();
    match icon {
        Icon::Problem => problem(painter, rect, palette.bad, palette.background),
        Icon::Note => {
            painter.circle_stroke(rect.center(), side * 0.40, Stroke::new(1.5, palette.accent));
            painter.circle_filled(rect.center(), side * 0.17, palette.accent);
        }
        Icon::Done => tick(painter, rect, palette.good),
    }
    response
}

fn problem(painter: &Painter, rect: Rect, color: Color32, mark: Color32) {
    let at = |x: f32, y: f32| {
        pos2(
            rect.left() + x * rect.width(),
            rect.top() + y * rect.height(),
        )
    };
    painter.add(Shape::convex_polygon(
        vec![at(0.5, 0.06), at(0.98, 0.92), at(0.02, 0.92)],
        color,
        Stroke::NONE,
    ));
    painter.line_segment([at(0.5, 0.36), at(0.5, 0.64)], Stroke::new(1.8, mark));
    painter.circle_filled(at(0.5, 0.78), 1.1, mark);
}

/// Paints a tick into `rect`.
pub fn tick(painter: &Painter, rect: Rect, color: Color32) {
    let at = |x: f32, y: f32| {
        pos2(
            rect.left() + x * rect.width(),
            rect.top() + y * rect.height(),
        )
    };
    painter.line(
        vec![at(0.16, 0.55), at(0.40, 0.80), at(0.86, 0.24)],
        Stroke::new(2.0, color),
    );
}

/// Paints a star into `rect`, or its outline.
pub fn star(painter: &Painter, rect: Rect, color: Color32, filled: bool) {
    let radius = rect.width().min(rect.height()) * 0.5;
    let center = rect.center() + vec2(0.0, radius * 0.05);
    let at = |corner: usize| {
        // The inner corners of a regular star whose arms meet in straight lines.
        let reach = if corner.is_multiple_of(2) {
            radius
        } else {
            radius * 0.42
        };
        center
            - reach
                * Vec2::angled(
                    corner as f32 * std::f32::consts::PI / 5.0 + std::f32::consts::FRAC_PI_2,
                )
    };
    let outline: Vec<Pos2> = (0..10).map(at).collect();
    if filled {
        // It is not convex: triangles about its center.
        let mut mesh = Mesh::default();
        mesh.colored_vertex(center, color);
        for corner in &outline {
            mesh.colored_vertex(*corner, color);
        }
        for corner in 0..10 {
            mesh.add_triangle(0, corner + 1, (corner + 1) % 10 + 1);
        }
        painter.add(mesh);
    }
    painter.add(Shape::closed_line(outline, Stroke::new(1.3, color)));
}

/// Paints Inkling's logo, a drop of ink with its tip up.
pub fn drop(painter: &Painter, center: Pos2, height: f32, color: Color32) {
    let radius = height * 0.34;
    let belly = pos2(center.x, center.y + height * 0.5 - radius);
    let tip = pos2(center.x, center.y - height * 0.5);
    let reach = belly.y - tip.y;
    let (touch, half) = (
        radius * radius / reach,
        radius * (1.0 - (radius / reach).powi(2)).sqrt(),
    );
    painter.circle_filled(belly, radius, color);
    let side = belly.y - touch;
    painter.add(Shape::convex_polygon(
        vec![tip, pos2(belly.x + half, side), pos2(belly.x - half, side)],
        color,
        Stroke::NONE,
    ));
}
