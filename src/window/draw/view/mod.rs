//! The Draw screen: the canvas on one side, the model's prediction on the other. The engine
//! classifies; [`App`] holds its answer.

pub mod bars;
pub mod canvas;
pub mod ink;
pub mod keep;
mod number;
mod pen;
mod steps;
pub mod tools;
mod verdict;
mod why;

use eframe::egui::{
    self, Align, Context, Label, Layout, Rect, RichText, Role, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use crate::ink::Image;
use crate::records::ModelRef;
use crate::text::format::capitalized;
use crate::window::digit_map::view as digit_map;
use crate::window::inside::view as inside;
use crate::window::style::image_sheet::Cached;
use crate::window::{Action, App, CANVAS, Canvas, DrawAction, Pushes as _, WIDE_CANVAS, style};

/// Up to this height, in points, there is no room for feature maps, and explanations take the place
/// of the device and of what can be kept.
const LOW: f32 = 620.0;
/// The height of an explanation with its tools, in points.
const EXPLANATION: f32 = 170.0;
/// The height of the bars in the narrow column, in points.
const COMPACT_BARS: f32 = 60.0;

#[derive(Debug, Default)]
pub struct DrawView {
    canvas: canvas::CanvasView,
    /// The model's input.
    input: Cached<Vec<Image>>,
    recent: Cached<Vec<Image>>,
    digits: Cached<Vec<Image>>,
    steps: steps::StepsView,
    image: canvas::ImageView,
    why: why::WhyView,
    nearest: Cached<Vec<Image>>,
    maps: inside::LayerMaps,
}

impl DrawView {
    /// Actions of the pointer on the canvas, applied before the frame is laid out.
    pub fn follow_pointer(&mut self, ctx: &Context, app: &App, actions: &mut Vec<Action>) {
        self.canvas.follow_pointer(ctx, app, actions);
    }
}

pub fn show(ui: &mut Ui, app: &App, view: &mut DrawView, actions: &mut Vec<Action>) {
    tools::shortcuts(ui, app, actions);
    let arrangement = Arrangement::of(ui.available_size(), app.ctx.draws_several(), ui);
    let height = arrangement.height;
    let column = Layout::top_down(Align::Min);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        ui.add_space(arrangement.left);
        ui.allocate_ui_with_layout(vec2(arrangement.canvas.x, height), column, |ui| {
            ui.spacing_mut().item_spacing.x = style::GAP / 2.0;
            tools::show(ui, app, false, actions);
            let size = arrangement.canvas;
            if let Some(image) = app.draw.image_shown(&app.ctx) {
                let rect = canvas::image(ui, app, image, &mut view.image, size, actions);
                let scale = rect.width() / image.source.size()[0] as f32;
                view.why.paint_over_image(ui, app, rect, scale);
                number::boxes(ui, app, rect, scale, 0.0);
            } else {
                let drawing = app.draw.drawing_shown(&app.ctx);
                let why = Some(&mut view.why);
                let shown =
                    canvas::show(ui, app, drawing, (&mut view.canvas, why), size.x, actions);
                if !app.ctx.draws_several() {
                    return keep::shortcuts(ui, app, shown.has_focus(), actions);
                }
                let scale = shown.rect.height() / drawing.size()[1];
                number::boxes(ui, app, shown.rect, scale, drawing.pen * scale / 2.0);
            }
            if app.ctx.draws_several() {
                number::digits(ui, app, &mut view.digits, actions);
            }
        });
        ui.add_space(Arrangement::GAP);
        ui.allocate_ui_with_layout(vec2(arrangement.column, height), column, |ui| {
            ui.spacing_mut().item_spacing.x = style::GAP / 2.0;
            prediction_column(ui, app, view, height, actions);
        });
        if let Some(width) = arrangement.recent {
            ui.add_space(Arrangement::GAP);
            ui.allocate_ui_with_layout(vec2(width, height), column, |ui| {
                keep::recent(ui, app, &mut view.recent, actions);
            });
        }
    });
}

/// Where notices cover neither the canvas nor a control, at the lower end: the column beside the
/// canvas. `content` is the whole screen's place.
pub fn place_for_notices(content: Rect, app: &App, ui: &Ui) -> Rect {
    Arrangement::of(content.size(), app.ctx.draws_several(), ui).column_in(content)
}

