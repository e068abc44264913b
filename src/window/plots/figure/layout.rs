//! Where everything in the figure stands.

use eframe::egui::Color32;
use egui_plot::{GridInput, GridMark, PlotPoint};

use super::{Anchor, Drawing, Element, SIZE};
use crate::window::plots::chart;
use crate::window::plots::chart::{Look, Trace};
use crate::window::plots::scale::{GRID, XAxis, XUnit, YAxis, marks};
use crate::window::style::Palette;

/// Left and right of the panels, and of their tops and bottoms.
const LEFT: f32 = 130.0;
const RIGHT: f32 = 1550.0;
const PANELS: [[f32; 2]; 2] = [[170.0, 510.0], [560.0, 900.0]];
const TITLE: f32 = 34.0;
const TEXT: f32 = 22.0;
/// Points drawn of a curve, at most.
const BUDGET: usize = 2800;

#[derive(Clone, Debug)]
pub struct Contents<'a> {
    pub title: String,
    /// The run: when, how, and what came of it.
    pub subtitle: String,
    /// Said in the first panel; may be empty.
    pub note: &'a str,
    pub panels: [Panel<'a>; 2],
    pub x: XAxis,
    /// The first and the last step shown.
    pub range: [f64; 2],
}

#[derive(Clone, Debug)]
pub struct Panel<'a> {
    /// What is plotted, with its unit.
    pub name: &'static str,
    /// The curves, from back to front.
    pub traces: Vec<Trace<'a>>,
    pub y: YAxis,
}

pub fn lay_out(contents: &Contents<'_>, palette: Palette) -> Drawing {
    let mut page = Page {
        elements: Vec::new(),
        palette,
    };
    page.text(
        [LEFT, 48.0],
        &contents.title,
        TITLE,
        palette.ink,
        Anchor::Start,
    );
    page.text(
        [LEFT, 92.0],
        &contents.subtitle,
        TEXT,
        palette.faded,
        Anchor::Start,
    );
    page.legend(&contents.panels[0].traces);
    for (panel, [top, bottom]) in contents.panels.iter().zip(PANELS) {
        page.panel(contents, panel, top, bottom);
    }
    if !contents.note.is_empty() {
        page.text(
            [RIGHT - 12.0, PANELS[0][0] + 20.0],
            contents.note,
            TEXT * 0.85,
            palette.faded,
            Anchor::End,
        );
    }
    let unit = if contents.x.unit == XUnit::Step {
        "Step"
    } else {
        "Epoch"
    };
    page.text(
        [f32::midpoint(LEFT, RIGHT), SIZE[1] - 36.0],
        unit,
        TEXT,
        palette.ink,
        Anchor::Middle,
    );
    Drawing(page.elements)
}

struct Page {
    elements: Vec<Element>,
    palette: Palette,
}

impl Page {
    fn text(&mut self, at: [f32; 2], text: &str, size: f32, color: Color32, anchor: Anchor) {
        self.elements.push(Element::Text {
            at,
            text: text.to_owned(),
            size,
            color,
            anchor,
            upright: false,
        });
    }

    fn line(&mut self, points: Vec<[f32; 2]>, width: f32, color: Color32) {
        self.elements.push(Element::Line {
            points,
            width,
            color,
            dashed: false,
        });
    }

