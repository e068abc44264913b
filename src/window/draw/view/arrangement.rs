//! How large the parts of the Draw screen are: the canvas, the column beside it and, where there is
//! room, the recent drawings beside that, or the digits that were read below the canvas for
//! several.

use eframe::egui::{Rect, Ui, Vec2, pos2, vec2};

use crate::window::style;
use crate::window::{CANVAS as UNITS, WIDE_CANVAS};

/// The canvas's smallest and largest side, in points: larger ones are tiring to draw on.
const CANVAS: std::ops::RangeInclusive<f32> = 160.0..=1800.0;
/// The least height for the digits below the canvas for several, in points.
const BELOW: f32 = 170.0;
/// The narrowest column beside the canvas, and the widest in a window up to [`WIDE`], in points.
const COLUMN: [f32; 2] = [280.0, 460.0];
/// From this width on, in points, the column grows with the window.
const WIDE: f32 = 1700.0;
/// Smallest and largest width of the recent drawings, in points.
const RECENT: std::ops::RangeInclusive<f32> = 260.0..=1000.0;

/// The sizes of the parts, in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrangement {
    pub canvas: Vec2,
    pub height: f32,
    /// The height of the tools above it.
    pub tools: f32,
    /// The width of the column beside it.
    pub column: f32,
    pub recent: Option<f32>,
    /// The empty space to the left of all that.
    pub left: f32,
}

impl Arrangement {
    /// The space between two parts, in points.
    pub const GAP: f32 = style::GAP * 2.0;

    /// The sizes in a room of this size, for one digit or `several`.
    pub fn of(room: Vec2, several: bool, ui: &Ui) -> Self {
        let tools = ui.spacing().interact_size.y + ui.spacing().item_spacing.y * 2.0;
        let widest = COLUMN[1] + (room.x - WIDE).max(0.0) * 0.13;
        let column = (room.x * 0.36).clamp(COLUMN[0], widest).floor();
        let beside = room.x - column - Self::GAP;
        if several {
            let shape = WIDE_CANVAS / UNITS;
            let width = beside
                .min((room.y - tools - BELOW) * shape)
                .clamp(*CANVAS.start(), *CANVAS.end())
                .floor();
            let left = ((beside - width) / 2.0).max(0.0).floor();
            return Self {
                canvas: vec2(width, width / shape),
                height: room.y,
                tools,
                column,
                recent: None,
                left,
            };
        }
        let side = beside
            .min(room.y - tools)
            .clamp(*CANVAS.start(), *CANVAS.end())
            .floor();
        let spare = beside - side;
        let recent =
            Some((spare - Self::GAP).min(*RECENT.end())).filter(|width| width >= RECENT.start());
        let unused = spare - recent.map_or(0.0, |width| width + Self::GAP);
        let left = (unused / 2.0).max(0.0).floor();
        Self {
            canvas: vec2(side, side),
            height: side + tools,
            tools,
            column,
            recent,
            left,
        }
    }

    /// The column beside the canvas, in this part of the window.
    pub fn column_in(&self, content: Rect) -> Rect {
        let left = content.left() + self.left + self.canvas.x + Self::GAP;
        Rect::from_min_size(pos2(left, content.top()), vec2(self.column, self.height))
    }
}