/// Canvas, verdict and bars in a narrow column beside the plots, at most `height` points high where
/// that leaves a canvas to draw on. The tools leave so much space free at the right end of their
/// row.
pub fn show_compact(
    ui: &mut Ui,
    app: &App,
    view: &mut DrawView,
    height: f32,
    free: f32,
    actions: &mut Vec<Action>,
) {
    tools::shortcuts(ui, app, actions);
    let reading = app.draw.prediction();
    let side = ui
        .available_width()
        .min(height - compact_height(ui, 0.0))
        .clamp(120.0, 480.0)
        .floor();
    ui.scope(|ui| {
        ui.set_max_width(ui.available_width() - free);
        tools::show(ui, app, true, actions);
    });
    let drawing = &app.draw.one;
    canvas::show(ui, app, drawing, (&mut view.canvas, None), side, actions);
    verdict::verdict(ui, reading, &app.ctx.classes(), style::VERDICT_SMALL);
    bars::vertical(ui, reading, &app.ctx.classes(), COMPACT_BARS);
    if let Some(reader) = &app.ctx.model_in_use {
        let line = capitalized(&crate::window::verdict::model_sentence(
            reader,
            app.train.run.as_ref(),
        ));
        ui.add(Label::new(RichText::new(line).weak().small()).truncate());
    }
}

/// The height of a narrow column with a canvas of this `side`, in points.
pub fn compact_height(ui: &Ui, side: f32) -> f32 {
    side + style::VERDICT_SMALL * 1.25 + COMPACT_BARS + 3.0 * ui.spacing().interact_size.y
}

/// What can be chosen above, and below it, where notices may cover it for a while, what the model
/// makes of the drawing.
fn prediction_column(
    ui: &mut Ui,
    app: &App,
    view: &mut DrawView,
    height: f32,
    actions: &mut Vec<Action>,
) {
    let reading = app.draw.prediction_shown(&app.ctx);
    let canvas = app.draw.canvas(&app.ctx);
    let shows_nearest = app.draw.nearest_shown && canvas == Canvas::One;
    let explains = app.draw.why.shown || shows_nearest;
    let explains_in_little_room = explains && height < LOW;
    verdict::model_choice(ui, app, actions);
    if !explains_in_little_room && !inside::timeline::back_to_end(ui, app, actions) {
        verdict::device(ui, app, actions);
    }
    let largest = (ui.available_width() * 0.3).max(*style::VERDICT_LARGE.start());
    let size = (height * 0.155)
        .min(largest)
        .clamp(*style::VERDICT_LARGE.start(), *style::VERDICT_LARGE.end());
    let is_ensemble = app
        .ctx
        .model_in_use
        .as_ref()
        .is_some_and(|model| matches!(model.reference, ModelRef::Ensemble(_)));
    // The verdict leaves room for the line on the uncertainty and for explanations, which the
    // lowest window would not have otherwise.
    let size = if is_ensemble || explains_in_little_room {
        size - ui.text_style_height(&egui::TextStyle::Body)
    } else {
        size
    };
    match &app.ctx.collection {
        Some(collection) => keep::prompt(ui, collection, reading, size),
        None if canvas == Canvas::Image && app.draw.digits(&app.ctx).is_empty() => {
            ui.label(RichText::new("No digit was found in this image").weak());
        }
        None if app.ctx.draws_several() || app.draw.digits(&app.ctx).len() > 1 => {
            number::verdict(ui, app, size);
        }
        None => match app
            .my_digits
            .just_kept(&app.draw)
            .filter(|_| canvas == Canvas::One)
        {
            Some(digit) => keep::kept(ui, digit, size, actions),
            None => verdict::verdict(ui, reading, &app.ctx.classes(), size),
        },
    }
    if canvas == Canvas::One && !explains_in_little_room {
        keep::row(ui, app, actions);
    }
    if app.ctx.settings.steps_shown {
        return steps::show(ui, app, view, actions);
    }
    if is_ensemble {
        verdict::uncertainty(ui, reading);
    }
    // Two points to a pixel of the image in the lowest window.
    let tools = if height < LOW { 84.0 } else { 98.0 };
    let least = if explains { EXPLANATION } else { 56.0 };
    let input = ((height - 525.0) * 0.3 + tools).clamp(least, 392.0);
    let room = ui.available_height() - input - style::GAP - 2.0 * ui.spacing().item_spacing.y;
    let explained = reading.filter(|_| app.draw.why.shown);
    let explained = explained.map(|reading| app.draw.why.of(reading));
    let chosen = ui
        .scope(|ui| bars::horizontal(ui, reading, &app.ctx.classes(), room, explained))
        .inner;
    if let Some(class) = chosen {
        actions.push(DrawAction::ExplainClass(Some(class)).into());
    }
    ui.add_space(style::GAP / 2.0);
    if explains {
        ui.horizontal(|ui| toggles(ui, app, &mut view.steps, actions));
        if shows_nearest {
            let room = ui.available_height();
            return digit_map::nearest(ui, app, &mut view.nearest, room);
        }
        return style::scroll(ui, "why", |ui| why::panel(ui, app, &view.why, actions));
    }
    if height < LOW {
        ui.horizontal_top(|ui| {
            verdict::model_input(ui, &mut view.input, reading, input);
            ui.add_space(style::GAP / 2.0);
            ui.horizontal_wrapped(|ui| {
                toggles(ui, app, &mut view.steps, actions);
                steps::image_tools(ui, app, actions);
            });
        });
        return;
    }
    ui.horizontal(|ui| {
        toggles(ui, app, &mut view.steps, actions);
        steps::image_tools(ui, app, actions);
    });
    let side = input - ui.spacing().interact_size.y - ui.spacing().item_spacing.y;
    ui.horizontal_top(|ui| {
        verdict::model_input(ui, &mut view.input, reading, side);
        ui.add_space(style::GAP / 2.0);
        if canvas == Canvas::One {
            let size = vec2(ui.available_width(), side);
            inside::strip(ui, app, &mut view.maps, size, actions);
        }
    });
}

