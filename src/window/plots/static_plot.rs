//! Plots that are only looked at.

use std::ops::RangeInclusive;

use eframe::egui::{Color32, Rangef, Sense, Vec2};
use egui_plot::{GridMark, Line, LineStyle, MarkerShape, Plot, PlotPoints, PlotUi, Points};

use super::scale::{GRID, marks};
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
        .grid_spacing(Rangef::new(GRID, 3.0 * GRID))
        .x_grid_spacer(|input| marks(&input, 60.0))
        .y_grid_spacer(|input| marks(&input, 28.0))
        .sense(Sense::hover())
}

/// A tick of an axis of percentages, none of which is above 100 %.
pub fn percent_tick(mark: GridMark, _: &RangeInclusive<f64>) -> String {
    let shown = (mark.value <= 100.0).then(|| (mark.value * 100.0).round() / 100.0);
    shown.map_or_else(String::new, |value| format!("{value} %"))
}

/// A tick of an axis that has them at whole numbers alone.
pub fn whole_tick(mark: GridMark, _: &RangeInclusive<f64>) -> String {
    if mark.value.fract().abs() < 1e-6 {
        format!("{:.0}", mark.value)
    } else {
        String::new()
    }
}

/// Points that are drawn with their name and in their color.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a>(pub &'static str, pub &'a [[f64; 2]], pub Color32);

impl<'a> Series<'a> {
    fn as_line(self) -> Line<'a> {
        Line::new(self.0, PlotPoints::from(self.1.to_vec())).color(self.2)
    }

    pub fn line(self, plot: &mut PlotUi<'a>, width: f32) {
        plot.line(self.as_line().width(width));
    }

    pub fn dashed(self, plot: &mut PlotUi<'a>, width: f32) {
        let line = self.as_line().width(width);
        plot.line(line.style(LineStyle::dashed_dense()));
    }

    /// The points as marks, to be drawn.
    pub fn marks(self, radius: f32) -> Points<'a> {
        let points = Points::new(self.0, PlotPoints::from(self.1.to_vec()));
        points.color(self.2).radius(radius)
    }

    pub fn dots(self, plot: &mut PlotUi<'a>, radius: f32) {
        plot.points(self.marks(radius));
    }

    pub fn diamonds(self, plot: &mut PlotUi<'a>, radius: f32) {
        plot.points(self.marks(radius).shape(MarkerShape::Diamond));
    }
}
