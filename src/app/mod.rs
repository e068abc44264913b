//! Owns what the window shows, as data: state, the actions a person can take, and the sentences for what went wrong.
//! Must not know egui or candle; it talks to the engine through its handle and draws nothing.

mod action;
mod background;
mod drawing;
mod history;
pub mod messages;
mod notice;
mod results;
mod run_view;
mod settings;
mod state;
pub mod statistics;
pub mod verdict;

pub use action::{Action, Screen, WizardStep};
pub use background::{Background, Finding};
pub use drawing::{CANVAS, Drawing};
pub use history::History;
pub use notice::{Notice, Severity};
pub use results::ResultsView;
pub use run_view::{Phase, RunView};
pub use settings::{Settings, Theme, WindowPlace};
pub use state::App;
