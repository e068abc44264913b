//! Owns what this machine can be offered, what it would best be given, and looking around for both.
//! Must not know how a machine is probed.

use std::sync::Arc;

use crate::app::App;
use crate::app::background::BackgroundResult;
use crate::data::builtin;
use crate::data::validation_size;
use crate::hardware::{Hardware, precision_note, recommend};
use crate::run_config::{ConfigProblem, DataSource, DataSpec, DeviceChoice, NamedSet, Precision, RunConfig};
use crate::text::format::memory;
use crate::train::{gpu_memory_needed, memory_needed};

impl App {
    /// What computing in this number format means here, where there is something to say.
    pub fn precision_note(&self, precision: Precision) -> Option<String> {
        let cost = self.benchmark.last.as_ref().and_then(|(report, _)| report.step_cost(precision));
        precision_note(precision, self.device_for(self.config.device, precision), &self.machine(), cost)
    }

    /// How long the run will about take here, once that was measured: "About 40 s of training on this machine."
    pub fn expected_time(&self) -> Option<String> {
        let config = &self.config;
        let benchmarked = || {
            let (report, _) = self.benchmark.last.as_ref()?;
            // Only the processor was measured.
            let here = self.device_for(config.device, config.precision) == DeviceChoice::Cpu;
            let threads = config.threads.unwrap_or(report.machine.threads);
            report.images_per_second(config.model, config.precision, threads).filter(|_| here)
        };
        let time = self.total_time(self.measured_rate(config).or_else(benchmarked)?)?;
        Some(format!("About {time} of training on this machine."))
    }

    /// How much memory the run will about take: "Takes about 187 MB of memory; 22.2 GB are free.", or of a GPU's, where it trains there. False
    /// with it where that is too much.
    pub fn expected_memory(&self) -> Option<(String, bool)> {
        let (needed, hardware) = (self.memory_needed(&self.config)?, self.hardware.as_ref()?);
        if let Some(gpu) = hardware.gpus.first().filter(|_| self.trains_on_gpu(&self.config)) {
            let fits = needed <= gpu.memory_free;
            let short = if fits { "" } else { ": choose a smaller model or batch size; otherwise batches are computed in parts" };
            let words = format!(
                "Takes about {} of the GPU's {}; {} are free{short}.",
                memory(needed),
                memory(gpu.memory_total),
                memory(gpu.memory_free)
            );
            return Some((words, fits));
        }
        let free = hardware.memory_available;
        let fits = needed <= free;
        let short = if fits { "" } else { ": close something large, or choose a smaller model" };
        Some((format!("Takes about {} of memory; {} are free{short}.", memory(needed), memory(free)), fits))
    }

    /// Bytes of memory that this run will about take where it trains, where its data set is known.
    pub fn memory_needed(&self, config: &RunConfig) -> Option<u64> {
        let (train, test) = self.images()?;
        Some(if self.trains_on_gpu(config) { gpu_memory_needed(config, train) } else { memory_needed(config, train, test) })
    }

    fn trains_on_gpu(&self, config: &RunConfig) -> bool {
        self.device_for(config.device, config.precision) == DeviceChoice::Cuda
    }

    /// Pictures an epoch learns from, where the data set is known: those not held back for validation.
    pub(in crate::app) fn training_images(&self) -> Option<u64> {
        self.images().map(|(train, _)| train - validation_size(train))
    }

    /// Training and test pictures of the data set, where it is known.
    fn images(&self) -> Option<(u64, u64)> {
        match self.config.data.sources() {
            [DataSource::Builtin] => Some((builtin::TRAIN as u64, builtin::TEST as u64)),
            [source] => self
                .found
                .iter()
                .flatten()
                .find(|found| self.source_of(found) == *source)
                .map(|found| (found.train_images, found.test_images)),
            _ => None,
        }
    }

    /// Everything wrong with the configuration, by itself and on this machine.
    pub(in crate::app) fn config_problems(&self) -> Vec<ConfigProblem> {
        let mut problems = self.config.problems();
        let device = self.config.device;
        problems.extend(self.why_not_device(device).map(|reason| ConfigProblem::DeviceUnavailable { device, reason }));
        let precision = self.config.precision;
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
    pub(in crate::app) fn follow_recommendation(&mut self) {
        if !self.settings.wizard_done
            && !self.chosen
            && let Some((config, _)) = self.recommended()
        {
            self.config = config;
        }
    }

    /// Finds out about machine, data and runs in the background; the first call does, later ones are free.
    pub fn start_discovery(&mut self) {
        if std::mem::replace(&mut self.discovery_started, true) {
            return;
        }
        self.probe();
        let benchmarks = self.deps.paths.benchmarks.clone();
        self.background.run(move || Some(BackgroundResult::Benchmark(crate::bench::latest(&benchmarks).map(Box::new))));
        self.find_data();
        self.list_runs();
    }

    pub(in crate::app) fn probe(&self) {
        let (probe, folder) = (Arc::clone(&self.deps.probe), self.settings.cuda_folder.clone());
        self.background.run(move || {
            let hardware = Box::new(probe(folder.as_deref()));
            Some(BackgroundResult::Hardware { hardware, folder })
        });
    }

    pub(in crate::app) fn find_data(&self) {
        let folders: Vec<_> = self.deps.paths.data.iter().chain(&self.settings.data_folders).cloned().collect();
        self.background.run(move || Some(BackgroundResult::Data(crate::data::find(&folders))));
    }

    /// This machine; one with nothing but a processor until it was probed.
    pub(in crate::app) fn machine(&self) -> std::borrow::Cow<'_, Hardware> {
        self.hardware.as_ref().map_or_else(|| std::borrow::Cow::Owned(Hardware::default()), std::borrow::Cow::Borrowed)
    }
}
