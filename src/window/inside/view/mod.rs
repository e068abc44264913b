//! The Inside screen: the canvas on the left, and on the right the network, a layer, a unit or one
//! number.

mod heads;
mod map;
mod maps;
mod network;
mod number;
mod single_step;
mod strip;
pub mod timeline;
mod unit;

use eframe::egui::{Align, InputState, Key, Layout, Modifiers, Role, Ui, WidgetInfo, vec2};

use self::maps::Atlas;
pub use self::maps::LayerMaps;
pub use self::strip::show as strip;
use super::words;
use crate::records::{Inspection, ModelRef};
use crate::run_config::ModelKind;
use crate::window::digit_map::view::{self as digit_map, DigitMapView};
use crate::window::draw::view as draw;
use crate::window::frame::Views;
use crate::window::style::icons::Icon;
use crate::window::{Action, App, InsideAction, Level, Pushes as _, Screen, style};

/// The width of the column with the canvas, of the screen's, and its limits in points.
const CANVAS: f32 = 0.26;
const CANVAS_WIDTH: std::ops::RangeInclusive<f32> = 210.0..=360.0;
/// How far the wheel turns, in points, to go back.
const WHEEL: f32 = 60.0;

#[derive(Debug, Default)]
pub struct InsideView {
    /// The maps of all layers.
    maps: LayerMaps,
    /// The parts that are shown of the unit that is open.
    unit: Atlas,
    timeline: timeline::TimelineView,
    map: DigitMapView,
    /// How far the wheel was turned since something was opened.
    wheel: f32,
}

/// The feature maps that are shown, and the answer that they belong to.
#[derive(Clone, Copy)]
struct Shown<'a> {
    app: &'a App,
    inspection: &'a Inspection,
    version: u64,
}

pub(in crate::window) fn show(
    ui: &mut Ui,
    app: &App,
    views: &mut Views,
    actions: &mut Vec<Action>,
) {
    let room = ui.available_size();
    let width = (room.x * CANVAS).clamp(*CANVAS_WIDTH.start(), *CANVAS_WIDTH.end());
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        let column = Layout::top_down(Align::Min);
        ui.allocate_ui_with_layout(vec2(width.floor(), room.y), column, |ui| {
            ui.spacing_mut().item_spacing.x = style::GAP / 2.0;
            draw::show_compact(ui, app, &mut views.draw, room.y, 0.0, actions);
        });
        ui.add_space(style::GAP * 1.5);
        let rest = vec2(ui.available_width(), room.y);
        ui.allocate_ui_with_layout(rest, column, |ui| {
            ui.spacing_mut().item_spacing.x = style::GAP / 2.0;
            network(ui, app, &mut views.inside, actions);
        });
    });
}

fn network(ui: &mut Ui, app: &App, view: &mut InsideView, actions: &mut Vec<Action>) {
    let run = app.run_in_use();
    if let Some(run) = run {
        timeline::bar(ui, app, run, &mut view.timeline, actions);
    }
    match (app.ctx.inside, run) {
        (Level::Timeline, Some(run)) => {
            back(ui, Level::Timeline, view, actions);
            return timeline::table(ui, app, run, &mut view.timeline, actions);
        }
        // Nothing was kept of the run of another model.
        (Level::Timeline, None) => actions.push(InsideAction::Back.into()),
        _ => {}
    }
    if app.ctx.inside == Level::Map {
        return map_of_digits(ui, app, view, actions);
    }
    let inspection = match app.draw.inspection() {
        Some((version, inspection)) => Shown {
            app,
            inspection,
            version,
        },
        None => return nothing_to_see(ui, app, actions),
    };
    // Another network may have fewer layers.
    let layers = &inspection.inspection.layers;
    let has_no_maps = |layer: usize| layers.get(layer).is_none_or(|it| it.values.is_empty());
    let level = match app.ctx.inside {
        Level::Layer(layer) if has_no_maps(layer) => Level::Network,
        Level::Unit { .. } | Level::Number { .. } if inspection.inspection.unit.is_none() => {
            // It comes with the next answer, if there is such a unit.
            if !app.draw.is_behind(&app.ctx) {
                actions.push(InsideAction::Open(Level::Network).into());
            }
            Level::Network
        }
        level => level,
    };
    breadcrumb(ui, inspection, level, actions);
    back(ui, level, view, actions);
    match level {
        Level::Network | Level::Map | Level::Timeline => {
            network::show(ui, inspection, None, &mut view.maps, actions);
        }
        Level::Layer(layer) => {
            network::show(ui, inspection, Some(layer), &mut view.maps, actions);
        }
        Level::Unit { .. } | Level::Number { .. } => {
            let open = (&mut view.unit, &mut view.wheel);
            unit::show(ui, inspection, level, open, actions);
        }
    }
}

/// The map in the place of the layers. Escape leads back from it, once no point is chosen.
fn map_of_digits(ui: &mut Ui, app: &App, view: &mut InsideView, actions: &mut Vec<Action>) {
    let had_choice = view.map.has_choice();
    digit_map::show(
        ui,
        app,
        &mut view.map,
        |ui, actions| views_without_run(ui, app, actions),
        actions,
    );
    let is_in_front = ui.memory(|memory| memory.top_modal_layer().is_none());
    if is_in_front
        && !had_choice
        && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape))
    {
        actions.push(InsideAction::Back.into());
    }
}

