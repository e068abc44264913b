//! Everything a person can do in the window. `App::apply` carries it out, in one place.

use std::path::PathBuf;
use std::sync::Arc;

use super::draw::Tool;
use super::hardware::{ComparisonKind, MachineAction};
use super::settings::{Settings, Theme};
use super::sweeps::SweepAction;
use super::train::setup::SearchAction;
use crate::data::my_digits::KeptDrawing;
use crate::ink::Step;
use crate::records::benchmark::Effort;
use crate::records::{Annotation, ExportSpec, ImportSpec, JobId, ModelRef};
use crate::run_config::{
    DataSpec, DeviceChoice, InferenceChoice, NamedSet, Preset, RunConfig, SetFormat, Setting,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Screen {
    Train,
    Draw,
    Models,
    Results,
    Sweep,
    Hardware,
    MyDigits,
}

impl Screen {
    /// Every screen, in the order of the tabs.
    pub const ALL: [Self; 7] = [
        Self::Train,
        Self::Draw,
        Self::Models,
        Self::Results,
        Self::Sweep,
        Self::Hardware,
        Self::MyDigits,
    ];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WizardStep {
    Welcome,
    Hardware,
    Data,
    Settings,
    Done,
}

impl WizardStep {
    /// Every page, in order.
    pub const ALL: [Self; 5] = [
        Self::Welcome,
        Self::Hardware,
        Self::Data,
        Self::Settings,
        Self::Done,
    ];
}

/// An action of the person at the window.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Start a run with the current settings once the one in progress has finished.
    QueueRun,
    /// Show the next run on Train, or the current or last one.
    ShowNextRun(bool),
    /// Start the first run of the queue.
    StartQueued,
    /// Take a run out of the queue.
    RemoveQueued(usize),
    /// Go to a screen.
    Show(Screen),
    /// Open the wizard, or go to one of its pages.
    Wizard(WizardStep),
    /// Leave the wizard, finished or skipped; it is not shown again at the next launch.
    CloseWizard,
    /// Change the configuration of the next run.
    Configure(Box<RunConfig>),
    Download(NamedSet),
    /// Cancel that, or put away what is said about its failure.
    CancelDownload,
    /// Type into the field of a number.
    Type(Setting, String),
    ApplyPreset(Preset),
    /// Apply the settings recommended for this machine.
    ApplyRecommended,
    Sweep(SweepAction),
    /// Start a run with the current configuration.
    Start,
    Pause,
    Resume,
    Stop,
    /// Try again to save the run that has ended but could not be saved.
    SaveRun,
    /// Save that run in a folder chosen in a dialog.
    ChooseRunFolder,
    ChooseTool(Tool),
    /// The pen touches the canvas here (canvas units, see [`crate::window::CANVAS`]).
    PenDown([f32; 2]),
    /// The canvas is shown with this many screen points per unit.
    PenScale(f32),
    /// The eraser touches the canvas here, whichever tool is chosen.
    EraserDown([f32; 2]),
    /// The pen or the eraser moved here.
    PenMove([f32; 2]),
    /// The pen presses this hard, from 0 to 1, where it goes next.
    PenPressure(f32),
    /// The pen or the eraser was lifted.
    PenUp,
    /// Undo the last change of the drawing: a stroke, erasing, clearing, or a drawing that was put
    /// there.
    Undo,
    Redo,
    ClearDrawing,
    /// Bring back the recent drawing with this index.
    RestoreDrawing(usize),
    /// Keep the drawing on the canvas with this digit; `None` for the digit that is asked for, or
    /// that the model named.
    Keep(Option<u8>),
    /// Keep the recent drawing with this index, with this digit.
    KeepRecent(usize, u8),
    Relabel(Box<KeptDrawing>, u8),
    DeleteKept(Box<KeptDrawing>),
    /// Put a kept drawing on the canvas.
    DrawKept(Box<KeptDrawing>),
    /// Take the last change of the kept drawings back.
    UndoKept,
    /// Make the change of the kept drawings again that was taken back last.
    RedoKept,
    /// Import an ink file chosen in a dialog into the kept drawings.
    ImportInk,
    /// Export the kept drawings to a file or folder chosen in a dialog.
    ExportMyDigits(SetFormat),
    /// Start the guided collection of drawings: each digit this many times.
    Collect(usize),
    /// Skip the digit that it asks for.
    SkipDigit,
    /// Let it ask for the digit before again.
    PreviousDigit,
    StopCollecting,
    /// Fine-tune the model in use on the kept drawings.
    FineTune,
    /// Go back to the model that was in use before it was fine-tuned.
    UndoFineTune,
    /// Set the pen's diameter, in canvas units.
    SetPen(f32),
    /// Show the canvas for one digit or the one for several.
    ChooseCanvas {
        several: bool,
    },
    /// Show the probabilities of this digit on the canvas for several, from 0 on the left.
    ChooseDigit(usize),
    /// Show or fold away the steps from the drawing to the model's input.
    ShowSteps(bool),
    /// Carry out one of these steps, or leave it out to see what it does.
    SwitchStep {
        step: Step,
        on: bool,
    },
    /// Carry out all steps again.
    RestoreSteps,
    /// Copy the image that the model took as input.
    CopyImage,
    /// Save it as a PNG file chosen in a dialog.
    SaveImage,
    /// Open an image or ink file chosen in a dialog on the canvas.
    OpenInDraw,
    /// Open an image from the clipboard on the canvas.
    PasteImage {
        /// Its width and height, in pixels.
        size: [usize; 2],
        /// Red, green, blue and alpha of each pixel, with colours multiplied by alpha.
        pixels: Arc<Vec<u8>>,
    },
    UseModel(ModelRef),
    /// Use this model for drawings and go to the canvas.
    DrawWith(ModelRef),
    ChooseInferenceDevice(InferenceChoice),
    RefreshRuns,
    /// Resume an interrupted run from the checkpoint in this folder.
    ResumeInterrupted(PathBuf),
    /// Save an interrupted run as it was after its last completed epoch, without training on.
    SaveInterrupted(PathBuf),
    /// Discard an interrupted run: delete its checkpoint.
    ForgetInterrupted(PathBuf),
    /// Delete a run's folder; it can be restored until the window closes.
    DeleteRun(PathBuf),
    RestoreRun(PathBuf),
    /// Give the run in this folder its name, note and star.
    Annotate(PathBuf, Annotation),
    /// Show the curves of a finished run.
    ShowCurves(PathBuf),
    /// Show the results of a finished run.
    ShowResults(PathBuf),
    /// Evaluate a model on the test set of a data set.
    Evaluate {
        model: ModelRef,
        data: DataSpec,
    },
    /// Open the comparison of models, with the run in this folder first.
    OpenComparison(PathBuf),
    /// Choose a run to compare, or leave it out.
    ChooseCompared {
        folder: PathBuf,
        chosen: bool,
    },
    /// Choose the run that the other compared ones are compared with, by its folder.
    ChooseBaseline(PathBuf),
    /// Choose the data set whose test images the compared models classify.
    ChooseComparisonData(DataSpec),
    /// Measure the chosen models on the same test images.
    CompareModels,
    /// Go back to the list of models.
    CloseComparison,
    CancelJob(JobId),
    /// Go to Models, with the run in this folder selected.
    ShowModel(PathBuf),
    /// Open the export dialog for a model.
    OpenExport(ModelRef),
    ChangeExport(ExportSpec),
    /// Write the export to a file chosen in a dialog.
    SaveExport,
    /// Whether an export may replace the files that are in its way.
    ReplaceExported(bool),
    CloseExport,
    /// Import a file as this says, after a choice of what its weights do not say.
    ImportAs(ImportSpec),
    /// Leave a file unimported that could not be decided on.
    CloseImportQuestion,
    /// Choose a file to import in a dialog.
    ChooseImport,
    /// Open files that were dropped on the window.
    Drop(Vec<PathBuf>),
    /// Start the next run from the weights of the run in this folder.
    TrainFurther(PathBuf),
    /// Train the run in this folder again, to see whether its weights come out the same.
    Reproduce(PathBuf),
    /// The run that was to be selected under Models has been.
    RunSelected,
    CheckDevice(DeviceChoice),
    Benchmark(Effort),
    /// Compare batch sizes or devices with the current settings.
    Compare(ComparisonKind),
    /// A short training that finds something out about the next run.
    Search(SearchAction),
    /// Something about another machine to train on.
    Machine(MachineAction),
    /// Open files passed on by a double click or another start of the program.
    Open(Vec<PathBuf>),
    /// Choose a data folder in a dialog.
    ChooseDataFolder,
    /// Add this folder to those searched for data sets, and train on it.
    UseDataFolder(PathBuf),
    /// Choose the folder of NVIDIA's libraries in a dialog.
    ChooseCudaFolder,
    /// Search this folder for NVIDIA's libraries first, or only the standard locations.
    UseCudaFolder(Option<PathBuf>),
    /// Type a path, where no dialog can be shown.
    TypePath(String),
    ConfirmPath,
    ClosePathQuestion,
    /// Write the run's curves to a CSV file chosen in a dialog.
    SaveCurves,
    /// Save the drawing as an ink file chosen in a dialog.
    SaveDrawing,
    /// Write this to a file chosen in a dialog.
    SaveFile {
        title: &'static str,
        name: String,
        /// The file's bytes.
        bytes: Vec<u8>,
    },
    /// Copy what helps to find a fault.
    CopyDiagnostics,
    /// Open a folder in the system's file manager.
    OpenFolder(PathBuf),
    /// Choose the light or dark theme, or the system's.
    SetTheme(Theme),
    /// Show or fold away the canvas and the held-out images beside the plots.
    ShowSidePanel(bool),
    ShowMonitor(bool),
    ChangeSettings(Box<Settings>),
    Dismiss(u64),
}
