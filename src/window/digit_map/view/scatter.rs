//! The points of the map: the mark of a class is its digit, in its own color; the drawing under the pen
//! wanders among them.

use std::collections::VecDeque;
use std::sync::Arc;

use eframe::egui::ecolor::Hsva;
use eframe::egui::{
    Color32, FontId, Galley, InputState, Painter, PointerButton, Pos2, Rect, Response, Role, Sense,
    Stroke, StrokeKind, TextStyle, Ui, Vec2, pos2, vec2,
};

use crate::ink::{Image, SIDE};
use crate::run_config::Classes;
use crate::window::digit_map::{Layout, MapOfDigits, ShownMap, words};
use crate::window::style::Palette;
use crate::window::style::image_sheet::{Cached, choose_by_keys, framed};
use crate::window::{App, style};

/// The room between the points and the edge, in points of the screen.
const MARGIN: f32 = 18.0;
/// How near to a point the pointer has to be to mean it.
const REACH: f32 = 14.0;
/// Places that the drawing under the pen was at.
const TRAIL: usize = 48;
/// How long points glide to where they are next, in seconds.
const GLIDE: f32 = 0.18;
/// How far one can zoom in.
const ZOOM: std::ops::RangeInclusive<f32> = 1.0..=40.0;
/// The side of the image of a point, in its pixels.
const IMAGE: f32 = 4.0;

/// The meaning of a mark, besides the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Wrong,
    Own,
    Pen,
}

/// The room of a mark in the legend, in points.
pub const MARK: f32 = 21.0;
pub const MARKS: [(Mark, &str); 3] = [
    (Mark::Wrong, "misclassified"),
    (Mark::Own, "your drawings"),
    (Mark::Pen, "this drawing"),
];

/// The view of the points between two frames.
#[derive(Debug)]
pub struct Scatter {
    /// Where each point was when those positions came that are shown now, and when that was.
    from: Vec<[f32; 2]>,
    to: Vec<[f32; 2]>,
    since: f64,
    zoom: f32,
    /// The middle of what is seen, from 0 to 1 along each axis.
    middle: Vec2,
    pub chosen: Option<usize>,
    layout: Layout,
    /// Where the drawing under the pen was, the newest last, and the last answer about it.
    trail: VecDeque<[f32; 2]>,
    answer: u64,
    image: Cached<Vec<Image>>,
}

impl Default for Scatter {
    fn default() -> Self {
        Self {
            from: Vec::new(),
            to: Vec::new(),
            since: 0.0,
            zoom: 1.0,
            middle: vec2(0.5, 0.5),
            chosen: None,
            layout: Layout::default(),
            trail: VecDeque::new(),
            answer: 0,
            image: Cached::default(),
        }
    }
}

/// From positions on the map to points of the screen.
#[derive(Clone, Copy)]
struct Frame {
    low: [f32; 2],
    scale: f32,
    origin: Pos2,
}

impl Frame {
    fn at(self, position: [f32; 2]) -> Pos2 {
        let [x, y] = [0, 1].map(|axis| (position[axis] - self.low[axis]) * self.scale);
        // The second direction goes up.
        self.origin + vec2(x, -y)
    }
}

