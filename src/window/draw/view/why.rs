//! "Why?" on the canvas and beside it: the ink in the colors of its evidence, the change that would
//! make it another digit as a ghost, and both in words.

use std::sync::Arc;

use eframe::egui::{
    Align2, Color32, ColorImage, Mesh, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke,
    TextStyle, TextureHandle, TextureOptions, Ui, WidgetInfo, pos2, vec2,
};

use super::ink::{Node, stroke as ribbon};
use crate::ink::SIDE;
use crate::records::{Attribution, Recognition};
use crate::window::draw::why::{
    change_sentence, evidence_sentence, figures_sentence, peaks, strengths,
};
use crate::window::style::Palette;
use crate::window::{Action, App, DrawAction, Pushes as _, style};

/// The colors of the evidence for one answer, as a texture as large as the image.
#[derive(Default)]
pub struct WhyView {
    content: Option<(u64, Palette)>,
    texture: Option<TextureHandle>,
    /// The pixels that speak most for the class, and those that speak most against it.
    peaks: [Vec<usize>; 2],
}

impl std::fmt::Debug for WhyView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WhyView").finish_non_exhaustive()
    }
}

/// How dark ink is that says nothing.
const NEUTRAL: f32 = 0.24;

/// Ink that speaks for the class is blue, ink against it orange, as numbers above and below zero
/// are in Inside.
fn color(strength: f32, palette: Palette) -> Color32 {
    let end = if strength < 0.0 {
        palette.validation
    } else {
        palette.train
    };
    let neutral = palette.paper.lerp_to_gamma(palette.ink, NEUTRAL);
    neutral.lerp_to_gamma(end, strength.abs().min(1.0).powf(0.7))
}

impl WhyView {
    fn update(&mut self, ui: &Ui, version: u64, recognition: &Recognition) {
        let palette = style::palette(ui);
        let content = Some((version, palette));
        let Some(attribution) = &recognition.attribution else {
            return;
        };
        if self.content == content {
            return;
        }
        self.content = content;
        let pixels = recognition.prediction.image.pixels();
        let strengths = strengths(attribution, pixels);
        self.peaks = [1.0, -1.0].map(|sign| peaks(&strengths, pixels, sign));
        let colors = strengths.into_iter().map(|it| color(it, palette)).collect();
        let image = ColorImage::new([SIDE; 2], colors);
        if let Some(texture) = &mut self.texture {
            texture.set(image, TextureOptions::LINEAR);
        } else {
            let texture = ui.ctx().load_texture("why", image, TextureOptions::LINEAR);
            self.texture = Some(texture);
        }
    }

    /// The ink in the colors of what it says, with signs at the clearest places; false if nothing
    /// is explained.
    pub fn paint<'a>(
        &mut self,
        ui: &Ui,
        app: &App,
        painter: &Painter,
        (origin, scale): (Pos2, f32),
        ink: impl Iterator<Item = &'a Arc<Mesh>>,
    ) -> bool {
        let Some((version, recognition)) = app.draw.explanation() else {
            return false;
        };
        self.update(ui, version, recognition);
        let (Some(texture), Some(placement)) = (&self.texture, &recognition.placement) else {
            return false;
        };
        for mesh in ink {
            let mut mesh = Mesh::clone(mesh);
            mesh.texture_id = texture.id();
            for vertex in &mut mesh.vertices {
                let at = (vertex.pos - origin) / scale;
                let [x, y] = placement.in_image([at.x, at.y]);
                vertex.uv = pos2(x, y) / SIDE as f32;
                // Edges stay transparent.
                vertex.color = Color32::from_white_alpha(vertex.color.a());
            }
            painter.add(Shape::mesh(mesh));
        }
        ghost(ui, app, painter, (origin, scale));
        let palette = style::palette(ui);
        for (pixels, sign, end) in [
            (&self.peaks[0], "+", palette.train),
            (&self.peaks[1], "−", palette.validation),
        ] {
            for &pixel in pixels {
                let middle = [pixel % SIDE, pixel / SIDE].map(|place| place as f32 + 0.5);
                let [x, y] = placement.in_drawing(middle);
                let at = origin + vec2(x, y) * scale;
                painter.circle(at, 9.0, palette.paper, Stroke::new(1.5, end));
                let font = TextStyle::Body.resolve(ui.style());
                painter.text(at, Align2::CENTER_CENTER, sign, font, palette.ink);
            }
        }
        true
    }
}

