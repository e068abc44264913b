//! The frame around every screen: which panels are shown where, depending on the window's width; the
//! notices over it, and files that are dragged onto it.

pub mod bars;
pub mod dialogs;
pub mod help;
pub mod shortcuts;
pub mod side_panel;

use std::path::PathBuf;

use eframe::egui::{
    Align, Align2, Area, CentralPanel, Frame, Id, Label, LayerId, Layout, Margin, Order, Panel,
    Rect, RichText, Stroke, StrokeKind, TextStyle, Ui, vec2,
};

use self::side_panel::Shown;
use crate::problem::Message;
use crate::text::visible;
use crate::window::draw::view as draw;
use crate::window::frame::Views;
use crate::window::hardware::view as hardware;
use crate::window::hardware::view::monitor;
use crate::window::inside::view as inside;
use crate::window::lessons::view as lessons;
use crate::window::models::view as models;
use crate::window::my_digits::view as my_digits;
use crate::window::results::view as results;
use crate::window::style::SemiBold as _;
use crate::window::style::{self, icons};
use crate::window::sweeps::view as sweep;
use crate::window::train::view as run_panel;
use crate::window::{Action, App, Dropped, Notice, Pushes as _, Screen, Severity, plots};

/// The run panel's width, in points.
const RUN_PANEL: f32 = 316.0;

/// Draws the chosen screen and everything around it.
pub fn show(ui: &mut Ui, app: &App, views: &mut Views, actions: &mut Vec<Action>) {
    Panel::top("top bar")
        .frame(style::bar_frame(ui))
        .show(ui, |ui| bars::top_bar(ui, app, views, actions));
    Panel::bottom("status bar")
        .frame(style::bar_frame(ui))
        .show(ui, |ui| bars::status_bar(ui, app, actions));
    if app.ctx.monitor_is_shown() {
        Panel::bottom("monitor")
            .frame(style::bar_frame(ui))
            .show(ui, |ui| monitor::show(ui, app));
    }
    lessons::panel(ui, app, actions);
    let width = ui.available_width();
    let screen = ui.available_rect_before_wrap();
    let mut side_panel = Shown::Folded;
    if app.ctx.screen == Screen::Train {
        Panel::left("run")
            .frame(style::side_frame(ui))
            .exact_size(RUN_PANEL)
            .resizable(false)
            .show(ui, |ui| run_panel::show(ui, app, actions));
        side_panel = side_panel::show(ui, app, views, width, actions);
    }
    CentralPanel::no_frame()
        .frame(style::screen_frame())
        .show(ui, |ui| match app.ctx.screen {
            Screen::Train if side_panel == Shown::InsteadOfPlots => {
                side_panel::show_instead_of_plots(ui, app, views, actions);
            }
            Screen::Train => {
                if !app.train.shows_next_run() {
                    run_panel::controls::interrupted(ui, app, actions);
                }
                plots::show(ui, app, &mut views.plots, actions);
            }
            Screen::Sweep => sweep::show(ui, app, &mut views.sweep, actions),
            Screen::Draw => draw::show(ui, app, &mut views.draw, actions),
            Screen::Inside => inside::show(ui, app, views, actions),
            Screen::Models => models::show(ui, app, &mut views.models, actions),
            Screen::Results => results::show(ui, app, &mut views.results, actions),
            Screen::Hardware => hardware::show(ui, app, actions),
            Screen::Lessons => lessons::show(ui, app, actions),
            Screen::MyDigits => my_digits::show(ui, app, &mut views.my_digits, actions),
        });
    let place = if app.ctx.screen == Screen::Draw {
        draw::place_for_notices(screen.shrink2(style::SCREEN_MARGIN), app, ui)
    } else {
        screen
    };
    notices(ui, place, app, actions);
}

/// A card's greatest width, and its distance from the edges of the screen, in points.
const WIDTH: f32 = 460.0;
const DISTANCE: f32 = 12.0;

