//! One chart: traces over steps, with the crosshair that all charts share.

use eframe::egui::{self, Key, Pos2, Role, Sense, WidgetInfo, vec2};
use egui_plot::{
    AxisHints, FilledArea, Line, LineStyle, MarkerShape, Plot, PlotBounds, PlotPoint, PlotPoints,
    PlotTransform, Points, VLine,
};

use super::curves::{Pyramid, averaged};
use super::range::{Gesture, Target};
use super::scale::{GRID, XAxis, YAxis, marks};
use crate::records::LearningRateChange;
use crate::window::style;

/// The space beside the first and the last step in view, as a fraction of the range.
const SIDE_MARGIN: f64 = 0.01;
/// Points of other traces for each of a solid line, of which a point of the screen has two.
const POINTS_OF_LINE: usize = 6;
/// Where the name of the x axis ends, from the lower left corner of the frame, in points.
const X_TITLE: egui::Vec2 = vec2(-12.0, 3.0);

/// How a trace is drawn. The shapes differ, so that traces can be distinguished without color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Values per step: thin and pale.
    Faint,
    /// Smoothed values: a solid line.
    Solid,
    /// Values per epoch: diamonds on a dashed line.
    Marked,
}

#[derive(Clone, Copy, Debug)]
pub struct Trace<'a> {
    pub name: &'static str,
    /// The points, `x` in steps.
    pub curve: &'a Pyramid,
    pub look: Look,
    pub color: egui::Color32,
}

/// The state that all charts share in a frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub x: XAxis,
    /// The first and the last step in view.
    pub range: [f64; 2],
    pub last_step: f64,
    pub cursor: Option<f64>,
    /// The steps over which a box is being drawn.
    pub selected: Option<[f64; 2]>,
}

#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// The name in the accessibility tree: "Loss plot".
    pub name: &'static str,
    /// The value in the accessibility tree: the latest values.
    pub value: String,
    /// Said in the chart's upper right corner; may be empty.
    pub note: &'a str,
    /// The traces, from back to front.
    pub traces: Vec<Trace<'a>>,
    /// Where the learning rate was changed.
    pub rate_changes: &'a [LearningRateChange],
    pub y: YAxis,
    /// Height in points.
    pub height: f32,
    pub frame: Frame,
}

/// How a chart was used in this frame.
#[derive(Clone, Debug)]
pub struct Shown {
    pub hovered_step: Option<f64>,
    /// The step the arrow keys moved the crosshair to.
    pub moved_to: Option<f64>,
    /// True while the chart has the focus.
    pub focused: bool,
    /// The gesture on the range in view.
    pub gesture: Option<Gesture>,
    /// From plot to screen.
    pub transform: PlotTransform,
    /// The points of its smooth and marked traces on the screen, where the chart is read: under the
    /// pointer or with the focus.
    pub curves: Vec<Pos2>,
}

