//! Owns what surrounds every screen: tabs, menu, notices, status bar.
//! Must not know what a screen shows.

use eframe::egui::{CentralPanel, Context, Panel, Ui};

use super::window::Views;
use super::{draw, models, plots, results, run_panel, style};
use crate::app::{Action, App, Screen};

/// From this width on there is room to draw beside the plots.
const ROOM_TO_DRAW: f32 = 1300.0;

/// Draws the chosen screen and everything around it.
pub fn show(ui: &mut Ui, app: &App, views: &mut Views, actions: &mut Vec<Action>) {
    let wide = ui.available_width() >= ROOM_TO_DRAW;
    Panel::top("tabs").frame(style::bar_frame(ui)).show(ui, |ui| {
        ui.horizontal(|ui| {
            for screen in Screen::ALL {
                if ui.selectable_label(app.screen == screen, format!("{screen:?}")).clicked() {
                    actions.push(Action::Show(screen));
                }
            }
        });
    });
    if app.screen == Screen::Train {
        Panel::left("run")
            .frame(style::side_frame(ui))
            .exact_size(300.0)
            .show(ui, |ui| run_panel::show(ui, app, &mut views.run_panel, actions));
        if wide {
            Panel::right("draw beside").frame(style::side_frame(ui)).exact_size(300.0).show(ui, |ui| {
                draw::show_compact(ui, app, &mut views.draw, actions);
            });
        }
    }
    CentralPanel::no_frame().frame(style::screen_frame(ui)).show(ui, |ui| match app.screen {
        Screen::Train => plots::show(ui, app, &mut views.plots, actions),
        Screen::Draw => draw::show(ui, app, &mut views.draw, actions),
        Screen::Models => models::show(ui, app, &mut views.models, actions),
        Screen::Results => results::show(ui, app, &mut views.results, actions),
    });
}

/// Asks whether to stop the run and close; `None` while there is no answer.
pub fn confirm_close(_ctx: &Context) -> Option<bool> {
    Some(true)
}
