//! What a run is expected to take and to reach, from what was measured: on this machine by earlier runs, comparisons and the benchmark, and
//! for the presets by us.

use crate::app::App;
use crate::bench::side_of;
use crate::records::benchmark::{Side, Subject};
use crate::run_config::{DataSource, DataSpec, DeviceChoice, NamedSet, Preset, RunConfig};
use crate::text::format::duration;

impl App {
    /// The estimated training time of these settings on the chosen data, once there is something to estimate it from: "40 s".
    pub fn expected_time(&self, config: &RunConfig) -> Option<String> {
        let rate = self.rate_of_runs(config).or_else(|| self.measured_rate(config)).or_else(|| self.benchmarked_rate(config))?;
        self.total_time(config, rate)
    }

    /// The training time at this throughput in images per second: "40 s"; `None` while the number of images is unknown.
    pub fn total_time(&self, config: &RunConfig, rate: f64) -> Option<String> {
        let images = self.training_images()? as f64 * f64::from(config.epochs);
        Some(duration(images / rate))
    }

    /// The throughput of the newest run with the same work for each image, on the same device; in images per second.
    fn rate_of_runs(&self, config: &RunConfig) -> Option<f64> {
        let side = self.side(config);
        let alike = |other: &RunConfig| {
            (other.model, other.activation, other.augmentation, other.optimizer, other.batch_size)
                == (config.model, config.activation, config.augmentation, config.optimizer, config.batch_size)
        };
        let runs = self.runs.iter().flatten().filter_map(|entry| entry.summary.as_ref().ok());
        let mut found = runs.filter(|run| {
            let plan = &run.plan;
            alike(&run.config) && (plan.device, plan.precision, plan.threads) == (side.device, side.precision, side.threads)
        });
        found.find(|run| run.images_per_second > 0.0).map(|run| run.images_per_second)
    }

    /// The throughput that the last benchmark measured for the network, which it does on the CPU alone.
    fn benchmarked_rate(&self, config: &RunConfig) -> Option<f64> {
        let (report, _) = self.benchmark.last.as_ref()?;
        if self.side(config).device != DeviceChoice::Cpu || report.disturbed.contains(&Subject::Steps(config.model)) {
            return None;
        }
        let threads = config.threads.unwrap_or(report.machine.threads);
        report.images_per_second(config.model, config.precision, threads)
    }

    fn side(&self, config: &RunConfig) -> Side {
        Side { device: self.device_for(config.device, config.precision), ..side_of(config) }
    }
}

/// The test accuracy that a preset reaches on this data, as measured for `docs/figures.md`: "99.2 %"; `None` for data that was not measured.
pub fn expected_accuracy(preset: Preset, data: &DataSpec) -> Option<&'static str> {
    let [builtin, mnist] = match preset {
        Preset::QuickLook => [Some("93.9 %"), Some("98.3 %")],
        Preset::OneEpoch => [Some("96.4 %"), Some("99.2 %")],
        Preset::Balanced => [Some("97.9 %"), Some("99.6 %")],
        Preset::Best => [None, Some("99.7 %")],
        Preset::Compact => [None, Some("99.5 %")],
    };
    match data.sources() {
        [DataSource::Builtin] => builtin,
        [DataSource::Named(NamedSet::Mnist)] => mnist,
        _ => None,
    }
}
