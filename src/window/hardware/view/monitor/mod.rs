//! The monitor: a strip of live figures above the status bar, each with a curve of the last two
//! minutes. [`App`] samples them only while it is shown.

mod figures;
mod tile;

use eframe::egui::{ScrollArea, Ui, vec2};

use crate::window::App;
use crate::window::style;

/// The strip's greatest height, in points; with many GPUs it scrolls.
const MAX_HEIGHT: f32 = 3.0 * (tile::HEIGHT + style::GAP);

pub fn show(ui: &mut Ui, app: &App) {
    let figures = figures::all(app.machine.monitor.samples());
    // As high as its content needs, whatever the panel's height was a frame ago.
    let area = ScrollArea::vertical()
        .max_height(MAX_HEIGHT)
        .min_scrolled_height(MAX_HEIGHT)
        .auto_shrink([false, true]);
    area.show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(style::GAP * 1.5, style::GAP / 2.0);
            for figure in &figures {
                tile::show(ui, figure);
            }
        });
    });
}
