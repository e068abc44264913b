use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use crate::data::DataError;
use crate::engine::{EngineHandle, EngineHost, EngineSettings, RunsTarget, this_machine};
use crate::problem::Problem;
use crate::protocol::{Command, Event};
use crate::run_config::{DeviceChoice, WeightFormat};
use crate::system::paths::Paths;

/// How often `next` returns so that Ctrl-C is noticed.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// An engine started by a subcommand, and its events.
#[derive(Debug)]
pub struct Engine {
    handle: EngineHandle,
    woken: Receiver<()>,
}

impl Engine {
    /// Starts one on the CPU. `data_dir` is searched before the usual data folders.
    pub fn start(data_dir: Option<PathBuf>, runs: Option<RunsTarget>, weights: WeightFormat) -> Result<Self, Problem> {
        Self::start_for(DeviceChoice::Cpu, data_dir, runs, weights)
    }

    /// Starts one for runs on this device: in a process of its own if the device needs a driver.
    pub fn start_for(
        device: DeviceChoice,
        data_dir: Option<PathBuf>,
        runs: Option<RunsTarget>,
        weights: WeightFormat,
    ) -> Result<Self, Problem> {
        let paths = Paths::find();
        let data_folders = data_folders(data_dir, &paths)?;
        let settings = EngineSettings {
            data_folders,
            runs: runs.unwrap_or(RunsTarget::Store(paths.runs)),
            checkpoints: paths.checkpoints,
            benchmarks: paths.benchmarks,
            weights,
            cuda_folder: None,
            background_priority: false,
            devices: this_machine(),
        };
        // One pending wake-up is enough, because the receiver takes all events.
        let (wake, woken) = sync_channel(1);
        let handle = EngineHandle::start(EngineHost::usual().for_device(device), settings, move || {
            let _ = wake.try_send(());
        });
        Ok(Self { handle, woken })
    }

    /// Sends a command.
    pub fn send(&self, command: Command) -> Result<(), Problem> {
        if self.handle.send(command) { Ok(()) } else { Err(Problem::EngineGone) }
    }

    /// The next event; `None` if there was none for a short while.
    pub fn next(&self) -> Result<Option<Event>, Problem> {
        loop {
            match self.handle.try_recv() {
                Ok(Some(event)) => return Ok(Some(event)),
                Ok(None) => match self.woken.recv_timeout(POLL_INTERVAL) {
                    Ok(()) => {}
                    Err(RecvTimeoutError::Timeout) => return Ok(None),
                    // The engine has ended, but its last events may still be queued.
                    Err(RecvTimeoutError::Disconnected) => return self.handle.try_recv().map_err(|_| Problem::EngineGone),
                },
                Err(_) => return Err(Problem::EngineGone),
            }
        }
    }
}

/// The folders to search for data sets, in order.
pub fn data_folders(given: Option<PathBuf>, paths: &Paths) -> Result<Vec<PathBuf>, DataError> {
    match given {
        Some(folder) if !folder.is_dir() => Err(DataError::Missing { path: folder }),
        _ => Ok(given.into_iter().chain(paths.data.iter().cloned()).collect()),
    }
}