impl Scatter {
    pub fn show(&mut self, ui: &mut Ui, app: &App, shown: &ShownMap, size: Vec2) {
        let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let palette = style::palette(ui);
        style::paper(ui.painter(), rect, style::RADIUS_SMALL, palette);
        let classes = app.ctx.classes();
        let positions = self.glide(ui, app.map.positions());
        self.move_view(ui, &response);
        let frame = self.frame(&positions, rect);
        let places: Vec<Pos2> = positions
            .iter()
            .map(|position| frame.at(*position))
            .collect();
        self.wander(app);
        let painter = ui.painter().with_clip_rect(rect.shrink(1.0));
        let marks = Marks::new(ui, &classes);
        let held_out = shown.map.held_out();
        for (index, (at, point)) in places.iter().zip(&shown.map.points).enumerate() {
            if !rect.contains(*at) {
                continue;
            }
            marks.paint(&painter, *at, point.label);
            if !point.is_correct() {
                paint_mark(&painter, palette, *at, Mark::Wrong);
            }
            if index >= held_out {
                paint_mark(&painter, palette, *at, Mark::Own);
            }
        }
        self.pen(ui, &painter, frame);
        self.choose(ui, &response, &places);
        let pointed = response
            .hover_pos()
            .and_then(|at| nearest_to(&places, at, REACH));
        if response.clicked() {
            self.chosen = pointed;
        }
        for (point, color) in [(self.chosen, palette.accent), (pointed, palette.ink)] {
            if let Some(at) = point.and_then(|point| places.get(point)) {
                painter.circle_stroke(*at, 11.0, Stroke::new(2.0, color));
            }
        }
        let said = self.chosen.map_or_else(
            || words::summary(&app.map),
            |point| words::point(shown, point, &classes),
        );
        style::describe(&response, Role::Image, "Points of the map", &said);
        if let Some(chosen) = self
            .chosen
            .filter(|chosen| pointed.is_none_or(|it| it == *chosen))
            && let Some(at) = places.get(chosen)
        {
            let text = words::point(shown, chosen, &classes);
            self.card(ui, &painter, &app.map, (chosen, *at, &text), rect);
        } else if let Some(pointed) = pointed {
            let text = words::point(shown, pointed, &classes);
            let at = places[pointed];
            self.card(ui, &painter, &app.map, (pointed, at, &text), rect);
        }
    }

    /// Where points are now on their way to these positions.
    fn glide(&mut self, ui: &Ui, to: &[[f32; 2]]) -> Vec<[f32; 2]> {
        let now = ui.input(|input| input.time);
        let time = if style::motion(ui).calm > 0.0 {
            GLIDE
        } else {
            0.0
        };
        if self.to != to {
            let from = self.between(now, time);
            self.from = if from.len() == to.len() {
                from
            } else {
                to.to_vec()
            };
            self.to = to.to_vec();
            self.since = now;
            if self.chosen.is_some_and(|chosen| chosen >= to.len()) {
                self.chosen = None;
            }
        }
        if ((now - self.since) as f32) < time {
            ui.ctx().request_repaint();
        }
        self.between(now, time)
    }

    fn between(&self, now: f64, time: f32) -> Vec<[f32; 2]> {
        let share = (now - self.since) as f32 / time;
        if share.is_nan() || share >= 1.0 {
            return self.to.clone();
        }
        let eased = 1.0 - (1.0 - share).powi(3);
        let pairs = self.from.iter().zip(&self.to);
        pairs
            .map(|(from, to)| [0, 1].map(|axis| from[axis] + (to[axis] - from[axis]) * eased))
            .collect()
    }

    /// Zooms by the wheel or a pinch, moves by dragging, and shows all after a double click.
    fn move_view(&mut self, ui: &Ui, response: &Response) {
        if response.double_clicked() {
            (self.zoom, self.middle) = (1.0, vec2(0.5, 0.5));
            return;
        }
        let side = response.rect.size().min_elem();
        if let Some(at) = response.hover_pos() {
            let turned = ui.input(|input| input.smooth_scroll_delta().y / 200.0);
            let factor = ui.input(InputState::zoom_delta) * turned.exp();
            let zoom = (self.zoom * factor).clamp(*ZOOM.start(), *ZOOM.end());
            // What is under the pointer stays there.
            let offset = (at - response.rect.center()) / side;
            self.middle += offset * (1.0 / self.zoom - 1.0 / zoom);
            self.zoom = zoom;
        }
        if response.dragged_by(PointerButton::Primary) {
            self.middle -= response.drag_delta() / (side * self.zoom);
        }
        self.middle = self.middle.clamp(Vec2::ZERO, Vec2::splat(1.0));
        if self.zoom <= *ZOOM.start() {
            self.middle = vec2(0.5, 0.5);
        }
    }