impl Chart<'_> {
    /// Draws the chart in the width there is. `box_from` is the step where a box that is being
    /// drawn began.
    pub fn show(&self, ui: &mut egui::Ui, box_from: &mut Option<f64>) -> Shown {
        let palette = style::palette(ui);
        let (x_axis, y_axis) = (self.frame.x, self.y);
        let small = egui::TextStyle::Small.resolve(ui.style());
        let axes = [
            AxisHints::new_x(),
            AxisHints::new_y().min_thickness(style::PLOT_AXIS_WIDTH),
        ];
        let [x_hints, y_hints] = axes.map(|axis| {
            axis.tick_label_font(small.clone())
                .tick_label_color(ui.visuals().text_color())
        });
        let mut plot = Plot::new(self.name)
            .height(self.height)
            .allow_scroll(false)
            .allow_zoom(false)
            .allow_drag(false)
            .allow_boxed_zoom(false)
            .allow_axis_zoom_drag(false)
            .allow_double_click_reset(false)
            .show_x(false)
            .show_y(false)
            .label_formatter(|_| None)
            .sense(Sense::click_and_drag())
            .custom_x_axes(vec![x_hints])
            .custom_y_axes(vec![y_hints])
            .grid_spacing(egui::Rangef::new(GRID, 3.0 * GRID))
            .x_grid_spacer(|input| marks(&input, 80.0))
            .grid_color(palette.grid)
            .x_axis_formatter(move |mark, _| x_axis.tick(mark))
            .y_axis_formatter(move |mark, _| y_axis.tick(mark));
        plot = if y_axis.log {
            plot.y_grid_spacer(|input| YAxis::log_marks(&input))
        } else {
            plot.y_grid_spacer(|input| marks(&input, 32.0))
        };
        let budget = (2.0 * ui.available_width()).clamp(200.0, 4000.0) as usize;
        let [from, to] = self.frame.range;
        let lines: Vec<Vec<PlotPoint>> = self
            .traces
            .iter()
            .map(|trace| self.positions(trace, budget))
            .collect();
        let margin = SIDE_MARGIN * (to - from);
        let [left, right] = [from - margin, to + margin].map(|step| x_axis.position(step));
        let [bottom, top] = bounds(y_axis, lines.iter().map(Vec::as_slice), left, right);
        let (traces, rate_changes) = (&self.traces, self.rate_changes);
        let cursor = self.frame.cursor;
        let shown = plot.show(ui, |plot_ui| {
            plot_ui.set_plot_bounds(PlotBounds::from_min_max([left, bottom], [right, top]));
            for change in rate_changes {
                let line = VLine::new("learning rate", x_axis.position(change.step as f64));
                plot_ui.vline(
                    line.color(palette.faded)
                        .width(1.0)
                        .style(LineStyle::dashed_dense())
                        .allow_hover(false),
                );
            }
            for (trace, points) in traces.iter().zip(lines) {
                draw(plot_ui, trace, points);
            }
            if let Some(step) = cursor {
                plot_ui.vline(
                    VLine::new("crosshair", x_axis.position(step))
                        .color(palette.crosshair)
                        .width(1.0),
                );
                for trace in traces.iter().filter(|trace| trace.look != Look::Faint) {
                    if let Some([step, value]) = trace.curve.nearest(step) {
                        let point = PlotPoint::new(x_axis.position(step), y_axis.position(value));
                        let mark = Points::new("crosshair mark", PlotPoints::Owned(vec![point]));
                        plot_ui.points(
                            mark.radius(4.5)
                                .color(trace.color)
                                .shape(mark_shape(trace.look))
                                .allow_hover(false),
                        );
                    }
                }
            }
        });
        let mut used = self.finish(ui, &shown.response, shown.transform, box_from);
        if used.hovered_step.is_some() || used.focused {
            let read = self.traces.iter().filter(|trace| trace.look != Look::Faint);
            used.curves = read
                .flat_map(|trace| self.positions(trace, budget))
                .map(|at| shown.transform.position_from_point(&at))
                .collect();
        }
        used
    }

    /// A trace's points in view, thinned, as positions on the axes.
    fn positions(&self, trace: &Trace<'_>, budget: usize) -> Vec<PlotPoint> {
        let margin = SIDE_MARGIN * (self.frame.range[1] - self.frame.range[0]);
        let points = trace.curve.visible(
            self.frame.range[0] - margin,
            self.frame.range[1] + margin,
            budget,
        );
        let points = match trace.look {
            Look::Solid => averaged(&points, budget / POINTS_OF_LINE),
            Look::Faint | Look::Marked => points,
        };
        points
            .into_iter()
            .map(|[step, value]| {
                PlotPoint::new(self.frame.x.position(step), self.y.position(value))
            })
            .collect()
    }

    fn finish(
        &self,
        ui: &egui::Ui,
        response: &egui::Response,
        transform: PlotTransform,
        box_from: &mut Option<f64>,
    ) -> Shown {
        response.widget_info(|| WidgetInfo {
            current_text_value: Some(self.value.clone()),
            ..WidgetInfo::labeled(Role::Figure, ui.is_enabled(), self.name)
        });
        self.paint_over(ui, transform);
        let here = self.frame.cursor.unwrap_or(self.frame.last_step);
        let focused = response.has_focus();
        if focused {
            style::focus_ring(ui, response.rect);
            let arrows = egui::EventFilter {
                horizontal_arrows: true,
                ..egui::EventFilter::default()
            };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
        }
        let target = Target {
            response,
            transform,
            x: self.frame.x,
            cursor: here,
        };
        let gesture = target.gesture(ui, box_from);
        let hovered_step = response.hover_pos().map(|pos| target.step(pos.x).max(0.0));
        Shown {
            hovered_step,
            moved_to: self.moved(ui, here).filter(|_| focused),
            focused,
            gesture,
            transform,
            curves: Vec::new(),
        }
    }

    /// What the learning rate was multiplied by, beside the lines that mark where, as far as there
    /// is room.
    fn label_rate_changes(&self, painter: &egui::Painter, transform: PlotTransform, ui: &egui::Ui) {
        let (frame, palette) = (transform.frame(), style::palette(ui));
        let font = egui::TextStyle::Small.resolve(ui.style());
        let mut free = frame.left();
        for change in self.rate_changes {
            let position = self.frame.x.position(change.step as f64);
            let left = transform.position_from_point_x(position) + 3.0;
            if left < free || left > frame.right() {
                continue;
            }
            let at = egui::pos2(left, frame.bottom() - 2.0);
            let place = painter.text(
                at,
                egui::Align2::LEFT_BOTTOM,
                change.label(),
                font.clone(),
                palette.faded,
            );
            free = place.right() + 6.0;
        }
    }

    /// The note, the name of the x axis, and the box that is being drawn.
    fn paint_over(&self, ui: &egui::Ui, transform: PlotTransform) {
        let palette = style::palette(ui);
        let frame = *transform.frame();
        let painter = ui.painter_at(frame);
        self.label_rate_changes(&painter, transform, ui);
        let font = egui::TextStyle::Small.resolve(ui.style());
        if !self.note.is_empty() {
            let galley = ui.painter().layout(
                self.note.to_owned(),
                font.clone(),
                palette.faded,
                frame.width() - 12.0,
            );
            let at = frame.right_top() + vec2(-6.0 - galley.size().x, 4.0);
            painter.rect_filled(
                egui::Rect::from_min_size(at, galley.size()).expand(3.0),
                3.0,
                palette.paper.gamma_multiply(0.85),
            );
            painter.galley(at, galley, palette.faded);
        }
        // Before the first of the numbers that it names.
        let at = frame.left_bottom() + X_TITLE;
        let (corner, title) = (egui::Align2::RIGHT_TOP, self.frame.x.title());
        ui.painter().text(at, corner, title, font, palette.faded);
        if let Some(steps) = self.frame.selected {
            let [one, other] =
                steps.map(|step| transform.position_from_point_x(self.frame.x.position(step)));
            let area =
                egui::Rect::from_x_y_ranges(one.min(other)..=one.max(other), frame.y_range());
            painter.rect(
                area,
                0.0,
                palette.accent.gamma_multiply(0.18),
                (1.0, palette.accent),
                egui::StrokeKind::Inside,
            );
        }
    }

    /// Where the keys move the crosshair to.
    fn moved(&self, ui: &egui::Ui, here: f64) -> Option<f64> {
        // A hundredth of the visible range, so that the crosshair crosses any view in the same
        // time.
        let stride = ((self.frame.range[1] - self.frame.range[0]) / 100.0)
            .max(1.0)
            .round();
        ui.input(|input| {
            let strides = input.num_presses(Key::ArrowRight) as f64
                - input.num_presses(Key::ArrowLeft) as f64;
            if input.key_pressed(Key::End) {
                Some(self.frame.last_step)
            } else if input.key_pressed(Key::Home) {
                Some(1.0)
            } else {
                (strides != 0.0)
                    .then(|| (here + strides * stride).clamp(1.0, self.frame.last_step.max(1.0)))
            }
        })
    }
}

