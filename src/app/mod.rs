//! What the window shows, as data: state, the person's actions, and messages. Depends on neither
//! egui nor candle; it talks to the engine through its handle.

mod action;
mod apply;
mod background;
mod desktop;
mod drawing;
mod engine_link;
mod events;
mod jobs;
mod learning;
mod machine;
pub mod messages;
mod models;
mod my_digits;
mod notice;
mod run;
mod settings;
mod setup;
mod state;
mod sweep;

pub use action::{Action, Screen, WizardStep};
pub use background::{BackgroundResult, BackgroundTasks, Wake};
pub use desktop::{Answer, Choice, Desktop, Dialogs, PathQuestion, Purpose, WindowRequest};
pub use drawing::{
    CANVAS, Drawing, ImageReading, InferenceDevice, NumberCanvas, OpenImage, PenStroke,
    PredictionQueue, RecentDrawings, ShownStages, Tool, WIDE_CANVAS, about_inference_comparison,
    device_name, inference_row, verdict,
};
pub use jobs::{Jobs, RunningJob, ShownJob};
pub use learning::{ClassCount, Learning};
pub use machine::{
    BenchmarkView, Checked, Checks, Comparison, ComparisonKind, DeleteReceived, ListReceived,
    MachineAction, Monitor, OtherMachine, OtherMachineDialog, ReachHost, ReachState, SampleLoad,
    SelfTest, SendingQuestion, SentView, about, automatic, diagnostics,
};
pub use models::{
    Change, ComparisonView, Dropped, ExportView, ImportQuestion, InTheWay, ResultsView, Thumbnail,
};
pub use my_digits::{
    Collection, DIGITS, FileStep, FineTuneResult, Loaded, MyDigitsView, MyDrawing, NOT_TRAINABLE,
};
pub use notice::{Notice, Offer, Severity};
pub use run::{
    DataImages, Headline, History, LastCheckpoint, Phase, RunView, RunningMean, progress,
};
pub use settings::{PEN, PresetRate, Settings, Theme, WindowGeometry, ZOOM};
pub use setup::{
    BatchSizeSearchState, BatchSizeSearchView, Block, DownloadState, DownloadView, Field,
    ProfileState, ProfileView, RateSearchState, RateSearchView, Samples, ValidationError, blocks,
    expected_accuracy, harder_data_note,
};
pub use state::{App, AppDeps};
pub use sweep::{
    ExecutorFactory, LoadedSweep, SettingRow, SweepAction, SweepField, SweepForm, SweepNews,
    SweepPhase, SweepProblem, SweepView, Sweeps,
};