    /// The frame in which all points fit, seen as closely as was chosen.
    fn frame(&self, positions: &[[f32; 2]], rect: Rect) -> Frame {
        let bounds = |axis: usize| {
            let values = positions.iter().map(|position| position[axis]);
            let (low, high) = values.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), at| {
                (low.min(at), high.max(at))
            });
            if low <= high { [low, high] } else { [0.0, 1.0] }
        };
        let [[left, right], [bottom, top]] = [bounds(0), bounds(1)];
        let span = vec2((right - left).max(1e-6), (top - bottom).max(1e-6));
        let room = rect.shrink(MARGIN).size();
        let fitting = (room.x / span.x).min(room.y / span.y);
        let scale = fitting * self.zoom;
        let side = rect.size().min_elem();
        let shift = (vec2(0.5, 0.5) - self.middle) * side * self.zoom;
        let origin = rect.center() + shift + vec2(-span.x, span.y) * scale / 2.0;
        Frame {
            low: [left, bottom],
            scale,
            origin,
        }
    }

    /// Takes in where the drawing is now.
    fn wander(&mut self, app: &App) {
        let Some((answer, recognition)) = app.draw.recognition() else {
            return self.trail.clear();
        };
        if self.layout != app.map.layout {
            self.layout = app.map.layout;
            self.trail.clear();
        }
        let place = recognition
            .neighborhood
            .as_ref()
            .and_then(|neighborhood| app.map.place(neighborhood));
        let Some(place) = place else { return };
        match self.trail.back_mut() {
            // The points have moved, or there is nothing new.
            Some(last) if self.answer == answer || *last == place => *last = place,
            _ => self.trail.push_back(place),
        }
        self.answer = answer;
        if self.trail.len() > TRAIL {
            self.trail.pop_front();
        }
    }

    /// The drawing under the pen, with the way it came.
    fn pen(&self, ui: &Ui, painter: &Painter, frame: Frame) {
        let palette = style::palette(ui);
        let places: Vec<Pos2> = self.trail.iter().map(|place| frame.at(*place)).collect();
        for (index, pair) in places.windows(2).enumerate() {
            let share = (index + 1) as f32 / places.len() as f32;
            let stroke = Stroke::new(2.5, palette.accent.gamma_multiply(0.15 + 0.7 * share));
            painter.line_segment([pair[0], pair[1]], stroke);
        }
        if let Some(at) = places.last() {
            let inside = painter.clip_rect().shrink(8.0);
            paint_mark(
                painter,
                palette,
                at.clamp(inside.min, inside.max),
                Mark::Pen,
            );
        }
    }

    /// Arrow keys choose the next point in their direction.
    fn choose(&mut self, ui: &Ui, response: &Response, places: &[Pos2]) {
        let middle = response.rect.center();
        choose_by_keys(ui, response, &mut self.chosen, |from, down, right| {
            let first = nearest_to(places, middle, f32::INFINITY).unwrap_or_default();
            let Some((from, start)) = from.and_then(|from| Some((from, *places.get(from)?))) else {
                return first;
            };
            let way = vec2(right as f32, down as f32).normalized();
            let cost = |to: Pos2| {
                let along = (to - start).dot(way);
                let aside = (to - start - way * along).length();
                (along > 2.0).then_some(along + 2.0 * aside)
            };
            let others = places
                .iter()
                .enumerate()
                .filter(|(index, _)| *index != from);
            others
                .filter_map(|(index, to)| Some((index, cost(*to)?)))
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .map_or(from, |(index, _)| index)
        });
    }

    /// The image of a point beside it, with what the model makes of it.
    fn card(
        &mut self,
        ui: &Ui,
        painter: &Painter,
        map: &MapOfDigits,
        (point, at, text): (usize, Pos2, &str),
        within: Rect,
    ) {
        let Some(image) = map.image(point) else {
            return;
        };
        let palette = style::palette(ui);
        let font = TextStyle::Small.resolve(ui.style());
        let text = painter.layout_no_wrap(text.to_owned(), font, palette.ink);
        let side = SIDE as f32 * IMAGE;
        let size = vec2(text.size().x.max(side) + 16.0, side + text.size().y + 20.0);
        let beside = |left: f32, right: f32, size: f32, high: f32| {
            if right + size < high {
                right
            } else {
                left - size
            }
        };
        let corner = pos2(
            beside(at.x - 14.0, at.x + 14.0, size.x, within.right()),
            beside(at.y - 14.0, at.y + 14.0, size.y, within.bottom()),
        );
        let corner = corner.max(within.min + vec2(2.0, 2.0));
        let rect = Rect::from_min_size(corner, size);
        style::floating_box(painter, rect, palette);
        let place = Rect::from_min_size(
            pos2(rect.center().x - side / 2.0, rect.top() + 8.0),
            vec2(side, side),
        );
        let sheet = self
            .image
            .of_images(ui, "point of the map", std::iter::once(image));
        framed(ui, sheet, 0, place);
        painter.galley(
            pos2(rect.left() + 8.0, place.bottom() + 4.0),
            text,
            palette.ink,
        );
    }
}

