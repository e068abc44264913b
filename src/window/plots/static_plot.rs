//! A plot that is only looked at.

use eframe::egui::{Sense, Vec2};
use egui_plot::Plot;

use crate::window::style::Palette;

/// A plot of this size, in points, that neither moves nor takes clicks or keys.
pub fn static_plot<'a>(id: &str, size: Vec2, palette: &Palette) -> Plot<'a> {
    Plot::new(id)
        .width(size.x)
        .height(size.y)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .show_x(false)
        .show_y(false)
        .grid_color(palette.grid)
        .sense(Sense::hover())
}
