//! Owns what the window shows, as data: state, the actions a person can take, and the sentences for what went wrong.
//! Must not know egui or candle; it talks to the engine through its handle and draws nothing.

mod action;
mod apply;
mod background;
mod benchmark;
mod checking;
mod dialogs;
mod drawing;
mod exchange;
mod form;
mod history;
mod incoming;
mod interrupted;
pub mod messages;
mod notice;
pub mod progress;
mod readiness;
mod reading_line;
mod remember;
mod results;
mod run_view;
mod settings;
mod state;
pub mod verdict;

pub use action::{Action, Screen, WizardStep};
pub use background::{Background, Finding, Wake};
pub use benchmark::{BatchSizes, BenchmarkUnderWay, BenchmarkView};
pub use checking::{Checked, Checks, SelfTest};
pub use dialogs::{Choice, Dialogs};
pub use drawing::{CANVAS, Drawing};
pub use exchange::{Dropped, ExportView};
pub use form::{Field, Obstacle};
pub use history::{History, RunningMean};
pub use notice::{Notice, Severity};
pub use reading_line::ReadingLine;
pub use results::ResultsView;
pub use run_view::{LastCheckpoint, Phase, RunView};
pub use settings::{PEN, Settings, Theme, WindowPlace, ZOOM};
pub use state::{App, Surroundings};