/// The point nearest to a place, not farther from it than `reach`.
fn nearest_to(places: &[Pos2], at: Pos2, reach: f32) -> Option<usize> {
    let distances = places.iter().map(|place| place.distance(at)).enumerate();
    let nearest = distances.min_by(|a, b| a.1.total_cmp(&b.1));
    nearest
        .filter(|(_, distance)| *distance <= reach)
        .map(|(index, _)| index)
}

/// Paints the mark of a point that is not like the others.
pub fn mark(ui: &Ui, at: Pos2, mark: Mark) {
    paint_mark(ui.painter(), style::palette(ui), at, mark);
}

fn paint_mark(painter: &Painter, palette: Palette, at: Pos2, mark: Mark) {
    match mark {
        Mark::Wrong => drop(painter.circle_stroke(at, 7.5, Stroke::new(1.5, palette.bad))),
        Mark::Own => {
            let rect = Rect::from_center_size(at, vec2(15.0, 15.0));
            let stroke = Stroke::new(1.5, palette.ink);
            painter.rect_stroke(rect, 2.0, stroke, StrokeKind::Middle);
        }
        Mark::Pen => {
            painter.circle(at, 8.0, palette.accent, Stroke::new(3.0, palette.paper));
            painter.circle_stroke(at, 9.5, Stroke::new(1.5, palette.accent));
        }
    }
}

/// A mark for each class: its name or what it begins with.
struct Marks {
    galleys: Vec<(Arc<Galley>, Color32)>,
}

impl Marks {
    fn new(ui: &Ui, classes: &Classes) -> Self {
        let size = TextStyle::Small.resolve(ui.style()).size;
        let font = FontId::new(size, style::fonts::semibold());
        let dark = ui.visuals().dark_mode;
        let mark = |class: usize| {
            let color = color(class, classes.len(), dark);
            let name = classes.name(class).chars().take(2).collect();
            (
                ui.painter().layout_no_wrap(name, font.clone(), color),
                color,
            )
        };
        Self {
            galleys: (0..classes.len()).map(mark).collect(),
        }
    }

    fn paint(&self, painter: &Painter, at: Pos2, class: u8) {
        if let Some((galley, color)) = self.galleys.get(usize::from(class)) {
            painter.galley(at - galley.size() / 2.0, Arc::clone(galley), *color);
        }
    }
}

/// The color of a class: hues at equal distances, neighbors far apart.
fn color(class: usize, classes: usize, dark: bool) -> Color32 {
    let steps = if classes == 10 { 3 } else { 1 };
    let hue = (class * steps % classes.max(1)) as f32 / classes.max(1) as f32;
    let (saturation, value) = if dark { (0.65, 0.6) } else { (0.9, 0.2) };
    Hsva::new(hue, saturation, value, 1.0).into()
}
