//! The window: a frame loop that polls the app, draws its state and returns what the person did as
//! actions. Keeps only view state of its own (scroll positions, zoomed plots, open dialogs);
//! everything else belongs to [`crate::app`].

mod about;
mod desktop;
mod dialogs;
mod download;
pub mod draw;
mod drop_zone;
mod grid_keys;
pub mod hardware;
mod help;
mod icons;
mod image_sheet;
mod import_question;
pub mod learning;
pub mod models;
mod monitor;
pub mod my_digits;
#[cfg(target_os = "macos")]
mod opened_by_finder;
mod other_machine;
mod path_question;
pub mod plots;
pub mod results;
mod run_panel;
mod sending_question;
mod shell;
mod shortcuts;
mod start;
pub mod style;
pub mod sweep;
mod window;
mod wizard;

pub use start::run;
pub use window::Inkling;