fn draw(plot_ui: &mut egui_plot::PlotUi<'_>, trace: &Trace<'_>, points: Vec<PlotPoint>) {
    match trace.look {
        Look::Faint => {
            let color = trace.color.gamma_multiply(0.35);
            if points.len() as f32 > plot_ui.response().rect.width() / 2.0 {
                let [steps, low, high] = envelope(&points);
                let area = FilledArea::new(trace.name, &steps, &low, &high);
                plot_ui.add(area.fill_color(color).allow_hover(false));
            } else {
                let line = Line::new(trace.name, PlotPoints::Owned(points));
                plot_ui.line(line.color(color).width(1.0));
            }
        }
        Look::Solid => plot_ui.line(
            Line::new(trace.name, PlotPoints::Owned(points))
                .color(trace.color)
                .width(2.0)
                .allow_band(false),
        ),
        Look::Marked => {
            let line = Line::new(trace.name, PlotPoints::Owned(points.clone()))
                .color(trace.color)
                .width(1.5);
            plot_ui.line(line.style(LineStyle::dashed_dense()));
            let marks = Points::new(trace.name, PlotPoints::Owned(points))
                .color(trace.color)
                .radius(5.0);
            plot_ui.points(marks.shape(mark_shape(trace.look)));
        }
    }
}

