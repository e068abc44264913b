//! Everything a person can do in the window. `App::apply` carries it out, in one place.

use crate::settings::{Settings, Theme};
use std::path::PathBuf;

use super::digit_map::MapAction;
use super::draw::DrawAction;
use super::hardware::MachineAction;
use super::inside::InsideAction;
use super::lessons::LessonsAction;
use super::models::ModelsAction;
use super::my_digits::MyDigitsAction;
use super::sweeps::SweepAction;
use super::train::TrainAction;
use super::train::setup::SearchAction;
pub use crate::lesson::Screen;
use crate::records::JobId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WizardStep {
    Welcome,
    Hardware,
    Data,
    Settings,
    Done,
}

impl WizardStep {
    pub const ALL: [Self; 5] = [
        Self::Welcome,
        Self::Hardware,
        Self::Data,
        Self::Settings,
        Self::Done,
    ];
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Show(Screen),
    /// Open the wizard, or go to one of its pages.
    Wizard(WizardStep),
    /// Leave the wizard, finished or skipped; it is not shown again at the next launch.
    CloseWizard,
    Sweep(SweepAction),
    CancelJob(JobId),
    /// Open files that were dropped on the window.
    Drop(Vec<PathBuf>),
    /// A short training that finds something out about the next run.
    Search(SearchAction),
    /// Something about another machine to train on.
    Machine(MachineAction),
    /// Open files passed on by a double click or another start of the program.
    Open(Vec<PathBuf>),
    /// Type a path, if no dialog can be shown.
    TypePath(String),
    ConfirmPath,
    ClosePathQuestion,
    /// Write this to a file chosen in a dialog.
    SaveFile {
        title: &'static str,
        name: String,
        bytes: Vec<u8>,
    },
    /// Open a folder in the system's file manager.
    OpenFolder(PathBuf),
    /// Choose the light or dark theme, or the system's.
    SetTheme(Theme),
    /// Show or fold away the canvas and the validation images beside the plots.
    ShowSidePanel(bool),
    ShowMonitor(bool),
    ChangeSettings(Box<Settings>),
    Dismiss(u64),
    Train(TrainAction),
    Draw(DrawAction),
    Inside(InsideAction),
    Map(MapAction),
    MyDigits(MyDigitsAction),
    Models(ModelsAction),
    Lessons(LessonsAction),
}

macro_rules! of_features {
    ($($feature:ident($action:ty)),*) => {
        $(impl From<$action> for Action {
            fn from(action: $action) -> Self {
                Self::$feature(action)
            }
        })*
    };
}

of_features!(
    Train(TrainAction),
    Search(SearchAction),
    Sweep(SweepAction),
    Draw(DrawAction),
    Inside(InsideAction),
    Map(MapAction),
    Models(ModelsAction),
    Machine(MachineAction),
    MyDigits(MyDigitsAction),
    Lessons(LessonsAction)
);
