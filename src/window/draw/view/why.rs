//! "Why?" on the canvas and beside it: the ink in the colors of its evidence, the change that would
//! make it another digit as a ghost, and both in words.

use std::sync::Arc;

use eframe::egui::{
    Align2, Color32, ColorImage, Mesh, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke,
    TextStyle, TextureHandle, TextureOptions, Ui, WidgetInfo, pos2, vec2,
};

use super::ink::{Node, stroke as ribbon};
use crate::ink::{Placement, SIDE};
use crate::records::Attribution;
use crate::text::format::capitalized;
use crate::window::draw::why::{
    change_sentence, evidence_sentence, figures_sentence, peaks, strengths,
};
use crate::window::style::Palette;
use crate::window::{Action, App, Canvas, DrawAction, Pushes as _, style};

/// The colors of the evidence for one answer.
#[derive(Default)]
pub struct WhyView {
    content: Option<(u64, Palette)>,
    digits: Vec<Evidence>,
    textures: Vec<TextureHandle>,
}

/// The evidence for a digit, besides its texture, which is as large as the model's input.
#[derive(Debug)]
struct Evidence {
    placement: Option<Placement>,
    /// The bounds of the digit, in the unit of the drawing or of the image.
    bounds: Rect,
    /// The pixels that speak most for the class, and those that speak most against it.
    peaks: [Vec<usize>; 2],
}

impl std::fmt::Debug for WhyView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WhyView").finish_non_exhaustive()
    }
}

/// The least size of an input pixel, in points, with which there is room for signs on the ink.
const WITH_SIGNS: f32 = 3.0;

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
    /// Takes in what is explained, with the colors as ink over an image or for the ink there is.
    fn update(&mut self, ui: &Ui, app: &App, over_image: bool) {
        let palette = style::palette(ui);
        let (version, explained) = app.draw.explained(&app.ctx);
        let content = Some((version, palette));
        if self.content == content && self.digits.len() == explained.len() {
            return;
        }
        self.content = content;
        self.digits.clear();
        for (index, digit) in explained.into_iter().enumerate() {
            let pixels = digit.prediction.image.pixels();
            let strengths = strengths(&digit.explanation.attribution, pixels);
            self.digits.push(Evidence {
                placement: digit.explanation.placement,
                bounds: digit
                    .bounds
                    .map_or(Rect::EVERYTHING, |[x, y, width, height]| {
                        Rect::from_min_size(pos2(x, y), vec2(width, height))
                    }),
                peaks: [1.0, -1.0].map(|sign| peaks(&strengths, pixels, sign)),
            });
            let colors = strengths.into_iter().zip(pixels).map(|(strength, gray)| {
                let ink = if over_image { *gray } else { u8::MAX };
                color(strength, palette).gamma_multiply_u8(ink)
            });
            let image = ColorImage::new([SIDE; 2], colors.collect());
            if let Some(texture) = self.textures.get_mut(index) {
                texture.set(image, TextureOptions::LINEAR);
            } else {
                let texture = ui.ctx().load_texture("why", image, TextureOptions::LINEAR);
                self.textures.push(texture);
            }
        }
    }

    /// Each digit with its texture, of those that are not all in one point.
    fn placed(&self) -> impl Iterator<Item = (&Evidence, Placement, &TextureHandle)> {
        let digits = self.digits.iter().zip(&self.textures);
        digits.filter_map(|(digit, texture)| Some((digit, digit.placement?, texture)))
    }

    /// The ink of these strokes in the colors of what it says, with signs at the clearest places;
    /// false if nothing is explained.
    pub fn paint(
        &mut self,
        ui: &Ui,
        app: &App,
        painter: &Painter,
        (origin, scale): (Pos2, f32),
        ink: &[(usize, &Arc<Mesh>)],
    ) -> bool {
        self.update(ui, app, false);
        let digits: Vec<_> = self.placed().collect();
        if digits.is_empty() {
            return false;
        }
        let reach = app.draw.drawing_shown(&app.ctx).pen / 2.0 + 1.0;
        let boxes = digits.iter().map(|(digit, ..)| {
            let Rect { min, max } = digit.bounds.expand(reach);
            Rect::from_min_max(
                origin + min.to_vec2() * scale,
                origin + max.to_vec2() * scale,
            )
        });
        let boxes: Vec<Rect> = boxes.collect();
        for stroke in ink.chunk_by(|(a, _), (b, _)| a == b) {
            let around = stroke.iter().map(|(_, mesh)| mesh.calc_bounds());
            let around = around.fold(Rect::NOTHING, Rect::union);
            let owner = digit_around(&boxes, around);
            for (_, mesh) in stroke {
                for (digit, mut part) in parts(mesh, &boxes, owner) {
                    let Some((_, placement, texture)) = digits.get(digit) else {
                        continue;
                    };
                    part.texture_id = texture.id();
                    for vertex in &mut part.vertices {
                        let at = (vertex.pos - origin) / scale;
                        let [x, y] = placement.in_image([at.x, at.y]);
                        vertex.uv = pos2(x, y) / SIDE as f32;
                        // Edges stay transparent.
                        vertex.color = Color32::from_white_alpha(vertex.color.a());
                    }
                    painter.add(Shape::mesh(part));
                }
            }
        }
        ghost(ui, app, painter, (origin, scale));
        self.signs(ui, painter, (origin, scale));
        true
    }

    /// The ink that was found in an image in the colors of what it says, over the image at `rect`,
    /// of which a pixel is `scale` points.
    pub fn paint_over_image(&mut self, ui: &Ui, app: &App, rect: Rect, scale: f32) {
        self.update(ui, app, true);
        if self.placed().next().is_none() {
            return;
        }
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        // The image steps back behind the evidence.
        let palette = style::palette(ui);
        painter.rect_filled(rect, 0.0, palette.paper.gamma_multiply(0.7));
        for (_, placement, texture) in self.placed() {
            let corner = |at: f32| {
                let [x, y] = placement.in_drawing([at; 2]);
                rect.min + vec2(x, y) * scale
            };
            let place = Rect::from_min_max(corner(0.0), corner(SIDE as f32));
            let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            painter.image(texture.id(), place, whole, Color32::WHITE);
        }
        self.signs(ui, &painter, (rect.min, scale));
    }

    /// A sign at each of the clearest places.
    fn signs(&self, ui: &Ui, painter: &Painter, (origin, scale): (Pos2, f32)) {
        let palette = style::palette(ui);
        for (digit, placement, _) in self.placed() {
            if scale / placement.scale < WITH_SIGNS {
                continue;
            }
            for (pixels, sign, end) in [
                (&digit.peaks[0], "+", palette.train),
                (&digit.peaks[1], "−", palette.validation),
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
        }
    }
}

