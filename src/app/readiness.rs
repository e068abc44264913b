//! Owns what this machine can be offered, what it would best be given, and looking around for both.
//! Must not know how a machine is probed.

use super::background::Finding;
use super::state::App;
use crate::hardware::{Hardware, device_availability, precision_availability, probe, recommend};
use crate::run_config::{ConfigProblem, DataSpec, DeviceChoice, NamedSet, Precision, RunConfig};

impl App {
    /// Why this device cannot be used here, if it cannot.
    pub fn why_not_device(&self, device: DeviceChoice) -> Option<String> {
        device_availability(device, &self.machine()).err()
    }

    /// Why this number format cannot be used here, if it cannot.
    pub fn why_not_precision(&self, precision: Precision) -> Option<String> {
        precision_availability(precision, &self.machine()).err()
    }

    /// Everything wrong with the configuration, by itself and on this machine.
    pub(super) fn config_problems(&self) -> Vec<ConfigProblem> {
        let mut problems = self.config.problems();
        let (device, precision) = (self.config.device, self.config.precision);
        problems.extend(self.why_not_device(device).map(|reason| ConfigProblem::DeviceUnavailable { device, reason }));
        problems.extend(self.why_not_precision(precision).map(|reason| ConfigProblem::PrecisionUnavailable { precision, reason }));
        problems
    }

    /// The configuration recommended for this machine and why, once it was probed.
    pub fn recommended(&self) -> Option<(RunConfig, String)> {
        let mnist = self.found.iter().flatten().find(|found| found.set == NamedSet::Mnist);
        let (mut config, reason) = recommend(self.hardware.as_ref()?, mnist.is_some());
        if let Some(mnist) = mnist {
            config.data = DataSpec::single(self.source_of(mnist));
        }
        Some((config, reason))
    }

    /// Takes what is recommended, as long as the wizard is open for the first time and nobody chose anything else.
    pub(super) fn follow_recommendation(&mut self) {
        if !self.settings.wizard_done
            && !self.chosen
            && let Some((config, _)) = self.recommended()
        {
            self.config = config;
        }
    }

    /// Finds out about machine, data and runs in the background; the first call does, later ones are free.
    pub fn look_around(&mut self) {
        if std::mem::replace(&mut self.probing, true) {
            return;
        }
        let kept_in = self.around.paths.runs.clone();
        self.background.run(move || Some(Finding::Hardware(Box::new(probe(&kept_in)))));
        let benchmarks = self.around.paths.benchmarks.clone();
        self.background.run(move || Some(Finding::Benchmark(crate::bench::latest(&benchmarks).map(Box::new))));
        self.find_data();
        self.list_runs();
    }

    pub(super) fn find_data(&self) {
        let folders: Vec<_> = self.around.paths.data.iter().chain(&self.settings.data_folders).cloned().collect();
        self.background.run(move || Some(Finding::Data(crate::data::find(&folders))));
    }

    /// This machine; one with nothing but a processor until it was probed.
    fn machine(&self) -> std::borrow::Cow<'_, Hardware> {
        self.hardware.as_ref().map_or_else(|| std::borrow::Cow::Owned(Hardware::default()), std::borrow::Cow::Borrowed)
    }
}