/// Draws them in the lower right corner of this part of the screen, the newest at the bottom; below
/// dialogs, which want an answer first.
pub fn notices(ui: &Ui, place: Rect, app: &App, actions: &mut Vec<Action>) {
    if app.ctx.notices.is_empty() {
        return;
    }
    let corner = place.right_bottom() - vec2(DISTANCE, DISTANCE);
    let area = Area::new(Id::unique("notices"))
        .order(Order::Middle)
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(corner)
        .constrain_to(place);
    area.show(ui.ctx(), |ui| {
        ui.set_width(WIDTH.min(place.width() - 2.0 * DISTANCE));
        for notice in &app.ctx.notices {
            card(ui, notice, actions);
        }
    });
}

fn card(ui: &mut Ui, notice: &Notice, actions: &mut Vec<Action>) {
    let palette = style::palette(ui);
    let (sign, color) = match notice.severity {
        Severity::Info => (icons::Icon::Note, palette.accent),
        Severity::Error => (icons::Icon::Problem, palette.bad),
    };
    let frame = Frame::new()
        .fill(palette.raised)
        .stroke(Stroke::new(1.0, color))
        .corner_radius(style::RADIUS_SMALL)
        .shadow(ui.visuals().popup_shadow)
        .inner_margin(Margin::symmetric(12, 8));
    frame.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            icons::icon(ui, sign);
            ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                ui.button("Dismiss")
                    .pushes(actions, || Action::Dismiss(notice.id));
                if let Some(offer) = &notice.offer
                    && ui.button(offer.label).clicked()
                {
                    actions.push(offer.action.clone());
                }
                ui.with_layout(Layout::top_down(Align::Min), |ui| {
                    ui.spacing_mut().item_spacing.y = 2.0;
                    let Message { what, remedy } = &notice.message;
                    let what = style::with_commands(ui, what, RichText::semibold);
                    ui.add(Label::new(what).wrap().selectable(true));
                    if !remedy.is_empty() {
                        let remedy = style::with_commands(ui, remedy, RichText::weak);
                        ui.add(Label::new(remedy).wrap().selectable(true));
                    }
                });
            });
        });
    });
}

/// Returns dropped files as an action, and draws an overlay that announces what dropping will do
/// while files hover.
pub fn drop_zone(ui: &Ui, app: &App, actions: &mut Vec<Action>) {
    let ctx = ui.ctx();
    let (hovering, dropped) = ctx.input(|input| {
        let hovering: Vec<Option<PathBuf>> = input
            .raw
            .hovered_files
            .iter()
            .map(|file| file.path.clone())
            .collect();
        let dropped: Vec<PathBuf> = input
            .raw
            .dropped_files
            .iter()
            .map(|file| file.path().to_owned())
            .collect();
        (hovering, dropped)
    });
    if !dropped.is_empty() {
        actions.push(Action::Drop(dropped));
    }
    let Some(first) = hovering.first() else {
        return;
    };
    let palette = style::palette(ui);
    let painter = ctx.layer_painter(LayerId::new(Order::Foreground, Id::unique("drop zone")));
    let area = ctx.content_rect();
    painter.rect_filled(area, 0.0, palette.paper.gamma_multiply(0.92));
    painter.rect_stroke(
        area.shrink(16.0),
        style::RADIUS,
        Stroke::new(2.5, palette.accent),
        StrokeKind::Inside,
    );
    let text = ui.visuals().strong_text_color();
    painter.text(
        area.center(),
        Align2::CENTER_CENTER,
        announcement(app, first.as_ref(), hovering.len()),
        TextStyle::Heading.resolve(ui.style()),
        text,
    );
}

/// The effect of dropping. Some systems reveal the file's name only then.
fn announcement(app: &App, first: Option<&PathBuf>, count: usize) -> String {
    let Some(path) = first else {
        return "Drop to open".to_owned();
    };
    let dropped = Dropped::of(path);
    if dropped == Dropped::Weights && app.ctx.is_training() {
        return "Training is in progress: models can be imported when it has finished".to_owned();
    }
    let name = visible::label(
        &path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy(),
    );
    let more = if count > 1 {
        format!(" and {} more", count - 1)
    } else {
        String::new()
    };
    format!("{}: {name}{more}", dropped.sentence())
}
