//! The window, by features. Each feature's folder owns its state and its view; `view` folders alone
//! know egui. The engine is reached through its handle.

mod action;
mod apply;
mod autosave;
mod background;
mod ctx;
mod desktop;
pub mod digit_map;
pub mod draw;
mod engine_link;
mod events;
mod frame;
pub mod hardware;
pub mod inside;
mod jobs;
pub mod lessons;
mod messages;
pub mod models;
pub mod my_digits;
mod notice;
pub mod plots;
pub mod results;
mod shell;
mod start;
mod state;
pub mod style;
pub mod sweeps;
pub mod train;
mod wizard;

pub use action::{Action, Screen, WizardStep};
pub use background::{BackgroundTasks, SharedFolder, Wake};
pub use ctx::{AppDeps, Ctx, Request};
#[cfg(all(unix, not(target_os = "macos")))]
pub use desktop::motion::portal;
pub use desktop::{Answer, Choice, Desktop, Dialogs, PathQuestion, Purpose, WindowRequest};
pub use digit_map::{MapAction, MapOfDigits};
pub use draw::{
    CANVAS, Canvas, Drawing, OpenImage, PenStroke, Tool, WIDE_CANVAS, about_inference_comparison,
    device_name, inference_row, verdict,
};
pub use draw::{Draw, DrawAction};
pub use frame::{Inkling, Rest};
pub use hardware::{
    BenchmarkView, Checked, Checks, Comparison, ComparisonKind, DeleteReceived, ListReceived,
    Machine, MachineAction, Monitor, OtherMachine, OtherMachineDialog, ReachHost, ReachState,
    SampleLoad, SelfTest, SendingQuestion, SentView, automatic,
};
pub use inside::timeline;
pub use inside::{InsideAction, Level};
pub use jobs::{Activity, JobOutcome, Jobs, RunningJob, ShownJob, WithoutResult};
pub use lessons::{Lessons, LessonsAction};
pub use models::{
    Change, ComparisonView, Dropped, ExportView, ImportQuestion, InTheWay, Thumbnail,
};
pub use models::{Models, ModelsAction};
pub use my_digits::MyDigitsAction;
pub use my_digits::{Collection, DIGITS, FineTuneResult, MyDigitsView, MyDrawing, NOT_TRAINABLE};
pub use notice::{Notice, Offer, Severity};

pub use results::{Results, ResultsView};
pub use start::run;
pub use state::{App, Shell};
pub use style::Pushes;
pub use sweeps::{
    ExecutorFactory, SettingRow, SweepAction, SweepField, SweepForm, SweepFormError, SweepNews,
    SweepPhase, SweepView, Sweeps,
};
pub use train::{ClassCount, HeldOutView};
pub use train::{DataImages, Headline, History, LastCheckpoint, Phase, RunView, RunningMean};
pub use train::{
    DownloadState, DownloadView, Samples, Search, SearchAction, SearchKind, SearchState,
    ValidationError,
};
pub use train::{Train, TrainAction};
