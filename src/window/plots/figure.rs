//! The curves as a figure for papers and posts: title, legend, axes and margins, always on white.
//! It is laid out here as SVG 1.1, which `resvg` paints as PNG.

use std::fmt::Write;

use eframe::egui::{Color32, FontDefinitions};
use egui_plot::{GridInput, GridMark, PlotPoint};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Source;
use resvg::usvg::{Options, Tree};

use super::chart;
use super::chart::{Look, Trace};
use super::scale::{GRID, XAxis, XUnit, YAxis, marks};
use crate::records::LearningRateChange;
use crate::window::style::Palette;

/// Width and height of the figure, in pixels.
pub const SIZE: [f32; 2] = [1600.0, 1000.0];
/// Type faces of the usual systems, all with figures of one width.
const FONTS: &str = "Ubuntu, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif";

/// Left and right of the panels, and of their tops and bottoms.
const LEFT: f32 = 130.0;
const RIGHT: f32 = 1550.0;
const PANELS: [[f32; 2]; 2] = [[170.0, 510.0], [560.0, 900.0]];
const TITLE: f32 = 34.0;
const TEXT: f32 = 22.0;
/// From the middle of a mark to a corner.
const MARK: f32 = 8.0;
/// The width and the dots of a line that marks a change of the learning rate.
const RATE_CHANGE: f32 = 1.5;
const DOTS: &str = " stroke-dasharray=\"3 5\"";
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
    /// Where a person moved the learning rate.
    pub rate_changes: &'a [LearningRateChange],
}

#[derive(Clone, Debug)]
pub struct Panel<'a> {
    /// The quantity, with its unit.
    pub name: &'static str,
    /// The curves, from back to front.
    pub traces: Vec<Trace<'a>>,
    pub y: YAxis,
}

impl Contents<'_> {
    fn shown_rate_changes(&self) -> impl Iterator<Item = &LearningRateChange> {
        let [from, to] = self.range;
        let changes = self.rate_changes.iter();
        changes.filter(move |change| (from..=to).contains(&(change.step as f64)))
    }
}

pub fn svg(contents: &Contents<'_>, palette: Palette) -> String {
    let [width, height] = SIZE;
    let mut page = Page {
        svg: format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"{FONTS}\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
        ),
        palette,
    };
    page.text([LEFT, 48.0], &contents.title, TITLE, palette.ink, "start");
    page.text(
        [LEFT, 92.0],
        &contents.subtitle,
        TEXT,
        palette.faded,
        "start",
    );
    page.legend(contents);
    for (panel, [top, bottom]) in contents.panels.iter().zip(PANELS) {
        page.panel(contents, panel, top, bottom);
    }
    if !contents.note.is_empty() {
        page.text(
            [RIGHT - 12.0, PANELS[0][0] + 20.0],
            contents.note,
            TEXT * 0.85,
            palette.faded,
            "end",
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
        "middle",
    );
    page.svg + "</svg>\n"
}

/// A figure as PNG, with the window's fonts; takes about a tenth of a second. `None` only if it
/// could not be painted.
pub fn png(svg: &str) -> Option<Vec<u8>> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    for font in FontDefinitions::default().font_data.into_values() {
        fonts.load_font_source(Source::Binary(font.font.clone()));
    }
    let tree = Tree::from_str(svg, &options).ok()?;
    let mut image = Pixmap::new(SIZE[0] as u32, SIZE[1] as u32)?;
    resvg::render(&tree, Transform::identity(), &mut image.as_mut());
    image.encode_png().ok()
}

struct Page {
    svg: String,
    palette: Palette,
}

impl Page {
    fn tag(&mut self, tag: std::fmt::Arguments<'_>) {
        // A string takes any text.
        _ = writeln!(self.svg, "{tag}");
    }

    /// A text; the middle of its height, and of its width the part that the anchor says, are at
    /// this place.
    fn text(&mut self, at: [f32; 2], text: &str, size: f32, color: Color32, anchor: &str) {
        self.turned_text(at, text, size, color, anchor, "");
    }

    fn turned_text(
        &mut self,
        [x, y]: [f32; 2],
        text: &str,
        size: f32,
        color: Color32,
        anchor: &str,
        transform: &str,
    ) {
        // Not every program knows `dominant-baseline`: the base line is about a third of the size
        // below the middle.
        let base = y + 0.35 * size;
        let (color, text) = (hex(color), escaped(text));
        self.tag(format_args!(
            "<text x=\"{x:.1}\" y=\"{base:.1}\" font-size=\"{size:.1}\" fill=\"{color}\" text-anchor=\"{anchor}\"{transform}>{text}</text>"
        ));
    }

