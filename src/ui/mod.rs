//! Owns the window: the frame loop that polls the app, draws its state and hands it what the person did.
//! Must not keep state of its own beyond what is seen (scroll places, which plot is zoomed).

mod about;
mod desktop;
mod dialogs;
pub mod draw;
mod drop_zone;
pub mod hardware;
mod help;
pub mod models;
mod monitor;
mod names;
#[cfg(target_os = "macos")]
mod opened_by_finder;
mod pictures;
pub mod plots;
pub mod results;
mod run_panel;
mod shell;
mod shortcuts;
mod signs;
mod start;
pub mod style;
mod window;
mod wizard;

pub use start::run;
pub use window::Inkling;
