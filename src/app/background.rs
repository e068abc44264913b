//! Owns work the window asks for that is no engine's: probing hardware, looking through folders, writing files.
//! Each job runs on a thread of its own, so the window never waits.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::hardware::{Hardware, Reading};
use crate::ink::Ink;
use crate::problem::{EngineLoss, Problem};
use crate::records::benchmark::{self, Saved};
use crate::run_config::DeviceChoice;
use crate::runs::{InterruptedRun, RunEntry};
use crate::self_test::Report;

/// Called from other threads when there is something new to poll.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// What a job came back with.
#[derive(Debug)]
pub enum Finding {
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
    EngineLost {
        /// How it went.
        loss: EngineLoss,
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
    Reading(Reading),
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
    Chosen,
    /// A file to export to was chosen in a dialog.
    ExportTo(PathBuf),
    /// A file to import was chosen in a dialog.
    ImportFrom(PathBuf),
    /// A file was written.
    Written(PathBuf),
    /// The settings were written, or not.
    Remembered(Result<(), Problem>),
    /// Something went wrong.
    Failed(Problem),
}

/// Starts jobs and collects what they bring.
pub struct Background {
    sender: Sender<Finding>,
    findings: Receiver<Finding>,
    wake: Wake,
}

impl Background {
    /// `wake` is called when a job brings something.
    pub fn new(wake: Wake) -> Self {
        let (sender, findings) = channel();
        Self { sender, findings, wake }
    }

    /// Runs a job; `None` brings nothing (a cancelled dialog).
    pub fn run(&self, job: impl FnOnce() -> Option<Finding> + Send + 'static) {
        self.run_telling(|tell| {
            if let Some(finding) = job() {
                tell(finding);
            }
        });
    }

    /// Runs a job that says what it finds as it goes.
    pub fn run_telling(&self, job: impl FnOnce(&dyn Fn(Finding)) + Send + 'static) {
        let sender = self.sender();
        let spawned = std::thread::Builder::new().name("inkling-job".to_owned()).spawn(move || job(&sender));
        if let Err(error) = spawned {
            tracing::error!(%error, "no thread for a background job");
        }
    }

    /// A way to bring findings from elsewhere.
    pub fn sender(&self) -> impl Fn(Finding) + Send + Sync + use<> {
        let (sender, wake) = (self.sender.clone(), Arc::clone(&self.wake));
        move |finding| {
            if sender.send(finding).is_ok() {
                wake();
            }
        }
    }

    /// The next finding that is there already.
    pub fn next(&self) -> Option<Finding> {
        self.findings.try_recv().ok()
    }
}

impl std::fmt::Debug for Background {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Background").finish_non_exhaustive()
    }
}