/// The digit that all of a stroke belongs to; `None` if it goes on in another one.
fn digit_around(boxes: &[Rect], stroke: Rect) -> Option<usize> {
    let around = boxes.iter().enumerate();
    let around = around.filter(|(_, digit)| digit.contains_rect(stroke));
    let distance = |digit: &Rect| (digit.center().x - stroke.center().x).abs();
    let nearest = around.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
    nearest.map(|(index, _)| index)
}

/// A mesh, by the digits that its triangles belong to: all to the `owner`, or each to the digit
/// nearest to it.
fn parts(mesh: &Mesh, boxes: &[Rect], owner: Option<usize>) -> Vec<(usize, Mesh)> {
    if let Some(owner) = owner {
        return vec![(owner, mesh.clone())];
    }
    let corner = |index: u32| mesh.vertices.get(index as usize).map(|vertex| vertex.pos);
    let nearest = |triangle: &[u32]| {
        let at = corner(*triangle.first()?)?;
        let distance = |digit: &Rect| digit.distance_to_pos(at);
        let boxes = boxes.iter().enumerate();
        let nearest = boxes.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)));
        nearest.map(|(index, _)| index)
    };
    let owners: Vec<_> = mesh.indices.chunks_exact(3).map(nearest).collect();
    let part = |digit: usize| {
        let triangles = mesh.indices.chunks_exact(3).zip(&owners);
        let its = triangles.filter(|(_, owner)| **owner == Some(digit));
        let indices: Vec<u32> = its.flat_map(|(triangle, _)| triangle).copied().collect();
        let part = Mesh {
            indices,
            vertices: mesh.vertices.clone(),
            texture_id: mesh.texture_id,
        };
        (digit, part)
    };
    let parts = (0..boxes.len()).map(part);
    parts.filter(|(_, part)| !part.indices.is_empty()).collect()
}

