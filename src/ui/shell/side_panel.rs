//! The panel beside the plots: the canvas and the held-out images. It can be folded away.

use eframe::egui::{Panel, Rect, ScrollArea, Ui, pos2, vec2};

use crate::app::{Action, App};
use crate::ui::window::Views;
use crate::ui::{draw, learning, style};

/// From this width of the window, in points, there is room for the panel.
const MIN_WINDOW: f32 = 1100.0;
/// Its smallest and largest width, in points.
const WIDTH: std::ops::RangeInclusive<f32> = 300.0..=420.0;
/// Its width when folded away, in points.
const FOLDED: f32 = 48.0;

/// Draws the panel in a window of this `width`, if there is room.
pub fn show(ui: &mut Ui, app: &App, views: &mut Views, width: f32, actions: &mut Vec<Action>) {
    if width < MIN_WINDOW {
        return;
    }
    if !app.settings.side_panel {
        let frame = style::side_frame(ui).inner_margin(10);
        Panel::right("folded side panel").frame(frame).exact_size(FOLDED).resizable(false).show(ui, |ui| {
            let about = "Show the canvas and the held-out images";
            if ui.add(style::small_button("«")).on_hover_text(about).accessible_name("Show side panel").clicked() {
                actions.push(Action::ShowSidePanel(true));
            }
        });
        return;
    }
    let beside = (width * 0.22).clamp(*WIDTH.start(), *WIDTH.end());
    Panel::right("side panel").frame(style::side_frame(ui)).exact_size(beside).resizable(false).show(ui, |ui| {
        let room = ui.available_size();
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            fold(ui, actions);
            draw::show_compact(ui, app, &mut views.draw, room.y - learning::height(ui, room.x), actions);
            learning::show(ui, app, &mut views.learning);
        });
    });
}

/// The button that folds the panel away, in its upper right corner.
fn fold(ui: &mut Ui, actions: &mut Vec<Action>) {
    let size = vec2(28.0, ui.spacing().interact_size.y);
    let place = Rect::from_min_size(pos2(ui.max_rect().right() - size.x, ui.cursor().top()), size);
    let mut child = ui.new_child(eframe::egui::UiBuilder::new().max_rect(place));
    let about = "Fold away the canvas and the held-out images";
    if child.add(style::small_button("»").min_size(size)).on_hover_text(about).accessible_name("Hide side panel").clicked() {
        actions.push(Action::ShowSidePanel(false));
    }
}
