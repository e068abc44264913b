//! The curves as a figure for papers and posts: title, legend, axes and margins, always on white.
//! It is laid out here, once, as lines and text, and written as SVG or painted as PNG.

mod layout;
mod png;
mod raster;
mod svg;

use eframe::egui::Color32;

pub use layout::{Contents, Panel, lay_out};
pub use png::png;
pub use raster::{mesh, over};
pub use svg::svg;

/// Width and height of the figure, in pixels.
pub const SIZE: [f32; 2] = [1600.0, 1000.0];

/// A figure as it is drawn, from back to front, in pixels from the upper left corner.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing(pub Vec<Element>);

#[derive(Clone, Debug, PartialEq)]
pub enum Element {
    /// A line through points.
    Line {
        /// The points, in order.
        points: Vec<[f32; 2]>,
        /// In pixels.
        width: f32,
        color: Color32,
        dashed: bool,
    },
    /// A mark at a point.
    Diamond {
        at: [f32; 2],
        /// From its centre to a corner.
        radius: f32,
        color: Color32,
    },
    Text {
        /// The middle of its height, and of its width the place that `anchor` says.
        at: [f32; 2],
        text: String,
        /// Type size in pixels.
        size: f32,
        color: Color32,
        /// Which part of it is at `at`.
        anchor: Anchor,
        /// Read from below to above.
        upright: bool,
    },
}

/// The part of a text that is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Where it begins.
    Start,
    Middle,
    /// Where it ends.
    End,
}
