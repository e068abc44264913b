//! Owns what stands between the configuration and a run, what this machine would best be given, and looking around for both.
//! Must not know how a machine is probed.

use super::background::Finding;
use super::state::App;
use crate::run_config::{ConfigProblem, DeviceChoice, Precision, RunConfig};

impl App {
    /// Everything that keeps the configuration from being run; empty means Start works.
    pub fn obstacles(&self) -> Vec<ConfigProblem> {
        let mut obstacles = self.config.problems();
        let (device, precision) = (self.config.device, self.config.precision);
        if let Some(reason) = self.why_not_device(device) {
            obstacles.push(ConfigProblem::DeviceUnavailable { device, reason });
        } else if let Some(reason) = self.why_not_precision(precision) {
            obstacles.push(ConfigProblem::PrecisionUnavailable { precision, reason });
        }
        obstacles
    }

    /// Why this device cannot be used here, if it cannot.
    pub fn why_not_device(&self, device: DeviceChoice) -> Option<String> {
        match device {
            DeviceChoice::Auto | DeviceChoice::Cpu => None,
            DeviceChoice::Cuda => Some("not in this build of Inkling".to_owned()),
            DeviceChoice::Metal => Some("not in this build of Inkling".to_owned()),
        }
    }

    /// Why this number format cannot be used on the chosen device, if it cannot.
    pub fn why_not_precision(&self, precision: Precision) -> Option<String> {
        match precision {
            Precision::F32 => None,
            Precision::Bf16 | Precision::F16 => Some("needs a GPU; the CPU computes in f32".to_owned()),
        }
    }

    /// The configuration recommended for this machine and why, once it was probed.
    pub fn recommended(&self) -> Option<(RunConfig, String)> {
        self.hardware.as_ref().map(|_| (RunConfig::default(), String::new()))
    }

    /// Finds out about machine, data and runs in the background; the first call does, later ones are free.
    pub fn look_around(&mut self) {
        if std::mem::replace(&mut self.probing, true) {
            return;
        }
        self.background.run(move || Some(Finding::Hardware(Box::default())));
        self.find_data();
        self.list_runs();
    }

    pub(super) fn find_data(&self) {
        let folders: Vec<_> = self.around.paths.data.iter().chain(&self.settings.data_folders).cloned().collect();
        self.background.run(move || Some(Finding::Data(crate::data::find(&folders))));
    }
}
