//! Owns what the window shows, as data: state, the actions a person can take, and the sentences for what went wrong.
//! Must not know egui or candle; it talks to the engine through its handle and draws nothing.

mod action;
mod apply;
mod background;
mod desktop;
mod drawing;
mod events;
mod machine;
pub mod messages;
mod models;
mod notice;
mod run;
mod settings;
mod setup;
mod state;

pub use action::{Action, Screen, WizardStep};
pub use background::{Background, Finding, Wake};
pub use desktop::{Choice, Desktop, Dialogs, Wants};
pub use drawing::{CANVAS, Drawing, ReadingLine, ReadingPlace, about_comparison, device_name, reading_row, verdict};
pub use machine::{BenchmarkUnderWay, BenchmarkView, Checked, Checks, Comparison, Monitor, ReadLive, SelfTest, What, about, automatic};
pub use models::{Dropped, ExportView, ResultsView};
pub use notice::{Notice, Severity};
pub use run::{History, LastCheckpoint, Phase, RunView, RunningMean, progress};
pub use settings::{PEN, Settings, Theme, WindowPlace, ZOOM};
pub use setup::{Field, Obstacle};
pub use state::{App, Surroundings};
