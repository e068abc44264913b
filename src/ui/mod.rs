//! Owns the window: the frame loop that polls the app, draws its state and hands it what the person did.
//! Must not keep state of its own beyond what is seen (scroll places, which plot is zoomed).

mod dialogs;
mod draw;
mod icon;
mod models;
mod plots;
mod results;
mod run_panel;
mod shell;
mod shortcuts;
mod start;
pub mod style;
mod window;
mod wizard;

pub use start::run;
pub use window::Inkling;
