//! The frame around every screen: which panels are shown where, depending on the window's width.

pub mod about;
mod confirm_close;
pub mod drop_zone;
pub mod help;
pub mod notices;
pub mod path_question;
pub mod shortcuts;
pub mod side_panel;
pub mod status_bar;
pub mod top_bar;

use eframe::egui::{CentralPanel, Panel, Ui};

use self::side_panel::Shown;
use super::draw::view as draw;
use super::frame::Views;
use super::hardware::view as hardware;
use super::hardware::view::monitor;
use super::models::view as models;
use super::my_digits::view as my_digits;
use super::results::view as results;
use super::sweeps::view as sweep;
use super::train::panel as run_panel;
use super::{Action, App, Screen};
use super::{plots, style};

pub use confirm_close::{CloseAnswer, confirm_close};

/// The run panel's width, in points.
const RUN_PANEL: f32 = 316.0;

/// Draws the chosen screen and everything around it.
pub fn show(ui: &mut Ui, app: &App, views: &mut Views, actions: &mut Vec<Action>) {
    let width = ui.available_width();
    Panel::top("top bar")
        .frame(style::bar_frame(ui))
        .show(ui, |ui| top_bar::show(ui, app, views, actions));
    Panel::bottom("status bar")
        .frame(style::bar_frame(ui))
        .show(ui, |ui| status_bar::show(ui, app, actions));
    if app.monitor_is_shown() {
        Panel::bottom("monitor")
            .frame(style::bar_frame(ui))
            .show(ui, |ui| monitor::show(ui, app));
    }
    let screen = ui.available_rect_before_wrap();
    let mut side_panel = Shown::Folded;
    if app.shell.screen == Screen::Train {
        Panel::left("run")
            .frame(style::side_frame(ui))
            .exact_size(RUN_PANEL)
            .resizable(false)
            .show(ui, |ui| run_panel::show(ui, app, actions));
        side_panel = side_panel::show(ui, app, views, width, actions);
    }
    CentralPanel::no_frame()
        .frame(style::screen_frame())
        .show(ui, |ui| match app.shell.screen {
            Screen::Train if side_panel == Shown::InsteadOfPlots => {
                side_panel::show_instead_of_plots(ui, app, views, actions)
            }
            Screen::Train => {
                if !app.shows_next_run() {
                    run_panel::resume_offer::show(ui, app, actions);
                }
                plots::show(ui, app, &mut views.plots, actions);
            }
            Screen::Sweep => sweep::show(ui, app, &mut views.sweep, actions),
            Screen::Draw => draw::show(ui, app, &mut views.draw, actions),
            Screen::Models => models::show(ui, app, &mut views.models, actions),
            Screen::Results => results::show(ui, app, &mut views.results, actions),
            Screen::Hardware => hardware::show(ui, app, actions),
            Screen::MyDigits => my_digits::show(ui, app, &mut views.my_digits, actions),
        });
    let place = if app.shell.screen == Screen::Draw {
        draw::place_for_notices(screen.shrink2(style::SCREEN_MARGIN), app, ui)
    } else {
        screen
    };
    notices::show(ui, place, app, actions);
}
