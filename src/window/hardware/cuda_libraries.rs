//! Choosing the folder of NVIDIA's libraries, which starts a new search for them.

use std::path::PathBuf;

use crate::engine::EngineHost;
use crate::run_config::DeviceChoice;
use crate::window::App;

impl App {
    /// Looks into the folder, again if it is the same one: its files may have changed.
    pub fn use_cuda_folder(&mut self, folder: Option<PathBuf>) {
        self.ctx.settings.cuda_folder = folder;
        // The GPU's self-test was made with the libraries that were found before.
        self.ctx.checks.remove(&DeviceChoice::Cuda);
        self.machine.looking_for_cuda = true;
        self.ctx.probe();
        // A process looks for its libraries once. One that trains has what it needs and is left
        // alone.
        if self.ctx.engine.host == EngineHost::Process && !self.ctx.is_training() {
            self.restart_engine();
        }
    }
}
