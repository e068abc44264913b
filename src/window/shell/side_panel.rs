//! The panel beside the plots: the canvas and the validation images. It can be folded away; in a
//! window that is too narrow for all three it takes the place of the plots while it is unfolded.

use std::f32::consts::FRAC_PI_2;

use eframe::egui::epaint::TextShape;
use eframe::egui::{
    Align, FontSelection, Layout, Panel, Rect, RichText, ScrollArea, Sense, Ui, UiBuilder,
    WidgetText, pos2, vec2,
};

use super::shortcuts;
use crate::window::draw::view as draw;
use crate::window::frame::Views;
use crate::window::train::view::learning;
use crate::window::{Action, App, style};

/// From this width of the window, in points, the panel is beside the plots.
const BESIDE_PLOTS: f32 = 1100.0;
/// Its smallest and largest width beside them, in points.
const WIDTH: std::ops::RangeInclusive<f32> = 300.0..=420.0;
/// Its width when folded away, in points.
const FOLDED: f32 = 40.0;
/// The size of the buttons that fold and unfold it, in points.
const BUTTON: f32 = 28.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Folded,
    Beside,
    InsteadOfPlots,
}

/// Draws the panel in a window of this `width`, unless it takes the place of the plots.
pub fn show(
    ui: &mut Ui,
    app: &App,
    views: &mut Views,
    width: f32,
    actions: &mut Vec<Action>,
) -> Shown {
    let narrow = width < BESIDE_PLOTS;
    let toggled = ui.input_mut(|input| input.consume_shortcut(&shortcuts::SIDE_PANEL));
    if narrow {
        views.panel_over_plots ^= toggled;
        if views.panel_over_plots {
            return Shown::InsteadOfPlots;
        }
    } else if toggled {
        actions.push(Action::ShowSidePanel(!app.ctx.settings.side_panel));
    }
    if narrow || !app.ctx.settings.side_panel {
        if folded(ui) {
            if narrow {
                views.panel_over_plots = true;
            } else {
                actions.push(Action::ShowSidePanel(true));
            }
        }
        return Shown::Folded;
    }
    let beside = (width * 0.22).clamp(*WIDTH.start(), *WIDTH.end());
    Panel::right("side panel")
        .frame(style::side_frame(ui))
        .exact_size(beside)
        .resizable(false)
        .show(ui, |ui| {
            let room = ui.available_size();
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                if fold(ui, "Hide the canvas and the validation images") {
                    actions.push(Action::ShowSidePanel(false));
                }
                let spare = BUTTON + ui.spacing().item_spacing.x;
                let height = room.y - learning::least_height(ui);
                draw::show_compact(ui, app, &mut views.draw, height, spare, actions);
                let left = room.y - ui.min_rect().height() - ui.spacing().item_spacing.y;
                learning::show(ui, app, &mut views.learning, left, actions);
            });
        });
    Shown::Beside
}

/// Draws the panel in the place of the plots: the canvas and the validation images beside each
/// other.
pub fn show_instead_of_plots(ui: &mut Ui, app: &App, views: &mut Views, actions: &mut Vec<Action>) {
    let room = ui.available_size();
    let column = ((room.x - BUTTON) / 2.0 - style::GAP).floor();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        if fold(ui, "Show the plots again") {
            views.panel_over_plots = false;
        }
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            let columns = Layout::top_down(Align::Min);
            ui.allocate_ui_with_layout(vec2(column, room.y), columns, |ui| {
                ui.spacing_mut().item_spacing.x = style::GAP / 2.0;
                draw::show_compact(ui, app, &mut views.draw, room.y, 0.0, actions);
            });
            ui.add_space(style::GAP);
            ui.allocate_ui_with_layout(vec2(column, room.y), columns, |ui| {
                ui.spacing_mut().item_spacing.x = style::GAP / 2.0;
                learning::show(ui, app, &mut views.learning, room.y, actions);
            });
        });
    });
}

/// The strip that is left of the panel; true when it is to be unfolded.
fn folded(ui: &mut Ui) -> bool {
    let frame = style::side_frame(ui).inner_margin(6);
    let keys = ui.ctx().format_shortcut(&shortcuts::SIDE_PANEL);
    let strip = Panel::right("folded side panel")
        .frame(frame)
        .exact_size(FOLDED)
        .resizable(false)
        .show(ui, |ui| {
            let about = format!("Show the canvas and the validation images ({keys})");
            let button = ui
                .add(style::small_button("«").min_size(vec2(BUTTON, BUTTON)))
                .on_hover_text(&about)
                .accessible_name("Show side panel");
            // What is behind the button, written along the strip; a click on that unfolds it as
            // well.
            let text = WidgetText::from(
                RichText::new("Canvas and images").color(style::palette(ui).faded),
            );
            let galley = text.into_galley(ui, None, f32::INFINITY, FontSelection::Default);
            let (rect, words) =
                ui.allocate_exact_size(vec2(BUTTON, galley.size().x + 8.0), Sense::CLICK);
            let at = pos2(rect.center().x + galley.size().y / 2.0, rect.top() + 4.0);
            ui.painter()
                .add(TextShape::new(at, galley, style::palette(ui).faded).with_angle(FRAC_PI_2));
            button.clicked() || words.on_hover_text(about).clicked()
        });
    strip.inner
}

/// The button that folds the panel away, in its upper right corner; true when it is clicked.
fn fold(ui: &mut Ui, about: &str) -> bool {
    let size = vec2(BUTTON, ui.spacing().interact_size.y);
    let place = Rect::from_min_size(
        pos2(ui.max_rect().right() - size.x, ui.cursor().top()),
        size,
    );
    let mut child = ui.new_child(UiBuilder::new().max_rect(place));
    let about = format!(
        "{about} ({})",
        ui.ctx().format_shortcut(&shortcuts::SIDE_PANEL)
    );
    child
        .add(style::small_button("»").min_size(size))
        .on_hover_text(about)
        .accessible_name("Hide side panel")
        .clicked()
}
