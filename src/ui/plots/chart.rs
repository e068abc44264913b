//! One chart: traces over steps, with the crosshair that all charts share.

use eframe::egui::{self, Id, Key, Role, Sense, WidgetInfo, vec2};
use egui_plot::{Line, LineStyle, MarkerShape, Plot, PlotPoint, PlotPoints, PlotTransform, Points, VLine};

use super::pyramid::Pyramid;
use super::scale::{GRID, XAxis, YAxis, marks};
use crate::ui::style;

/// How a trace is drawn. The shapes differ, so that traces can be told apart without colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Values per step: thin and pale.
    Faint,
    /// Smoothed values: a solid line.
    Solid,
    /// Values per epoch: diamonds on a dashed line.
    Marked,
}

/// A curve and its look.
#[derive(Clone, Copy, Debug)]
pub struct Trace<'a> {
    /// Unique within the chart.
    pub name: &'static str,
    /// The points, `x` in steps.
    pub curve: &'a Pyramid,
    /// How it is drawn.
    pub look: Look,
    /// Its colour.
    pub color: egui::Color32,
}

/// A chart to show.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// The name in the accessibility tree: "Loss plot".
    pub name: &'static str,
    /// The value in the accessibility tree: the latest values.
    pub value: String,
    /// The traces, from back to front.
    pub traces: Vec<Trace<'a>>,
    /// The horizontal axis.
    pub x: XAxis,
    /// The vertical axis.
    pub y: YAxis,
    /// The end of the horizontal axis.
    pub last_step: f64,
    /// Height in points.
    pub height: f32,
    /// The step of the crosshair.
    pub cursor: Option<f64>,
    /// Reset the view to the whole run.
    pub fit: bool,
}

/// How a chart was used in this frame.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// The step under the pointer.
    pub hovered_step: Option<f64>,
    /// The step the arrow keys moved the crosshair to.
    pub moved_to: Option<f64>,
    /// True while the chart has the focus.
    pub focused: bool,
    /// From plot to screen.
    pub transform: PlotTransform,
}

impl Chart<'_> {
    /// Draws the chart in the width there is.
    pub fn show(&self, ui: &mut egui::Ui) -> Shown {
        let palette = style::palette(ui);
        let (x_axis, y_axis) = (self.x, self.y);
        let (x_end, fit) = (x_axis.position(self.last_step.max(1.0)), self.fit);
        let mut plot = Plot::new(self.name)
            .height(self.height)
            .link_axis(Id::unique("plots by step"), [true, false])
            .include_x(0.0)
            .include_x(x_end)
            .set_margin_fraction(vec2(0.01, 0.08))
            .allow_scroll(false)
            .show_x(false)
            .show_y(false)
            .label_formatter(|_| None)
            .sense(Sense::click_and_drag())
            .y_axis_min_width(style::PLOT_AXIS_WIDTH)
            .grid_spacing(egui::Rangef::new(GRID, 3.0 * GRID))
            .x_grid_spacer(|input| marks(&input, 80.0))
            .grid_color(palette.grid)
            .show_background(false)
            .x_axis_formatter(move |mark, _| x_axis.tick(mark))
            .y_axis_formatter(move |mark, _| y_axis.tick(mark));
        plot =
            if y_axis.log { plot.y_grid_spacer(|input| YAxis::log_marks(&input)) } else { plot.y_grid_spacer(|input| marks(&input, 32.0)) };
        if y_axis.from_zero {
            plot = plot.include_y(0.0);
        }
        let budget = (2.0 * ui.available_width()).clamp(200.0, 4000.0) as usize;
        let traces = &self.traces;
        let cursor = self.cursor;
        let shown = plot.show(ui, |plot_ui| {
            if fit {
                plot_ui.set_auto_bounds(true);
            }
            let bounds = plot_ui.plot_bounds();
            let all = plot_ui.auto_bounds().x || fit;
            let (from, to) =
                if all { (f64::NEG_INFINITY, f64::INFINITY) } else { (x_axis.step(bounds.min()[0]), x_axis.step(bounds.max()[0])) };
            for trace in traces {
                let points: Vec<PlotPoint> = trace
                    .curve
                    .visible(from, to, budget)
                    .into_iter()
                    .map(|[step, value]| PlotPoint::new(x_axis.position(step), y_axis.position(value)))
                    .collect();
                draw(plot_ui, trace, points);
            }
            if let Some(step) = cursor {
                plot_ui.vline(VLine::new("crosshair", x_axis.position(step)).color(palette.crosshair).width(1.0));
                for trace in traces.iter().filter(|trace| trace.look != Look::Faint) {
                    if let Some([step, value]) = trace.curve.nearest(step) {
                        let point = PlotPoint::new(x_axis.position(step), y_axis.position(value));
                        let mark = Points::new("crosshair mark", PlotPoints::Owned(vec![point]));
                        plot_ui.points(mark.radius(4.5).color(trace.color).shape(mark_shape(trace.look)).allow_hover(false));
                    }
                }
            }
        });
        self.finish(ui, &shown.response, shown.transform)
    }

    fn finish(&self, ui: &egui::Ui, response: &egui::Response, transform: PlotTransform) -> Shown {
        response.widget_info(|| WidgetInfo {
            current_text_value: Some(self.value.clone()),
            ..WidgetInfo::labeled(Role::Figure, ui.is_enabled(), self.name)
        });
        let focused = response.has_focus();
        let bounds = transform.bounds();
        let mut moved_to = None;
        if focused {
            style::focus_ring(ui, response.rect);
            let arrows = egui::EventFilter { horizontal_arrows: true, ..egui::EventFilter::default() };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
            // A hundredth of the visible range, so that the crosshair crosses any view in the same time.
            let stride = (self.x.step(bounds.width()) / 100.0).max(1.0).round();
            let here = self.cursor.unwrap_or(self.last_step);
            ui.input(|input| {
                let strides = input.num_presses(Key::ArrowRight) as f64 - input.num_presses(Key::ArrowLeft) as f64;
                if strides != 0.0 {
                    moved_to = Some((here + strides * stride).clamp(1.0, self.last_step.max(1.0)));
                }
                if input.key_pressed(Key::Home) {
                    moved_to = Some(1.0);
                }
                if input.key_pressed(Key::End) {
                    moved_to = Some(self.last_step);
                }
            });
        }
        let hovered_step = response.hover_pos().map(|pos| self.x.step(transform.value_from_position(pos).x).max(0.0));
        Shown { hovered_step, moved_to, focused, transform }
    }
}

fn draw(plot_ui: &mut egui_plot::PlotUi<'_>, trace: &Trace<'_>, points: Vec<PlotPoint>) {
    match trace.look {
        Look::Faint => {
            plot_ui.line(Line::new(trace.name, PlotPoints::Owned(points)).color(trace.color.gamma_multiply(0.35)).width(1.0));
        }
        Look::Solid => plot_ui.line(Line::new(trace.name, PlotPoints::Owned(points)).color(trace.color).width(2.0)),
        Look::Marked => {
            let line = Line::new(trace.name, PlotPoints::Owned(points.clone())).color(trace.color).width(1.5);
            plot_ui.line(line.style(LineStyle::dashed_dense()));
            let marks = Points::new(trace.name, PlotPoints::Owned(points)).color(trace.color).radius(5.0);
            plot_ui.points(marks.shape(mark_shape(trace.look)));
        }
    }
}

const fn mark_shape(look: Look) -> MarkerShape {
    match look {
        Look::Faint | Look::Solid => MarkerShape::Circle,
        Look::Marked => MarkerShape::Diamond,
    }
}