/// The positions of points, and the least and greatest height between the neighbors of each: a line
/// through points that are closer than pixels is painted with spikes at its turns.
fn envelope(points: &[PlotPoint]) -> [Vec<f64>; 3] {
    let around = |index: usize| &points[index.saturating_sub(1)..points.len().min(index + 2)];
    let heights = |join: fn(f64, f64) -> f64, start: f64| {
        let height = |index| around(index).iter().map(|near| near.y).fold(start, join);
        (0..points.len()).map(height).collect()
    };
    [
        points.iter().map(|point| point.x).collect(),
        heights(f64::min, f64::INFINITY),
        heights(f64::max, f64::NEG_INFINITY),
    ]
}

const fn mark_shape(look: Look) -> MarkerShape {
    match look {
        Look::Faint | Look::Solid => MarkerShape::Circle,
        Look::Marked => MarkerShape::Diamond,
    }
}

/// The space above and below the curves, as a fraction of their range.
const MARGIN: f64 = 0.08;

/// The part of the steps in which a curve rises, and how much of the height must be gained by
/// leaving its lower end out.
const RISE: f64 = 0.15;
const WORTH_FOLLOWING: f64 = 0.5;

/// The ends of the vertical axis for these lines, between the horizontal positions `from` and `to`.
/// All are positions on the axes.
pub fn bounds<'a>(
    y: YAxis,
    lines: impl Iterator<Item = &'a [PlotPoint]>,
    from: f64,
    to: f64,
) -> [f64; 2] {
    let lines: Vec<_> = lines.collect();
    let both = |from| {
        let extents = lines.iter().filter_map(|line| extent(line, from, to));
        extents.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    };
    let (mut low, mut high) = both(from).unwrap_or(y.without_data);
    // An accuracy rises fast: its first steps would take most of the height.
    if y.in_percent
        && let Some((later, _)) = both(from + RISE * (to - from))
        && high - later < WORTH_FOLLOWING * (high - low)
    {
        low = later;
    }
    if y.from_zero {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    let missing = (y.least_range - (high - low)).max(0.0) / 2.0;
    let margin = MARGIN * (high - low + 2.0 * missing);
    [low - missing - margin, high + missing + margin]
}

/// The lowest and the highest position of a line between `from` and `to`, also if it only
/// crosses.
fn extent(line: &[PlotPoint], from: f64, to: f64) -> Option<(f64, f64)> {
    let inside = line
        .iter()
        .filter(|point| (from..=to).contains(&point.x))
        .map(|point| point.y);
    let crossings = line.windows(2).flat_map(|pair| {
        let [before, after] = [pair[0], pair[1]];
        [from, to]
            .into_iter()
            .filter(move |edge| before.x < *edge && *edge < after.x)
            .map(move |edge| {
                let share = (edge - before.x) / (after.x - before.x);
                before.y + share * (after.y - before.y)
            })
    });
    inside
        .chain(crossings)
        .map(|y| (y, y))
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}
