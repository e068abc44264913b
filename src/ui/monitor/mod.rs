//! Owns the monitor: a strip of live figures above the status bar, each with its last two minutes.
//! Must not read anything: [`App`] holds what was read, and reads only while this is shown.

mod figures;
mod tile;

use eframe::egui::{ScrollArea, Ui, vec2};

use super::style;
use crate::app::App;

/// With so many GPUs that the strip would be higher than this, it scrolls.
const MAX_HEIGHT: f32 = 3.0 * (tile::HEIGHT + style::GAP);

/// Draws the strip.
pub fn show(ui: &mut Ui, app: &App) {
    let figures = figures::all(app.monitor.readings());
    // As high as its figures need, whatever height the panel had a frame ago.
    let area = ScrollArea::vertical().max_height(MAX_HEIGHT).min_scrolled_height(MAX_HEIGHT).auto_shrink([false, true]);
    area.show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = vec2(style::GAP * 1.5, style::GAP / 2.0);
            for figure in &figures {
                tile::show(ui, figure);
            }
        });
    });
}
