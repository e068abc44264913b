//! Owns work the window asks for that is no engine's: probing hardware, looking through folders, writing files.
//! Each job runs on a thread of its own, so the window never waits.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::bench::{self, Saved};
use crate::hardware::Hardware;
use crate::ink::Ink;
use crate::problem::Problem;
use crate::run_config::DeviceChoice;
use crate::runs::{InterruptedRun, RunEntry};
use crate::self_test::Report;

/// Called from other threads when there is something new to poll.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// What a job came back with.
#[derive(Debug)]
pub enum Finding {
    /// This machine.
    Hardware(Box<Hardware>),
    /// The data sets found by name.
    Data(Vec<crate::data::Found>),
    /// The runs kept so far, newest first.
    Runs(Vec<RunEntry>),
    /// Runs that were interrupted, newest first.
    Interrupted(Vec<InterruptedRun>),
    /// A device was checked, or could not be.
    Checked(DeviceChoice, Box<Result<Report, Problem>>),
    /// The newest benchmark that was kept, if there is one.
    Benchmark(Option<Box<(bench::Report, Saved)>>),
    /// A folder was chosen in a dialog.
    DataFolder(PathBuf),
    /// A file to export to was chosen in a dialog.
    ExportTo(PathBuf),
    /// A file to import was chosen in a dialog.
    ImportFrom(PathBuf),
    /// A drawing was read from a file.
    Ink(Ink),
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
        let (sender, wake) = (self.sender.clone(), Arc::clone(&self.wake));
        let spawned = std::thread::Builder::new().name("inkling-job".to_owned()).spawn(move || {
            if let Some(finding) = job()
                && sender.send(finding).is_ok()
            {
                wake();
            }
        });
        if let Err(error) = spawned {
            tracing::error!(%error, "no thread for a background job");
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
