//! Owns work the window asks for that is no engine's: probing hardware, looking through folders, writing files.
//! Each job runs on a thread of its own, so the window never waits.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::hardware::{Hardware, LoadSample};
use crate::ink::Ink;
use crate::problem::{EngineExit, Problem};
use crate::records::benchmark::{self, Saved};
use crate::run_config::DeviceChoice;
use crate::runs::{InterruptedRun, RunEntry};
use crate::self_test::Report;

/// Called from other threads when there is something new to poll.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// What a job came back with.
#[derive(Debug)]
pub enum BackgroundResult {
    /// This machine.
    Hardware {
        /// What was found.
        hardware: Box<Hardware>,
        /// Where NVIDIA's libraries were looked for first.
        folder: Option<PathBuf>,
    },
    /// The data sets found by name.
    Data(Vec<crate::data::Found>),
    /// The runs kept so far, newest first.
    Runs(Vec<RunEntry>),
    /// Runs that were interrupted, newest first.
    Interrupted(Vec<InterruptedRun>),
    /// The engine's process is gone, and this is left.
    EngineExited {
        /// How it went.
        exit: EngineExit,
        /// True when that broke a run off.
        was_training: bool,
        /// Runs that were interrupted, newest first.
        interrupted: Vec<InterruptedRun>,
    },
    /// A device was checked, or could not be.
    Checked {
        /// Which.
        device: DeviceChoice,
        /// What came of it.
        found: Box<Result<Report, Problem>>,
        /// Where NVIDIA's libraries were looked for first.
        folder: Option<PathBuf>,
    },
    /// The newest benchmark that was kept, if there is one.
    Benchmark(Option<Box<(benchmark::Report, Saved)>>),
    /// How busy this machine is.
    Load(LoadSample),
    /// A folder was chosen in a dialog.
    DataFolder(PathBuf),
    /// A folder with NVIDIA's libraries was chosen in a dialog.
    CudaFolder(PathBuf),
    /// An ink file was read: its first drawing, and whether that is its only one.
    Ink {
        /// The file.
        file: PathBuf,
        /// The drawing.
        ink: Ink,
        /// True where there is no other in it.
        only: bool,
    },
    /// The machine stays awake, or cannot be asked to.
    StaysAwake(bool),
    /// A notification was chosen: the window is asked for.
    NotificationClicked,
    /// A file to export to was chosen in a dialog.
    ExportTo(PathBuf),
    /// A file to import was chosen in a dialog.
    ImportFrom(PathBuf),
    /// A file was written.
    Written(PathBuf),
    /// The settings were written, or not.
    SettingsSaved(Result<(), Problem>),
    /// Something went wrong.
    Failed(Problem),
}

/// Starts jobs and collects what they bring.
pub struct BackgroundTasks {
    sender: Sender<BackgroundResult>,
    results: Receiver<BackgroundResult>,
    wake: Wake,
}

impl BackgroundTasks {
    /// `wake` is called when a job brings something.
    pub fn new(wake: Wake) -> Self {
        let (sender, results) = channel();
        Self { sender, results, wake }
    }

    /// Runs a job; `None` brings nothing (a cancelled dialog).
    pub fn run(&self, job: impl FnOnce() -> Option<BackgroundResult> + Send + 'static) {
        self.run_with_updates(|report| {
            if let Some(result) = job() {
                report(result);
            }
        });
    }

    /// Runs a job that says what it finds as it goes.
    pub fn run_with_updates(&self, job: impl FnOnce(&dyn Fn(BackgroundResult)) + Send + 'static) {
        let sender = self.sender();
        let spawned = std::thread::Builder::new().name("inkling-job".to_owned()).spawn(move || job(&sender));
        if let Err(error) = spawned {
            tracing::error!(%error, "no thread for a background job");
        }
    }

    /// A way to bring results from elsewhere.
    pub fn sender(&self) -> impl Fn(BackgroundResult) + Send + Sync + use<> {
        let (sender, wake) = (self.sender.clone(), Arc::clone(&self.wake));
        move |result| {
            if sender.send(result).is_ok() {
                wake();
            }
        }
    }

    /// The next result that is there already.
    pub fn next(&self) -> Option<BackgroundResult> {
        self.results.try_recv().ok()
    }
}

impl std::fmt::Debug for BackgroundTasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackgroundTasks").finish_non_exhaustive()
    }
}
