//! Background work outside the engine: detecting hardware, searching folders, writing files. Each
//! task runs on a thread of its own, so the window never waits.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::desktop::{PathQuestion, Purpose};
use super::draw::{ImageReading, ShownStages};
use super::hardware::OtherMachine;
use super::models::{Change, Thumbnail};
use super::my_digits::{FileStep, Loaded};
use super::sweeps::SweepNews;
use super::train::setup::Samples;
use crate::data::DataError;
use crate::data::my_digits::KeptDrawing;
use crate::download::DownloadError;
use crate::engine::SshHost;
use crate::hardware::{Hardware, LoadSample};
use crate::ink::{Ink, SourceImage, Stage};
use crate::problem::{EngineExit, Problem};
use crate::records::benchmark;
use crate::records::benchmark::Saved;
use crate::records::{DeletedBundle, ReceivedBundle, StepPoint};
use crate::run_config::DeviceChoice;
use crate::runs::{FinishedRun, InterruptedRun, Reproduction, RunEntry, RunError};
use crate::self_test::Report;
use crate::sweep::{SweepEntry, SweepError, Tested};

/// Called from other threads when there is something new to process.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

#[derive(Debug)]
pub enum BackgroundResult {
    Hardware {
        hardware: Box<Hardware>,
        /// The folder that was searched for NVIDIA's libraries first.
        folder: Option<PathBuf>,
    },
    Data(Vec<crate::data::Found>),
    /// So much of a data set has been downloaded, from 0 to 1.
    DownloadProgress(f32),
    /// A data set was downloaded, and these are found now; or why it was not.
    Downloaded(Result<Vec<crate::data::Found>, DownloadError>),
    /// A folder or file was looked at that is to be trained on.
    DataChecked {
        /// Where.
        path: PathBuf,
        /// Why it is not a data set, if it is not.
        problem: Option<DataError>,
    },
    /// The kept drawings were read or changed, or could not be.
    MyDigits {
        step: FileStep,
        loaded: Result<Loaded, Problem>,
    },
    /// The drawings of an ink file, to be kept.
    InkImported(Vec<KeptDrawing>),
    Samples(Samples),
    /// The finished runs, newest first.
    Runs(Vec<RunEntry>),
    /// A saved run was changed, or could not be.
    Changed {
        change: Change,
        outcome: Result<(), RunError>,
    },
    /// The weights of a run that was trained again were compared with those of the first time.
    Reproduced(Result<Reproduction, RunError>),
    /// The sweeps in Inkling's folder, newest first.
    Sweeps(Vec<SweepEntry>),
    Sweep(SweepNews),
    /// A sweep was deleted, or could not be.
    SweepDeleted(PathBuf, Result<(), SweepError>),
    /// The test accuracy of a trial's settings was noted, or could not be.
    SweepTested(PathBuf, Result<(u32, Tested), SweepError>),
    /// The steps of a run that is compared.
    ComparedSteps {
        folder: PathBuf,
        /// The steps; empty where they are not known.
        curve: Arc<[StepPoint]>,
    },
    /// The curve of a run in the list.
    Thumbnail {
        folder: PathBuf,
        thumbnail: Thumbnail,
    },
    /// The interrupted runs, newest first.
    Interrupted(Vec<InterruptedRun>),
    LastSession {
        /// The interrupted runs, newest first.
        interrupted: Vec<InterruptedRun>,
        /// The run whose model was used last, if it is there.
        finished: Option<Box<FinishedRun>>,
        /// The newest run, if no model was used last.
        newest: Option<Box<FinishedRun>>,
    },
    /// A finished run whose curves are to be shown.
    Curves(Box<FinishedRun>),
    /// The engine exited or crashed; the interrupted runs were listed again.
    EngineLost {
        /// Why its process exited; `None` if it crashed within this one.
        exit: Option<EngineExit>,
        /// True if that interrupted a run.
        was_training: bool,
        /// The interrupted runs, newest first.
        interrupted: Vec<InterruptedRun>,
    },
    Checked {
        device: DeviceChoice,
        /// Its report, or why there is none.
        found: Box<Result<Report, Problem>>,
        /// The folder that was searched for NVIDIA's libraries first.
        folder: Option<PathBuf>,
    },
    /// Another machine was reached, or could not be.
    HostReached(SshHost, Result<Box<OtherMachine>, Problem>),
    /// What was sent to the other machine was listed, or could not be.
    SentListed {
        host: SshHost,
        listed: Result<Vec<ReceivedBundle>, Problem>,
        /// What became of what was to be deleted before.
        deleted: Vec<DeletedBundle>,
    },
    /// The newest saved benchmark, if there is one.
    Benchmark(Option<Box<(benchmark::Report, Saved)>>),
    Load(LoadSample),
    Path {
        path: PathBuf,
        purpose: Purpose,
    },
    /// No dialog could be shown, or the path that was typed cannot be used.
    NoDialog(PathQuestion),
    /// The first drawing of an ink file.
    Ink {
        file: PathBuf,
        ink: Ink,
        /// How hard the pen pressed: as [`crate::ink::InkEntry::pressures`].
        pressures: Vec<Vec<f32>>,
        /// True if the file contains only this drawing.
        only: bool,
    },
    ImageOpened {
        name: String,
        source: Box<SourceImage>,
    },
    /// It was found out what is written in an image.
    ImagePrepared(Arc<ImageReading>),
    /// The steps from an image to the model's input.
    Stages(Box<ShownStages>, Vec<Stage>),
    StaysAwake(bool),
    NotificationClicked,
    Written(PathBuf),
    /// What helps to find a fault, to be copied.
    Diagnostics(String),
    /// The settings were written, or could not be.
    SettingsSaved(Result<(), Problem>),
    Failed(Problem),
}

