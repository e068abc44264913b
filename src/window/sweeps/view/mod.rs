//! The Sweep screen: setting a sweep up beside the list of earlier ones, or the sweep that is shown
//! with its table and plots.

mod accuracy_range;
mod best_so_far;
mod importance;
mod parallel;
mod progress;
mod row;
mod set_up;
mod stored;
mod table;
mod trials;

use eframe::egui::{Align, Layout, ScrollArea, Ui, vec2};

use crate::sweep::SweepEntry;
use crate::window::shell::help;
use crate::window::shell::help::Topic;
use crate::window::style;
use crate::window::{Action, App};

#[derive(Debug, Default)]
pub struct SweepScreen {
    part: trials::Part,
    order: table::Order,
}

/// Below this width, in points, the list stands below the form, and the plots below the table.
const TWO_COLUMNS: f32 = 960.0;
/// The share of the width that the form has beside the list.
const FORM_SHARE: f32 = 0.56;

pub fn show(ui: &mut Ui, app: &App, view: &mut SweepScreen, actions: &mut Vec<Action>) {
    if let Some(sweep) = &app.sweeps.shown {
        progress::show(ui, app, sweep, actions);
        ui.add_space(style::GAP / 2.0);
        trials::show(ui, sweep, &mut view.part, &mut view.order, actions);
        return;
    }
    ui.horizontal(|ui| {
        ui.heading("Sweep");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            help::button(ui, Topic::Sweep)
        });
    });
    if ui.available_width() < TWO_COLUMNS {
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width(ui.available_width() - 8.0);
            // What can be resumed should be seen without scrolling.
            let resumable = app
                .sweeps
                .listed
                .iter()
                .flatten()
                .any(SweepEntry::is_resumable);
            if resumable {
                stored::show(ui, app, actions);
                ui.add_space(style::GAP);
            }
            set_up::show(ui, app, actions);
            if !resumable {
                ui.add_space(style::GAP);
                stored::show(ui, app, actions);
            }
        });
        return;
    }
    let size = ui.available_size();
    let form = (size.x * FORM_SHARE).min(style::TEXT_WIDTH * 1.3).floor();
    ui.horizontal_top(|ui| {
        ui.allocate_ui_with_layout(vec2(form, size.y), Layout::top_down(Align::Min), |ui| {
            ScrollArea::vertical()
                .id_salt("set up a sweep")
                .auto_shrink(false)
                .show(ui, |ui| {
                    ui.set_max_width(ui.available_width() - 8.0);
                    set_up::show(ui, app, actions);
                });
        });
        ui.add_space(style::GAP);
        ui.vertical(|ui| {
            ScrollArea::vertical()
                .id_salt("earlier sweeps")
                .auto_shrink(false)
                .show(ui, |ui| {
                    ui.set_max_width((ui.available_width() - 8.0).min(style::TEXT_WIDTH));
                    stored::show(ui, app, actions);
                });
        });
    });
}