/// The strokes to add and the parts to erase.
fn ghost(ui: &Ui, app: &App, painter: &Painter, (origin, scale): (Pos2, f32)) {
    let counterfactual = app.draw.counterfactual(&app.ctx);
    let Some(change) = counterfactual.and_then(|it| it.change.as_ref()) else {
        return;
    };
    let palette = style::palette(ui);
    let width = app.draw.drawing_shown(&app.ctx).pen * scale;
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

/// The legend of the colors and the ghost, in words.
pub fn panel(ui: &mut Ui, app: &App, view: &WhyView, actions: &mut Vec<Action>) {
    let (draw, classes) = (&app.draw, app.ctx.classes());
    let canvas = draw.canvas(&app.ctx);
    let chosen = draw.chosen(&app.ctx).unwrap_or_default();
    let (Some(explained), Some(evidence)) = (draw.explanation(&app.ctx), view.digits.get(chosen))
    else {
        return drop(style::weak(ui, why_not(app)));
    };
    let (attribution, prediction) = (&explained.explanation.attribution, explained.prediction);
    let digits = draw.digits(&app.ctx).len();
    if digits > 1 {
        let number = chosen + 1;
        let noun = capitalized(classes.noun());
        let place = match canvas {
            Canvas::Image => "in the image",
            Canvas::One | Canvas::Several => "below the canvas",
        };
        style::note(
            ui,
            format!("{noun} {number} of {digits}. Click another one {place} to explain it."),
        );
    }
    let name = classes.name(attribution.class);
    let title = if attribution.class == prediction.digit {
        format!("Why {name}?")
    } else {
        format!("Why not {name}?")
    };
    legend(ui, attribution, &title, name).on_hover_text(figures_sentence(attribution, &classes));
    style::wrapped(
        ui,
        evidence_sentence(&evidence.peaks, prediction.image.pixels(), name),
    );
    match (draw.why.class, draw.counterfactual(&app.ctx)) {
        (None, _) if canvas == Canvas::Image => {
            let hint = format!(
                "Click another {} above to see which ink speaks for it.",
                classes.noun()
            );
            style::weak(ui, hint);
        }
        (None, _) => {
            let hint = format!(
                "Click another {} above to see what would make it one.",
                classes.noun()
            );
            style::weak(ui, hint);
        }
        (Some(class), _) if class == prediction.digit && prediction.is_digit => {}
        (Some(_), _) if canvas == Canvas::Image => {
            let why_not = format!(
                "What would make it {name} is looked for only in drawings: an image has no strokes to change."
            );
            style::weak(ui, why_not);
        }
        (Some(_), None) => {
            style::weak(ui, format!("Looking for a small change to {name}…"));
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

/// Why nothing is explained.
fn why_not(app: &App) -> String {
    let (draw, classes) = (&app.draw, app.ctx.classes());
    match draw.canvas(&app.ctx) {
        Canvas::Image if draw.digits(&app.ctx).is_empty() && !draw.is_behind(&app.ctx) => {
            format!(
                "No {} was found in this image, so there is nothing to explain.",
                classes.noun()
            )
        }
        Canvas::One | Canvas::Several if draw.is_canvas_empty(&app.ctx) => format!(
            "Draw {} to see which ink speaks for the answer.",
            classes.one()
        ),
        Canvas::Several if draw.several.pen_down() => {
            "Several digits are explained when the pen is up.".to_owned()
        }
        _ => "Working out which ink speaks for the answer…".to_owned(),
    }
}

/// What is explained, and the colors from "against" to "for".
fn legend(ui: &mut Ui, attribution: &Attribution, title: &str, name: &str) -> Response {
    let palette = style::palette(ui);
    let row = ui.horizontal_wrapped(|ui| {
        style::semibold(ui, title);
        ui.label(style::hint(format!("− against {name}")));
        let (rect, _) = ui.allocate_exact_size(vec2(70.0, 12.0), Sense::hover());
        let colors = (0..32).map(|part| color((part as f32 + 0.5) / 16.0 - 1.0, palette));
        style::gradient(ui.painter(), rect, &colors.collect::<Vec<_>>());
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