/// The choice between the layers for one drawing, the map of many, and the run, if there is one, at
/// the right end of a row.
fn views(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let all = [
        (
            Level::Timeline,
            "During training",
            "What the network made of the same images at several steps of its run",
        ),
        (
            Level::Map,
            "Map of digits",
            "What the last hidden layer makes of many images, as points: those that the network finds similar are close together",
        ),
        (
            Level::Network,
            "Layers",
            "What each layer makes of your drawing",
        ),
    ];
    let has_run = app.run_in_use().is_some();
    let shown = match app.ctx.inside {
        level @ (Level::Map | Level::Timeline) => level,
        _ => Level::Network,
    };
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for (level, name, about) in all {
            if level == Level::Timeline && !has_run {
                continue;
            }
            let chosen = level == shown;
            let button = ui.add(style::toggle(name, chosen));
            button.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, name));
            if button.on_hover_text(about).clicked() && !chosen {
                actions.push(InsideAction::Open(level).into());
            }
        }
    });
}

/// The same, unless there is a run: with one, the choice is beside its slider.
fn views_without_run(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.run_in_use().is_none() {
        views(ui, app, actions);
    }
}

/// Instructions, before anything is drawn or with a model that has no layers of one network.
fn nothing_to_see(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    if app.run_in_use().is_none() {
        ui.horizontal(|ui| views(ui, app, actions));
    }
    let Some(why_not) = why_not(app) else {
        let title = format!("Draw {} on the left", app.ctx.classes().one());
        let body = "You will see what every layer of the network makes of it while you draw. Click anything to look closer, down to a single number.";
        return style::empty_state(ui, Icon::Inside, &title, body, |_| {});
    };
    let title = "This model cannot be looked into";
    style::empty_state(ui, Icon::Inside, title, why_not, |ui| {
        ui.add(style::secondary_button("Choose a model"))
            .pushes(actions, || Action::Show(Screen::Models));
    });
}

fn why_not(app: &App) -> Option<&'static str> {
    let model = app.ctx.model_in_use.as_ref()?;
    if matches!(model.reference, ModelRef::Ensemble(_)) {
        return Some("It is the mean of several networks. Choose one of them to look into it.");
    }
    (model.network.model() == ModelKind::Onnx).then_some(
        "It is an imported ONNX file: a graph of operations, of which Inkling knows the result but not the layers. Choose another model to look into.",
    )
}

/// The way from the network to what is shown, with a button for each part of it.
fn breadcrumb(ui: &mut Ui, shown: Shown<'_>, level: Level, actions: &mut Vec<Action>) {
    let mut levels = vec![level];
    while let Some(outer) = levels.last().and_then(|level| level.outer()) {
        levels.push(outer);
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        let button = ui.add_enabled(level != Level::Network, style::icon_button(Icon::Back));
        button.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Back"));
        button
            .on_hover_text("Back one level (Escape, or the wheel on a map)")
            .pushes(actions, || InsideAction::Back);
        for (index, part) in levels.into_iter().rev().enumerate() {
            if index > 0 {
                ui.label(style::hint("›"));
            }
            let name = name(shown, part);
            if part == level {
                ui.add_space(ui.spacing().button_padding.x);
                style::semibold(ui, name);
            } else {
                let button = ui.add(style::quiet_button(name));
                button.pushes(actions, || InsideAction::Open(part));
            }
        }
        if level == Level::Network {
            views_without_run(ui, shown.app, actions);
        }
    });
}

/// The name of a level.
fn name(shown: Shown<'_>, level: Level) -> String {
    let inspection = shown.inspection;
    let layer_of = |layer: usize| inspection.layers.get(layer);
    match level {
        Level::Timeline => "During training".to_owned(),
        Level::Network | Level::Map => shown
            .app
            .ctx
            .model_in_use
            .as_ref()
            .map_or_else(|| "Network".to_owned(), |model| model.network.label()),
        Level::Layer(layer) => layer_of(layer).map_or_else(String::new, |layer| {
            let kind = words::kind(layer.kind);
            if layer.parameters > 0 {
                format!("{kind} {}", layer.name)
            } else {
                kind.to_owned()
            }
        }),
        Level::Unit { layer, unit } => {
            words::unit(inspection, layer, unit, &shown.app.ctx.classes())
        }
        Level::Number { layer, place, .. } => {
            let side = layer_of(layer).map_or(1, |layer| layer.side);
            if side > 1 {
                words::place(side, place)
            } else {
                "Number".to_owned()
            }
        }
    }
}

/// Goes back by Escape, and by the wheel with Ctrl or a pinch.
fn back(ui: &Ui, level: Level, view: &mut InsideView, actions: &mut Vec<Action>) {
    if level == Level::Network || ui.memory(|memory| memory.top_modal_layer().is_some()) {
        view.wheel = 0.0;
        return;
    }
    let escaped = ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    let zoom = ui.input(InputState::zoom_delta);
    view.wheel += if zoom < 1.0 {
        WHEEL * (1.0 - zoom) * 8.0
    } else {
        0.0
    };
    if escaped || view.wheel >= WHEEL {
        view.wheel = 0.0;
        actions.push(InsideAction::Back.into());
    }
}
