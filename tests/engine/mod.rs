//! The engine through its line: what is asked, what comes back.

mod child;
mod inference_device;
mod interruption;
#[cfg(target_os = "linux")]
mod remote;
#[cfg(target_os = "linux")]
mod sending;
mod supervision;
mod wire;
mod work;

use std::path::Path;
use std::sync::Arc;

use inkling::engine::{Devices, EngineSettings, RunsTarget};

/// Settings of an installation in this folder.
fn settings(folder: &Path, devices: Arc<dyn Devices>) -> EngineSettings {
    EngineSettings {
        data_folders: vec![folder.join("data")],
        data_dir: None,
        runs: RunsTarget::Store(folder.join("runs")),
        checkpoints: folder.join("checkpoints"),
        benchmarks: folder.join("bench"),
        weights: None,
        cuda_folder: None,
        background_priority: false,
        reports_learning: true,
        recipients: folder.join("my-digits-recipients.json"),
        devices,
    }
}