    fn line(&mut self, points: &[[f32; 2]], width: f32, color: Color32, dashes: &str) {
        let points: Vec<String> = points
            .iter()
            .map(|[x, y]| format!("{x:.1},{y:.1}"))
            .collect();
        let (points, color) = (points.join(" "), hex(color));
        self.tag(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dashes}/>"
        ));
    }

    fn diamond(&mut self, [x, y]: [f32; 2], color: Color32) {
        let (left, right, top, bottom) = (x - MARK, x + MARK, y - MARK, y + MARK);
        let color = hex(color);
        self.tag(format_args!(
            "<polygon points=\"{left:.1},{y:.1} {x:.1},{top:.1} {right:.1},{y:.1} {x:.1},{bottom:.1}\" fill=\"{color}\"/>"
        ));
    }

    /// What each kind of curve is, and the lines that mark changes of the learning rate, in a row
    /// below the title.
    fn legend(&mut self, contents: &Contents<'_>) {
        let mut x = LEFT;
        for trace in &contents.panels[0].traces {
            let (name, width) = match trace.look {
                Look::Faint => ("Training, each step", 260.0),
                Look::Solid => ("Training, smoothed", 260.0),
                Look::Marked => ("Validation", 180.0),
            };
            self.curve(
                trace,
                &[[x, 134.0], [x + 22.0, 134.0], [x + 44.0, 134.0]],
                &[[x + 22.0, 134.0]],
            );
            self.text([x + 56.0, 134.0], name, TEXT, self.palette.ink, "start");
            x += width + 40.0;
        }
        if contents.shown_rate_changes().next().is_some() {
            self.line(
                &[[x + 22.0, 120.0], [x + 22.0, 148.0]],
                RATE_CHANGE,
                self.palette.faded,
                DOTS,
            );
            let name = "Learning rate changed";
            self.text([x + 36.0, 134.0], name, TEXT, self.palette.ink, "start");
        }
    }

    /// A dotted line for each change of the learning rate in the range, and what it was multiplied
    /// by, as far as there is room.
    fn rate_changes(
        &mut self,
        contents: &Contents<'_>,
        across: impl Fn(f64) -> f32,
        [top, bottom]: [f32; 2],
    ) {
        let size = TEXT * 0.85;
        let mut free = LEFT;
        for change in contents.shown_rate_changes() {
            let x = across(contents.x.position(change.step as f64));
            let faded = self.palette.faded;
            self.line(&[[x, top], [x, bottom]], RATE_CHANGE, faded, DOTS);
            let text = change.label();
            let end = x + 8.0 + text.chars().count() as f32 * size * 0.6;
            if x >= free && end <= RIGHT {
                self.text([x + 8.0, bottom - 18.0], &text, size, faded, "start");
                free = end;
            }
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
            &[
                [LEFT, top],
                [RIGHT, top],
                [RIGHT, bottom],
                [LEFT, bottom],
                [LEFT, top],
            ],
            1.0,
            outline,
            "",
        );
        let [x, y] = [34.0, f32::midpoint(top, bottom)];
        let upright = format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"");
        self.turned_text([x, y], panel.name, TEXT, ink, "middle", &upright);
        self.rate_changes(contents, across, [top, bottom]);
        for (trace, curve) in panel.traces.iter().zip(curves) {
            let pixels = |point: &PlotPoint| [across(point.x), up(point.y)];
            let marks: Vec<[f32; 2]> = curve
                .iter()
                .filter(|point| (from..=to).contains(&point.x))
                .map(pixels)
                .collect();
            let points: Vec<_> = clipped(&curve, from, to).iter().map(pixels).collect();
            self.curve(trace, &points, &marks);
        }
    }

    /// A line of the grid, from a place at the left or lower edge, with its label outside.
    fn tick(&mut self, at: [f32; 2], along: [f32; 2], label: &str) {
        let to = [at[0] + along[0], at[1] + along[1]];
        self.line(&[at, to], 1.0, self.palette.grid, "");
        let (place, anchor) = if along[0] == 0.0 {
            ([at[0], at[1] + 20.0], "middle")
        } else {
            ([at[0] - 12.0, at[1]], "end")
        };
        if !label.is_empty() {
            self.text(place, label, TEXT * 0.85, self.palette.ink, anchor);
        }
    }

    /// A curve as it looks on the screen, with marks on its points if it has some.
    fn curve(&mut self, trace: &Trace<'_>, points: &[[f32; 2]], marks: &[[f32; 2]]) {
        let (width, color) = match trace.look {
            Look::Faint => (1.2, self.palette.paper.lerp_to_gamma(trace.color, 0.4)),
            Look::Solid => (3.0, trace.color),
            Look::Marked => (2.2, trace.color),
        };
        if trace.look == Look::Marked {
            self.line(points, width, color, " stroke-dasharray=\"9 6\"");
            for &mark in marks {
                self.diamond(mark, color);
            }
        } else {
            self.line(points, width, color, "");
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

fn hex(color: Color32) -> String {
    let [red, green, blue, _] = color.to_array();
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The text as XML, without the control characters that XML cannot have.
fn escaped(text: &str) -> String {
    let visible = text.chars().filter(|letter| !letter.is_control());
    visible
        .collect::<String>()
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
