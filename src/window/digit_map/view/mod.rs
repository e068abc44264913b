//! The map as a level of Inside: what can be chosen above, the points in the middle, and below them
//! what they are and which images are nearest to the drawing.

mod nearest;
mod scatter;

use eframe::egui::{Role, Sense, TextStyle, Ui, vec2};

pub use self::nearest::show as nearest;
use self::scatter::Scatter;
use super::{Layout, MapAction, words};
use crate::ink::Image;
use crate::window::style::icons::Icon;
use crate::window::style::image_sheet::Cached;
use crate::window::{Action, App, style};

/// The height of the nearest images with their labels, in points, and of the lowest map beside them.
const NEAREST: f32 = 126.0;
const LOWEST: f32 = 220.0;

#[derive(Debug, Default)]
pub struct DigitMapView {
    scatter: Scatter,
    nearest: Cached<Vec<Image>>,
}

impl DigitMapView {
    /// Whether a point is chosen.
    pub const fn has_choice(&self) -> bool {
        self.scatter.chosen.is_some()
    }
}

/// Draws the map in the room there is; `beside` draws what stands at the end of the row above it.
pub fn show(
    ui: &mut Ui,
    app: &App,
    view: &mut DigitMapView,
    beside: impl FnOnce(&mut Ui, &mut Vec<Action>),
    actions: &mut Vec<Action>,
) {
    ui.horizontal(|ui| {
        arrangements(ui, app, actions);
        beside(ui, actions);
    });
    let Some(shown) = app.map.shown() else {
        return nothing_yet(ui, app);
    };
    if shown.map.points.is_empty() {
        let title = "There are no images for a map of this model";
        let body = "No labeled images of its classes are at hand. Put its data set where Inkling finds it, or train a model.";
        return style::empty_state(ui, Icon::Inside, title, body, |_| {});
    }
    let small = ui.text_style_height(&TextStyle::Small) + ui.spacing().item_spacing.y;
    let below = 3.0 * small + 4.0;
    let room = ui.available_height() - below;
    let nearest = if room - NEAREST > LOWEST {
        NEAREST
    } else {
        0.0
    };
    let size = vec2(ui.available_width(), (room - nearest).max(120.0));
    view.scatter.show(ui, app, shown, size);
    legend(ui);
    ui.label(style::hint(words::directions(&shown.map, app.map.layout)));
    ui.label(style::hint(words::held_out(&shown.map)));
    if nearest > 0.0 {
        self::nearest(ui, app, &mut view.nearest, nearest - small);
    }
}

fn nothing_yet(ui: &mut Ui, app: &App) {
    if app.map.has_failed() {
        let body = "The images could not be classified; the notice says why. Choose another model to see its map.";
        return style::empty_state(
            ui,
            Icon::Inside,
            "There is no map of this model",
            body,
            |_| {},
        );
    }
    let title = "The map is being drawn";
    let body = "Held-out images are read and classified, which takes a few seconds. Each becomes a point: images that the network finds similar are close together.";
    style::empty_state(ui, Icon::Inside, title, body, style::spinner);
}

/// The choice between the layouts, and how far the second one is.
fn arrangements(ui: &mut Ui, app: &App, actions: &mut Vec<Action>) {
    let mut layout = app.map.layout;
    style::choose(ui, &mut layout, Layout::Components, "Principal components");
    style::choose(ui, &mut layout, Layout::Neighbors, "Neighbors");
    if layout != app.map.layout {
        actions.push(MapAction::Arrange(layout).into());
    }
    if let Some(progress) = app.map.progress() {
        ui.add(style::progress_bar(ui, progress).desired_width(90.0));
    }
}

/// The legend of the marks.
fn legend(ui: &mut Ui) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.label(style::hint("symbol and color: true label"));
        ui.add_space(8.0);
        for (mark, meaning) in scatter::MARKS {
            let side = scatter::MARK;
            let (rect, response) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
            style::describe(&response, Role::Image, "Mark", meaning);
            scatter::mark(ui, rect.center(), mark);
            ui.label(style::hint(meaning));
            ui.add_space(8.0);
        }
        ui.label(style::hint(
            "Scroll to zoom, drag to move, double-click to see all",
        ));
    });
}
