//! Owns what the window shows, as data: state, the actions a person can take, and the sentences for what went wrong.
//! Must not know egui or candle; it talks to the engine through its handle and draws nothing.

mod action;
mod apply;
mod background;
mod benchmark;
mod checking;
mod dialogs;
mod drawing;
mod form;
mod history;
mod incoming;
mod interrupted;
pub mod messages;
mod notice;
pub mod progress;
mod readiness;
mod reading_line;
mod reading_place;
mod remember;
mod results;
mod run_view;
mod settings;
mod state;
pub mod statistics;
pub mod verdict;

pub use action::{Action, Screen, WizardStep};
pub use background::{Background, Finding, Wake};
pub use benchmark::{BenchmarkUnderWay, BenchmarkView, Comparison, What};
pub use checking::{Checked, Checks, SelfTest, automatic};
pub use dialogs::{Choice, Dialogs};
pub use drawing::{CANVAS, Drawing};
pub use form::{Field, Obstacle};
pub use history::{History, RunningMean};
pub use notice::{Notice, Severity};
pub use reading_line::ReadingLine;
pub use reading_place::{ReadingPlace, about_comparison, device_name, reading_row};
pub use results::ResultsView;
pub use run_view::{LastCheckpoint, Phase, RunView};
pub use settings::{PEN, Settings, Theme, WindowPlace, ZOOM};
pub use state::{App, Surroundings};