    /// What each kind of curve is, in a row below the title.
    fn legend(&mut self, traces: &[Trace<'_>]) {
        let mut x = LEFT;
        for trace in traces {
            let (name, width) = match trace.look {
                Look::Faint => ("Training, each step", 260.0),
                Look::Solid => ("Training, smoothed", 260.0),
                Look::Marked => ("Validation", 180.0),
            };
            self.curve(
                trace,
                vec![[x, 134.0], [x + 22.0, 134.0], [x + 44.0, 134.0]],
                &[[x + 22.0, 134.0]],
            );
            self.text(
                [x + 56.0, 134.0],
                name,
                TEXT,
                self.palette.ink,
                Anchor::Start,
            );
            x += width + 40.0;
        }
    }

    fn panel(&mut self, contents: &Contents<'_>, panel: &Panel<'_>, top: f32, bottom: f32) {
        let [from, to] = contents.range.map(|step| contents.x.position(step));
        let curves: Vec<Vec<PlotPoint>> = panel
            .traces
            .iter()
            .map(|trace| positions(contents, panel, trace))
            .collect();
        let [low, high] = chart::bounds(panel.y, curves.iter().map(Vec::as_slice), from, to);
        let across = |x: f64| LEFT + ((x - from) / (to - from)) as f32 * (RIGHT - LEFT);
        let up = |y: f64| bottom - ((y - low) / (high - low)) as f32 * (bottom - top);

        let grid = |from, to, length: f32| GridInput {
            bounds: (from, to),
            base_step_size: (to - from) / f64::from(length) * f64::from(GRID),
        };
        for mark in marks(&grid(from, to, RIGHT - LEFT), 130.0) {
            self.tick(
                [across(mark.value), bottom],
                [0.0, top - bottom],
                &contents.x.tick(mark),
            );
        }
        let input = grid(low, high, bottom - top);
        let heights: Vec<GridMark> = if panel.y.log {
            YAxis::log_marks(&input)
        } else {
            marks(&input, 56.0)
        };
        for mark in heights {
            self.tick(
                [LEFT, up(mark.value)],
                [RIGHT - LEFT, 0.0],
                &panel.y.tick(mark),
            );
        }
        let [ink, outline] = [self.palette.ink, self.palette.line];
        self.line(
            vec![
                [LEFT, top],
                [RIGHT, top],
                [RIGHT, bottom],
                [LEFT, bottom],
                [LEFT, top],
            ],
            1.0,
            outline,
        );
        let at = [34.0, f32::midpoint(top, bottom)];
        self.elements.push(Element::Text {
            at,
            text: panel.name.to_owned(),
            size: TEXT,
            color: ink,
            anchor: Anchor::Middle,
            upright: true,
        });
        for (trace, curve) in panel.traces.iter().zip(curves) {
            let pixels = |point: &PlotPoint| [across(point.x), up(point.y)];
            let marks: Vec<[f32; 2]> = curve
                .iter()
                .filter(|point| (from..=to).contains(&point.x))
                .map(pixels)
                .collect();
            self.curve(
                trace,
                clipped(&curve, from, to).iter().map(pixels).collect(),
                &marks,
            );
        }
    }

    /// A line of the grid, from a place at the left or lower edge, with its label outside.
    fn tick(&mut self, at: [f32; 2], along: [f32; 2], label: &str) {
        let to = [at[0] + along[0], at[1] + along[1]];
        self.line(vec![at, to], 1.0, self.palette.grid);
        let (place, anchor) = if along[0] == 0.0 {
            ([at[0], at[1] + 20.0], Anchor::Middle)
        } else {
            ([at[0] - 12.0, at[1]], Anchor::End)
        };
        if !label.is_empty() {
            self.text(place, label, TEXT * 0.85, self.palette.ink, anchor);
        }
    }

    /// A curve as it looks on the screen, with marks on its points if it has some.
    fn curve(&mut self, trace: &Trace<'_>, points: Vec<[f32; 2]>, marks: &[[f32; 2]]) {
        let (width, color) = match trace.look {
            Look::Faint => (1.2, self.palette.paper.lerp_to_gamma(trace.color, 0.4)),
            Look::Solid => (3.0, trace.color),
            Look::Marked => (2.2, trace.color),
        };
        let is_marked = trace.look == Look::Marked;
        self.elements.push(Element::Line {
            points,
            width,
            color,
            dashed: is_marked,
        });
        if is_marked {
            self.elements
                .extend(marks.iter().map(|&at| Element::Diamond {
                    at,
                    radius: 8.0,
                    color,
                }));
        }
    }
}

/// A curve's points in the range, and the next on either side, as positions on the axes.
fn positions(contents: &Contents<'_>, panel: &Panel<'_>, trace: &Trace<'_>) -> Vec<PlotPoint> {
    let points = trace
        .curve
        .visible(contents.range[0], contents.range[1], BUDGET);
    points
        .into_iter()
        .map(|[step, value]| PlotPoint::new(contents.x.position(step), panel.y.position(value)))
        .collect()
}

/// The part of a line between two horizontal positions.
fn clipped(line: &[PlotPoint], from: f64, to: f64) -> Vec<PlotPoint> {
    let mut kept = Vec::with_capacity(line.len());
    for (index, &point) in line.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| line.get(before));
        if let Some(&before) = before {
            for edge in [from, to] {
                if before.x < edge && edge < point.x {
                    let share = (edge - before.x) / (point.x - before.x);
                    kept.push(PlotPoint::new(
                        edge,
                        before.y + share * (point.y - before.y),
                    ));
                }
            }
        }
        if (from..=to).contains(&point.x) {
            kept.push(point);
        }
    }
    kept
}