/// The strokes to add and the parts to erase.
fn ghost(ui: &Ui, app: &App, painter: &Painter, (origin, scale): (Pos2, f32)) {
    let change = app.draw.counterfactual().and_then(|it| it.change.as_ref());
    let Some(change) = change else { return };
    let palette = style::palette(ui);
    let width = app.draw.one.pen * scale;
    let pixel = ui.pixels_per_point().recip();
    let place = |[x, y]: &[f32; 2]| origin + vec2(*x, *y) * scale;
    for added in &change.added {
        let points: Vec<Pos2> = added.iter().map(place).collect();
        let nodes = points.iter().map(|at| Node::new(*at, width / 2.0));
        painter.add(ribbon(nodes, palette.accent.gamma_multiply(0.28), pixel));
        let stroke = Stroke::new(2.0, palette.accent);
        painter.extend(Shape::dashed_line(&points, stroke, 7.0, 5.0));
    }
    for erased in &change.erased {
        let points: Vec<Pos2> = erased.iter().map(place).collect();
        let nodes = points.iter().map(|at| Node::new(*at, width / 2.0));
        painter.add(ribbon(nodes, palette.paper.gamma_multiply(0.72), pixel));
        crosses(painter, &points, width.max(10.0), palette);
    }
}

/// Crosses along a path.
fn crosses(painter: &Painter, points: &[Pos2], size: f32, palette: Palette) {
    let stroke = Stroke::new(2.0, palette.bad);
    let arm = size * 0.32;
    let mut left = 0.0;
    for pair in points.windows(2) {
        let [from, to] = [pair[0], pair[1]];
        let length = from.distance(to);
        let mut along = left;
        while along <= length && length > 0.0 {
            let at = from.lerp(to, along / length);
            for end in [vec2(arm, arm), vec2(arm, -arm)] {
                painter.add(Shape::LineSegment {
                    points: [at - end, at + end],
                    stroke,
                });
            }
            along += size * 1.1;
        }
        left = along - length;
    }
}

/// The button that shows or folds away the explanation.
pub fn toggle(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let shown = app.draw.why.shown;
    let button = ui.add(style::toggle("Why?", shown));
    button.widget_info(|| WidgetInfo::selected(Role::Button, true, shown, "Why?"));
    button
        .on_hover_text("Which ink speaks for this answer and which against it, and what would make it another one (W)")
        .pushes(actions, || DrawAction::ShowWhy(!shown));
}

/// What the colors and the ghost mean, in words.
pub fn panel(ui: &mut Ui, app: &App, view: &WhyView, actions: &mut Vec<Action>) {
    let classes = app.ctx.classes();
    let Some((_, recognition)) = app.draw.explanation() else {
        let prompt = format!(
            "Draw {} to see which ink speaks for the answer.",
            classes.one()
        );
        return drop(style::weak(ui, prompt));
    };
    let (Some(attribution), pixels) = (
        &recognition.attribution,
        recognition.prediction.image.pixels(),
    ) else {
        return;
    };
    legend(ui, attribution, classes.name(attribution.class))
        .on_hover_text(figures_sentence(attribution, &classes));
    let name = classes.name(attribution.class);
    style::wrapped(ui, evidence_sentence(&view.peaks, pixels, name));
    let predicted = recognition.prediction.digit;
    match (app.draw.why.class, app.draw.counterfactual()) {
        (None, _) => {
            let hint = format!(
                "Click another {} above to see what would make it one.",
                classes.noun()
            );
            style::weak(ui, hint);
        }
        (Some(class), _) if class == predicted && recognition.prediction.is_digit => {}
        (Some(class), None) => {
            style::weak(
                ui,
                format!("Looking for a small change to {}…", classes.name(class)),
            );
        }
        (Some(_), Some(counterfactual)) => {
            style::wrapped(ui, change_sentence(counterfactual, &classes));
            if counterfactual.change.is_some() {
                ui.add(style::small_button("Apply this change"))
                    .on_hover_text("Changes your drawing; Undo takes it back")
                    .pushes(actions, || DrawAction::ApplyChange);
            }
        }
    }
}

/// The colors from "against" to "for".
fn legend(ui: &mut Ui, attribution: &Attribution, name: &str) -> Response {
    let palette = style::palette(ui);
    let row = ui.horizontal(|ui| {
        ui.label(style::hint(format!("− against {name}")));
        let (rect, _) = ui.allocate_exact_size(vec2(90.0, 12.0), Sense::hover());
        let mut mesh = Mesh::default();
        let parts = 32;
        for part in 0..parts {
            let x = |part: usize| rect.left() + rect.width() * part as f32 / parts as f32;
            let shade = Rect::from_x_y_ranges(x(part)..=x(part + 1), rect.y_range());
            let strength = (part as f32 + 0.5) / parts as f32 * 2.0 - 1.0;
            mesh.add_colored_rect(shade, color(strength, palette));
        }
        ui.painter().add(Shape::mesh(mesh));
        style::outline(ui.painter(), rect, 1.0, palette.line);
        ui.label(style::hint(format!("for {name} +")));
    });
    let said = format!(
        "log-odds {:+.1} nats, by the ink {:+.1}",
        attribution.log_odds,
        attribution.log_odds - attribution.blank
    );
    style::describe(&row.response, Role::Image, "Color scale", &said);
    row.response
}
