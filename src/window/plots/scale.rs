//! Axes: from values to positions and tick labels, linear or logarithmic, by step or epoch, with
//! units. And plots that are only looked at.

use std::ops::RangeInclusive;

use eframe::egui::{Color32, Rangef, Sense, Vec2};
use egui_plot::{
    GridInput, GridMark, Line, LineStyle, MarkerShape, Plot, PlotPoints, PlotUi, Points,
};

use crate::text::format::{grouped, significant};
use crate::window::style::Palette;

/// On a logarithmic axis, smaller values are drawn here.
const LOG_FLOOR: f64 = 1e-7;

/// The smallest distance between grid lines, in points; [`marks`] relies on it.
pub const GRID: f32 = 8.0;

/// Marks at multiples of 1, 2 or 5 times a power of ten, at least `apart` points from each other.
pub fn marks(input: &GridInput, apart: f32) -> Vec<GridMark> {
    let (from, to) = input.bounds;
    let least = input.base_step_size * f64::from(apart / GRID);
    if !(from.is_finite() && to.is_finite() && least > 0.0 && least.is_finite()) {
        return Vec::new();
    }
    let power = 10f64.powf(least.log10().floor());
    let step_size = [1.0, 2.0, 5.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|&step| step >= least)
        .unwrap_or(10.0 * power);
    let (first, last) = ((from / step_size).ceil(), (to / step_size).floor());
    // A view is a few thousand points wide at most; anything else is a degenerate axis.
    if !(0.0..=2000.0).contains(&(last - first)) {
        return Vec::new();
    }
    (0..=(last - first) as u32)
        .map(|index| GridMark {
            value: (first + f64::from(index)) * step_size,
            step_size,
        })
        .collect()
}

/// The same at whole numbers alone, as for epochs.
pub fn whole_marks(input: &GridInput, apart: f32) -> Vec<GridMark> {
    let marks = marks(input, apart)
        .into_iter()
        .filter(|mark| (mark.value - mark.value.round()).abs() < 1e-6);
    marks
        .map(|mark| GridMark {
            step_size: mark.step_size.max(1.0),
            ..mark
        })
        .collect()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum XUnit {
    #[default]
    Step,
    Epoch,
}

/// The x axis: its unit, and how many steps an epoch has.
#[derive(Clone, Copy, Debug)]
pub struct XAxis {
    pub unit: XUnit,
    /// At least 1.
    pub steps_per_epoch: f64,
}

impl XAxis {
    pub fn position(self, step: f64) -> f64 {
        match self.unit {
            XUnit::Step => step,
            XUnit::Epoch => step / self.steps_per_epoch,
        }
    }

    pub fn step(self, position: f64) -> f64 {
        match self.unit {
            XUnit::Step => position,
            XUnit::Epoch => position * self.steps_per_epoch,
        }
    }

    pub const fn title(self) -> &'static str {
        match self.unit {
            XUnit::Step => "step",
            XUnit::Epoch => "epoch",
        }
    }

    pub fn tick(self, mark: GridMark) -> String {
        match self.unit {
            // No labels between steps.
            XUnit::Step if mark.step_size < 1.0 => String::new(),
            XUnit::Step => count_tick(mark.value, mark.step_size),
            XUnit::Epoch => decimals(mark.value, mark.step_size),
        }
    }
}

/// The y axis: linear or logarithmic, and whether its ticks are percentages.
#[derive(Clone, Copy, Debug)]
pub struct YAxis {
    pub log: bool,
    pub in_percent: bool,
    pub from_zero: bool,
    /// The smallest range of positions, so that a level curve is not blown up.
    pub least_range: f64,
    /// The range of positions while there is nothing to fit.
    pub without_data: (f64, f64),
}

impl YAxis {
    pub fn position(self, value: f64) -> f64 {
        if self.log {
            value.max(LOG_FLOOR).log10()
        } else {
            value
        }
    }

    pub fn tick(self, mark: GridMark) -> String {
        if self.in_percent && mark.value > 100.0 + 1e-9 {
            return String::new();
        }
        let text = if self.log {
            logarithmic(mark.value)
        } else {
            tick_value(mark.value, mark.step_size)
        };
        if self.in_percent { text + "%" } else { text }
    }

    /// Ticks of a logarithmic axis: powers of ten, and twice and five times as much if there is
    /// space.
    pub fn log_marks(input: &GridInput) -> Vec<GridMark> {
        let (from, to) = input.bounds;
        if !(from.is_finite() && to.is_finite()) || to - from > 60.0 {
            return Vec::new();
        }
        let mut found = Vec::new();
        for exponent in from.floor() as i32..=to.ceil() as i32 {
            for (factor, step_size) in [(1.0_f64, 1.0), (2.0, 0.3), (5.0, 0.3)] {
                let value = f64::from(exponent) + factor.log10();
                if (from..=to).contains(&value) {
                    found.push(GridMark { value, step_size });
                }
            }
        }
        // Between two of them the axis would be empty.
        if found.len() < 2 {
            marks(input, 32.0)
        } else {
            found
        }
    }
}

/// The value at a position on a logarithmic axis, short also when it is small: 0.05, 5e-5.
fn logarithmic(position: f64) -> String {
    let value = 10f64.powf(position);
    if value >= 0.001 {
        significant(value)
    } else {
        format!("{value:.1e}").replace(".0e", "e")
    }
}

fn tick_value(value: f64, step_size: f64) -> String {
    if value.abs() >= 1000.0 {
        count_tick(value, step_size)
    } else {
        decimals(value, step_size)
    }
}

/// A count in few characters, but as many as it takes to distinguish it from the next tick.
fn count_tick(value: f64, step_size: f64) -> String {
    let told_apart = match value.abs() {
        size if size >= 1e6 => 1e4,
        size if size >= 1e3 => 10.0,
        _ => 0.0,
    };
    if step_size >= told_apart {
        short_count(value)
    } else if step_size >= 1.0 && value >= 0.0 {
        grouped(value.round() as u64)
    } else {
        decimals(value, step_size)
    }
}

/// A count in few characters: 940, 2k, 37.5k, 1.2M.
pub fn short_count(value: f64) -> String {
    let (scaled, suffix) = match value.abs() {
        size if size >= 1e6 => (value / 1e6, "M"),
        size if size >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let text = format!("{scaled:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{suffix}")
}

/// A value with as many decimals as the distance between ticks requires.
fn decimals(value: f64, step_size: f64) -> String {
    let places = (-step_size.abs().max(1e-9).log10()).ceil().clamp(0.0, 6.0) as usize;
    let text = format!("{value:.places$}");
    if text
        .trim_start_matches('-')
        .chars()
        .all(|letter| matches!(letter, '0' | '.'))
    {
        "0".to_owned()
    } else {
        text
    }
}

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

/// A tick of an axis of percentages, none of which is above 100%.
pub fn percent_tick(mark: GridMark, _: &RangeInclusive<f64>) -> String {
    let shown = (mark.value <= 100.0).then(|| (mark.value * 100.0).round() / 100.0);
    shown.map_or_else(String::new, |value| format!("{value}%"))
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
        plot.line(self.as_line().width(width).allow_band(false));
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
