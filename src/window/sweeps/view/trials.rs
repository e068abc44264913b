//! The trials of a sweep: a table and three plots, side by side where there is room, otherwise one
//! view at a time.

use eframe::egui::{Align, Layout, Ui, UiBuilder, Vec2, vec2};

use super::{best_so_far, importance, parallel, table};
use crate::window::style;
use crate::window::{Action, SweepView};

/// From this size on, in points, everything is shown at once.
const ALL_AT_ONCE: Vec2 = vec2(960.0, 430.0);
/// The share of the width that the table and the parallel coordinates have, and the share of the
/// height above them.
const LEFT: f32 = 0.64;
const TOP: f32 = 0.5;

/// What is shown where there is no room for everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    #[default]
    Table,
    /// The best accuracy so far, and the importance of each setting.
    Progress,
    Parallel,
}

/// Draws them in what is left of the screen.
pub fn show(
    ui: &mut Ui,
    sweep: &SweepView,
    part: &mut Part,
    order: &mut table::Order,
    actions: &mut Vec<Action>,
) {
    if sweep.trials.is_empty() {
        return style::empty_state(
            ui,
            "The first trials are being started",
            "Each trial will be a line here, and a point in the plots.",
        );
    }
    let size = ui.available_size();
    if size.x >= ALL_AT_ONCE.x && size.y >= ALL_AT_ONCE.y {
        return quarters(ui, sweep, order, actions);
    }
    ui.horizontal(|ui| {
        for (which, name) in [
            (Part::Table, "Table"),
            (Part::Progress, "Progress and importance"),
            (Part::Parallel, "Parallel coordinates"),
        ] {
            if ui.add(style::toggle(ui, name, *part == which)).clicked() {
                *part = which;
            }
        }
    });
    let height = ui.available_height();
    match part {
        Part::Table => table::show(ui, sweep, order, actions),
        Part::Progress => {
            let half = ui.available_width() / 2.0 - style::GAP;
            ui.horizontal_top(|ui| {
                column(ui, vec2(half, height), |ui| best_so_far::show(ui, sweep));
                ui.add_space(style::GAP);
                column(ui, vec2(half, height), |ui| importance::show(ui, sweep));
            });
        }
        Part::Parallel => parallel::show(ui, sweep, actions),
    }
}

fn column(ui: &mut Ui, size: Vec2, show: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::Min), |ui| {
        ui.set_width(size.x);
        show(ui);
    });
}

/// The table above the parallel coordinates, and the best so far above the importance.
fn quarters(ui: &mut Ui, sweep: &SweepView, order: &mut table::Order, actions: &mut Vec<Action>) {
    let area = ui.available_rect_before_wrap();
    let (left, right) = area.split_left_right_at_fraction(LEFT);
    for (index, column) in [left.with_max_x(left.right() - style::GAP), right]
        .into_iter()
        .enumerate()
    {
        let (top, bottom) = column.split_top_bottom_at_fraction(TOP);
        for (row, place) in [top.with_max_y(top.bottom() - style::GAP), bottom]
            .into_iter()
            .enumerate()
        {
            ui.scope_builder(
                UiBuilder::new().id_salt((index, row)).max_rect(place),
                |ui| match (index, row) {
                    (0, 0) => table::show(ui, sweep, order, actions),
                    (0, _) => parallel::show(ui, sweep, actions),
                    (_, 0) => best_so_far::show(ui, sweep),
                    _ => importance::show(ui, sweep),
                },
            );
        }
    }
    ui.advance_cursor_after_rect(area);
}