/// A folder that tasks list and change. Tasks on one folder run one at a time: otherwise what was
/// listed before a change could arrive after it, and a listing that holds a lock could make the
/// change fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedFolder {
    Runs,
    Checkpoints,
    Sweeps,
}

pub struct BackgroundTasks {
    sender: Sender<BackgroundResult>,
    results: Receiver<BackgroundResult>,
    wake: Wake,
    /// One for each [`SharedFolder`].
    locks: [Arc<Mutex<()>>; 3],
}

impl BackgroundTasks {
    /// `wake` is called after each result.
    pub fn new(wake: Wake) -> Self {
        let (sender, results) = channel();
        Self {
            sender,
            results,
            wake,
            locks: std::array::from_fn(|_| Arc::default()),
        }
    }

    /// Runs a task; `None` brings nothing (a cancelled dialog).
    pub fn run(&self, task: impl FnOnce() -> Option<BackgroundResult> + Send + 'static) {
        self.run_with_updates(|report| {
            if let Some(result) = task() {
                report(result);
            }
        });
    }

    /// Runs a task that brings several results.
    pub fn run_with_updates(&self, task: impl FnOnce(&dyn Fn(BackgroundResult)) + Send + 'static) {
        let sender = self.sender();
        let spawned = std::thread::Builder::new()
            .name("inkling-task".to_owned())
            .spawn(move || task(&sender));
        if let Err(error) = spawned {
            tracing::error!(%error, "no thread for a background task");
        }
    }

    /// Runs a task that lists or changes this folder, once no other does.
    pub fn run_on(
        &self,
        folder: SharedFolder,
        task: impl FnOnce() -> BackgroundResult + Send + 'static,
    ) {
        let lock = Arc::clone(&self.locks[folder as usize]);
        self.run_with_updates(move |report| {
            let _only = lock.lock().unwrap_or_else(PoisonError::into_inner);
            report(task());
        });
    }

    /// Brings results from elsewhere.
    pub fn sender(&self) -> impl Fn(BackgroundResult) + Send + Sync + use<> {
        let (sender, wake) = (self.sender.clone(), Arc::clone(&self.wake));
        move |result| {
            if sender.send(result).is_ok() {
                wake();
            }
        }
    }

    /// The next result, if one has come.
    pub fn next(&self) -> Option<BackgroundResult> {
        self.results.try_recv().ok()
    }
}

impl std::fmt::Debug for BackgroundTasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackgroundTasks").finish_non_exhaustive()
    }
}
