//! The look: the only folder with colors, spacings, fonts and radii, and the few widgets that all
//! panels share.

use eframe::egui::{CornerRadius, Vec2, vec2};

mod button;
mod controls;
pub mod fonts;
pub mod icons;
pub mod image_sheet;
mod layout;
mod paint;
mod palette;
pub mod table;
mod text;
mod tokens;

pub use self::button::{
    danger_button, icon_button, labeled, primary_button, quiet_button, secondary_button,
    small_button, small_quiet_button, toggle,
};
pub use self::controls::{
    Pushes, announce_verdict, ask, choose, describe, drop_down, entered, escaped, explain_list,
    focus_first, name, progress_bar, spinner,
};
pub use self::fonts::SemiBold;
pub use self::layout::{
    bar_frame, card, column, dialog, dialog_frame, divider, empty_state, full_card, room, row,
    screen_frame, scroll, side_frame, verdict_row, wide_column,
};
pub use self::paint::{
    NamedBar, bar, floating_box, focus_ring, gradient, outline, outline_outside, paper, picture,
    ring_around_focus, text_with_halo,
};
pub use self::palette::apply;
pub use self::text::{
    caption, caution, facts, figure, hint, invalid, invalid_link, note, note_with_icon, section,
    semibold, strong, strong_line, text_size, text_width, weak, with_commands, wrapped,
};
#[cfg(debug_assertions)]
pub(super) use self::tokens::reload;
pub use self::tokens::{Motion, Palette, allow_motion, motion, on_white, palette, readable_on};

/// The basic distance of the layout, in points.
pub const GAP: f32 = 12.0;
/// The distance of a screen's content from its edges, in points.
pub const SCREEN_MARGIN: Vec2 = vec2(18.0, 14.0);
pub const RADIUS: f32 = 10.0;
pub const RADIUS_SMALL: f32 = 6.0;
/// Space for the numbers beside a plot, enough for the longest, so that plots above each other line
/// up to the pixel.
pub const PLOT_AXIS_WIDTH: f32 = 58.0;
/// The smallest useful height of a plot, in points.
pub const PLOT_MIN_HEIGHT: f32 = 150.0;
/// Type size of the verdict on the Draw screen, from a low window to a large one.
pub const VERDICT_LARGE: std::ops::RangeInclusive<f32> = 76.0..=220.0;
/// Type size of the verdict beside the plots.
pub const VERDICT_SMALL: f32 = 44.0;
/// Type size of the accuracy above the plots.
pub const HEADLINE: f32 = 32.0;
/// Type size of what stands beside it.
pub const HEADLINE_BESIDE: f32 = 17.0;
/// Height of both, in points.
pub const HEADLINE_HEIGHT: f32 = 40.0;
/// The greatest width of running text, in points.
pub const TEXT_WIDTH: f32 = 560.0;
/// The height of main buttons and those beside them, in points.
pub const BUTTON_HEIGHT: f32 = 34.0;
/// The width of a help popup, in points.
pub const HELP_WIDTH: f32 = 340.0;

const fn radius(points: f32) -> CornerRadius {
    CornerRadius::same(points as u8)
}
