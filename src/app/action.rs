//! Owns the list of everything a person can do in the window.
//! Must not carry any of it out: `App::apply` does, in one place.

use std::path::PathBuf;

use super::machine::ComparisonKind;
use super::settings::{Settings, Theme};
use super::setup::Field;
use crate::records::benchmark::Extent;
use crate::records::{ExportSpec, JobId, ModelRef};
use crate::run_config::{DataSpec, DeviceChoice, Preset, ReadingChoice, RunConfig};

/// The screens behind the tabs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Screen {
    /// Run panel and live plots.
    Train,
    /// Canvas and reading.
    Draw,
    /// Finished runs.
    Models,
    /// Confusion matrix, accuracy per class, worst mistakes.
    Results,
    /// What this machine has, and how fast it is.
    Hardware,
}

impl Screen {
    /// Every screen, in the order of the tabs.
    pub const ALL: [Self; 5] = [Self::Train, Self::Draw, Self::Models, Self::Results, Self::Hardware];
}

/// The wizard's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the pages' titles")]
pub enum WizardStep {
    Welcome,
    Hardware,
    Data,
    Settings,
    Done,
}

impl WizardStep {
    /// Every page, in order.
    pub const ALL: [Self; 5] = [Self::Welcome, Self::Hardware, Self::Data, Self::Settings, Self::Done];
}

/// Something a person did.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Go to a screen.
    Show(Screen),
    /// Open the wizard, or go to one of its pages.
    Wizard(WizardStep),
    /// Leave the wizard, finished or skipped; it does not come back by itself.
    CloseWizard,
    /// Change the configuration of the next run.
    Configure(Box<RunConfig>),
    /// Type into a number's field.
    Type(Field, String),
    /// Take a preset's values.
    ApplyPreset(Preset),
    /// Take the settings recommended for this machine.
    ApplyRecommended,
    /// Start a run with the configuration as it stands.
    Start,
    /// Hold the run.
    Pause,
    /// Go on.
    Resume,
    /// End the run.
    Stop,
    /// The pen touches the canvas here (canvas units, see [`super::CANVAS`]).
    PenDown([f32; 2]),
    /// The pen moved here.
    PenMove([f32; 2]),
    /// The pen left the canvas.
    PenUp,
    /// Take back the last stroke, or the clearing.
    Undo,
    /// Bring it back.
    Redo,
    /// Empty the canvas.
    ClearDrawing,
    /// Set the pen's diameter, in canvas units.
    SetPen(f32),
    /// Read drawings with this model.
    UseModel(ModelRef),
    /// Read drawings with this model and go to the canvas.
    DrawWith(ModelRef),
    /// Read drawings there.
    ChooseInferenceDevice(ReadingChoice),
    /// Look at the folders of finished runs again.
    RefreshRuns,
    /// Go on with an interrupted run from the checkpoint in this folder.
    ResumeInterrupted(PathBuf),
    /// Forget an interrupted run: delete its checkpoint.
    ForgetInterrupted(PathBuf),
    /// Delete a run's folder.
    DeleteRun(PathBuf),
    /// Show what a finished run got right and wrong.
    ShowResults(PathBuf),
    /// Measure a model on the test split of a data set.
    Evaluate {
        /// The model.
        model: ModelRef,
        /// Whose test split.
        data: DataSpec,
    },
    /// Cancel a job.
    CancelJob(JobId),
    /// Choose how to export a model.
    OpenExport(ModelRef),
    /// Change how it is exported.
    ChangeExport(ExportSpec),
    /// Write the export to a file, asked for in a dialog.
    SaveExport,
    /// Export nothing.
    CloseExport,
    /// Ask for a file to import in a dialog.
    ChooseImport,
    /// Take files that were dropped on the window.
    Drop(Vec<PathBuf>),
    /// Have the next run start from the weights of the run in this folder.
    TrainFurther(PathBuf),
    /// Another run is looked at than the one imported last.
    LookedElsewhere,
    /// Check that a device computes rightly.
    CheckDevice(DeviceChoice),
    /// Measure this machine.
    Benchmark(Extent),
    /// Measure the settings as they stand with every batch size, or on every device.
    Compare(ComparisonKind),
    /// Open files that came from outside: a double click, another start of the program.
    Open(Vec<PathBuf>),
    /// Ask for a data folder in a dialog.
    ChooseDataFolder,
    /// Look for data sets in this folder as well, and train on it.
    UseDataFolder(PathBuf),
    /// Ask for the folder of NVIDIA's libraries in a dialog.
    ChooseCudaFolder,
    /// Look for NVIDIA's libraries in this folder first, or only in the usual places.
    UseCudaFolder(Option<PathBuf>),
    /// Write the curves of the run to a CSV file, asked for in a dialog.
    SaveCurves,
    /// Save the drawing as an ink file; where it goes is asked.
    SaveDrawing,
    /// Write this PNG to a file, asked for in a dialog.
    SavePng {
        /// The name offered.
        name: String,
        /// The file's bytes.
        bytes: Vec<u8>,
    },
    /// Show a folder in the system's file manager.
    OpenFolder(PathBuf),
    /// Use light or dark colours, or what the system says.
    SetTheme(Theme),
    /// Show or hide the monitor.
    ShowMonitor(bool),
    /// Change remembered settings.
    ChangeSettings(Box<Settings>),
    /// Take a notice away.
    Dismiss(u64),
}