/// Panels that can be shown in the place of the model's input.
fn toggles(ui: &mut Ui, app: &App, steps: &mut steps::StepsView, actions: &mut Vec<Action>) {
    steps::header(ui, app, steps, actions);
    why::toggle(ui, app, actions);
    if app.draw.canvas(&app.ctx) == Canvas::One {
        nearest_toggle(ui, app, actions);
    }
}

/// The button that shows the images nearest to the drawing, or folds them away.
fn nearest_toggle(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let shown = app.draw.nearest_shown;
    let button = ui.add(style::toggle("Nearest", shown));
    button.widget_info(|| WidgetInfo::selected(Role::Button, true, shown, "Nearest"));
    button
        .on_hover_text("The training images that the model sees as most like your drawing")
        .pushes(actions, || DrawAction::ShowNearest(!shown));
}

/// The canvas's smallest and largest side, in points: larger ones are tiring to draw on.
const CANVAS_SIDE: std::ops::RangeInclusive<f32> = 160.0..=1800.0;
/// The least height for the digits below the canvas for several, in points.
const BELOW: f32 = 170.0;
/// The narrowest column beside the canvas, and the widest in a window up to [`WIDE`], in points.
const COLUMN: [f32; 2] = [280.0, 460.0];
/// From this width on, in points, the column grows with the window.
const WIDE: f32 = 1700.0;
/// Smallest and largest width of the recent drawings, in points.
const RECENT: std::ops::RangeInclusive<f32> = 260.0..=1000.0;

/// The sizes of the parts, in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrangement {
    pub canvas: Vec2,
    pub height: f32,
    /// The height of the tools above it.
    pub tools: f32,
    /// The width of the column beside it.
    pub column: f32,
    pub recent: Option<f32>,
    /// The empty space to the left of all that.
    pub left: f32,
}

impl Arrangement {
    /// The space between two parts, in points.
    pub const GAP: f32 = style::GAP * 2.0;

    /// The sizes in a room of this size, for one digit or `several`.
    pub fn of(room: Vec2, several: bool, ui: &Ui) -> Self {
        let tools = ui.spacing().interact_size.y + ui.spacing().item_spacing.y * 2.0;
        let widest = COLUMN[1] + (room.x - WIDE).max(0.0) * 0.13;
        let column = (room.x * 0.36).clamp(COLUMN[0], widest).floor();
        let beside = room.x - column - Self::GAP;
        let (shape, below) = if several {
            (WIDE_CANVAS / CANVAS, BELOW)
        } else {
            (1.0, 0.0)
        };
        let width = beside
            .min((room.y - tools - below) * shape)
            .clamp(*CANVAS_SIDE.start(), *CANVAS_SIDE.end())
            .floor();
        let spare = beside - width;
        let recent = Some((spare - Self::GAP).min(*RECENT.end()))
            .filter(|width| !several && width >= RECENT.start());
        let unused = spare - recent.map_or(0.0, |width| width + Self::GAP);
        Self {
            canvas: vec2(width, width / shape),
            height: if several { room.y } else { width + tools },
            tools,
            column,
            recent,
            left: (unused / 2.0).max(0.0).floor(),
        }
    }

    /// The column beside the canvas, in this part of the window.
    pub fn column_in(&self, content: Rect) -> Rect {
        let left = content.left() + self.left + self.canvas.x + Self::GAP;
        Rect::from_min_size(pos2(left, content.top()), vec2(self.column, self.height))
    }
}
