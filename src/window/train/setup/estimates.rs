//! What a run is expected to take and to reach, from what was measured: on this machine by earlier
//! runs, comparisons and the benchmark, and for the presets by us.

use crate::bench::step_config_of;
use crate::data::validation_size;
use crate::nn::flops;
use crate::protocol::Job;
use crate::records::RecordCard;
use crate::records::benchmark::{BUSY, StepConfig, Workload};
use crate::run_config::{DataSource, DataSpec, DeviceChoice, Preset, PublicDataset, RunConfig};
use crate::settings::PresetRate;
use crate::text::format::duration;
use crate::window::{App, Ctx, Machine, Models, Train};

/// The time that it takes to recognize an image, as a fraction of the time that it takes to learn
/// from one: the backward pass costs about as much as two forward passes.
const EVALUATION: f64 = 1.0 / 3.0;
/// How many runs of the same work an estimate goes by.
const LAST_RUNS: usize = 3;

impl App {
    /// The estimated training time of these settings on the chosen data, once there is something to
    /// estimate it from: "40 s".
    pub fn expected_time(&self, config: &RunConfig) -> Option<String> {
        self.expected_seconds(config).map(duration)
    }

    /// The same from the number of operations alone, for a network that was never measured here.
    pub fn rough_time(&self, config: &RunConfig) -> Option<String> {
        let rate = self.ctx.scaled_rate(config)?;
        let seconds = self.train.total_seconds(&self.ctx, config, rate)?;
        Some(duration(seconds))
    }

    pub fn expected_seconds(&self, config: &RunConfig) -> Option<f64> {
        let ctx = &self.ctx;
        let mut rate = self.models.rate_of_runs(ctx, config);
        // On another machine nothing else was measured.
        if ctx.other_machine.is_none() {
            rate = rate
                .or_else(|| self.machine.measured_rate(ctx, config))
                .or_else(|| self.machine.benchmarked_rate(ctx, config))
                .or_else(|| ctx.preset_rate(config));
        }
        self.train.total_seconds(ctx, config, rate?)
    }

    /// The test accuracy to expect of a preset on the chosen data, if it is known.
    pub fn expected_accuracy(&self, preset: Preset) -> Option<ExpectedAccuracy> {
        let data = &self.ctx.config.data;
        let record = self.train.record_of(preset, data).map(|card| {
            let source = AccuracySource::Record(card.summary());
            (card.test_accuracy(), source)
        });
        let (value, source) = record
            .or_else(|| {
                let accuracy = self.models.accuracy_of_runs(preset, data)?;
                Some((accuracy, AccuracySource::Run))
            })
            .or_else(|| {
                Some((
                    documented_accuracy(preset, data)?,
                    AccuracySource::Documented,
                ))
            })?;
        Some(ExpectedAccuracy { value, source })
    }
}

/// The test accuracy to expect of a preset.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectedAccuracy {
    pub value: f64,
    pub source: AccuracySource,
}

/// How an expected accuracy is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccuracySource {
    /// From the newest record of the preset on this machine, which this sums up.
    Record(String),
    /// The newest run of the preset reached it.
    Run,
    /// It was measured for the documentation.
    Documented,
}

impl Train {
    /// The newest record of a preset on these data.
    fn record_of(&self, preset: Preset, data: &DataSpec) -> Option<&RecordCard> {
        let mut records = self.records.iter();
        records.find(|card| card.config.preset == Some(preset) && card.config.data == *data)
    }

    /// How many seconds these settings take when this many images are learned from per second, with
    /// validation after each epoch and the test at the end; `None` while the number of images is
    /// unknown.
    pub fn total_seconds(&self, ctx: &Ctx, config: &RunConfig, rate: f64) -> Option<f64> {
        let (all, test) = self.images(ctx)?;
        let epochs = f64::from(config.epochs);
        let learned = config.images_used(self.training_images(ctx)?) as f64 * epochs;
        let evaluated = validation_size(all) as f64 * epochs + test as f64;
        Some((learned + evaluated * EVALUATION) / rate)
    }
}

impl Models {
    /// The throughput of the fastest of the last runs with the same work for each image, on the same
    /// device, in images per second: other programs may have slowed some down.
    fn rate_of_runs(&self, ctx: &Ctx, config: &RunConfig) -> Option<f64> {
        let StepConfig {
            device,
            precision,
            threads,
            ..
        } = ctx.step_config(config);
        let machine = ctx.machine().in_words();
        let comparable = self.readable().filter(|run| {
            let plan = &run.plan;
            run.machine == machine
                && same_work(&run.config, config)
                && (plan.device, plan.precision, plan.threads) == (device, precision, threads)
                && run.images_per_second > 0.0
        });
        let rates = comparable.map(|run| run.images_per_second);
        rates.take(LAST_RUNS).max_by(f64::total_cmp)
    }

    /// The test accuracy of the newest run with this preset on this data.
    fn accuracy_of_runs(&self, preset: Preset, data: &DataSpec) -> Option<f64> {
        let mut runs = self.readable().filter(|run| !run.stopped);
        runs.find_map(|run| {
            let same = run.config.preset == Some(preset) && run.config.data == *data;
            run.test
                .as_ref()
                .filter(|_| same)
                .map(|test| test.evaluation.accuracy)
        })
    }
}

impl Machine {
    /// The throughput that the last benchmark measured for the network, which it does on the CPU
    /// alone.
    fn benchmarked_rate(&self, ctx: &Ctx, config: &RunConfig) -> Option<f64> {
        let (report, _) = self.benchmark.last.as_ref()?;
        let measured = config.network() == config.model.into()
            && ctx.step_config(config).device == DeviceChoice::Cpu;
        if !measured || report.disturbed.contains(&Workload::Steps(config.model)) {
            return None;
        }
        let threads = config.threads.unwrap_or(report.machine.threads);
        report.images_per_second(config.model, config.precision, threads)
    }

    /// Measures how fast this machine trains with each preset as soon as nothing else is measured,
    /// once it was asked for.
    pub fn time_presets(&mut self, ctx: &mut Ctx) {
        let is_measuring = ctx.hardware.is_none()
            || ctx.is_checking_a_device()
            || !ctx.jobs.is_empty()
            || ctx.is_sweeping();
        if !self.benchmark.presets_wanted || is_measuring {
            return;
        }
        self.benchmark.presets_wanted = false;
        if ctx.settings.preset_rates.is_empty() {
            let configs = Preset::ALL
                .iter()
                .map(|&preset| ctx.with_device(&ctx.with_preset(preset)))
                .collect();
            ctx.submit(Job::TimeSteps(configs));
        }
    }

    /// Takes in how fast the presets are. If other programs disturbed the measurement, no
    /// estimate is better than a wrong one.
    pub fn presets_timed(
        &mut self,
        ctx: &mut Ctx,
        configs: &[RunConfig],
        rates: Vec<Option<f64>>,
        background_load: f32,
    ) {
        if background_load > BUSY {
            tracing::info!(background_load, "the presets were timed on a busy machine");
            self.benchmark.presets_disturbed = true;
            return;
        }
        self.benchmark.presets_disturbed = false;
        let measured = |(config, rate): (&RunConfig, Option<f64>)| {
            Some(PresetRate {
                preset: config.preset?,
                step_config: ctx.step_config(config),
                images_per_second: rate?,
            })
        };
        ctx.settings.preset_rates = configs.iter().zip(rates).filter_map(measured).collect();
    }
}

impl Ctx {
    /// The throughput from the quick measurement of the presets.
    fn preset_rate(&self, config: &RunConfig) -> Option<f64> {
        let step_config = self.step_config(config);
        let mut rates = self.settings.preset_rates.iter();
        let found = rates.find(|rate| {
            rate.step_config == step_config && same_work(&RunConfig::preset(rate.preset), config)
        })?;
        Some(found.images_per_second)
    }

    /// The throughput of the measured preset whose network takes the most similar number of
    /// operations, scaled by how many this one takes.
    fn scaled_rate(&self, config: &RunConfig) -> Option<f64> {
        let wanted = self.step_config(config);
        let operations = |config: &RunConfig| flops(config.network()).training.max(1) as f64;
        let own = operations(config);
        let is_comparable = |measured: &StepConfig| {
            (measured.device, measured.precision, measured.threads)
                == (wanted.device, wanted.precision, wanted.threads)
        };
        let rates = self.settings.preset_rates.iter();
        let comparable = rates.filter(|rate| is_comparable(&rate.step_config));
        let scaled = comparable.map(|rate| {
            let share = operations(&RunConfig::preset(rate.preset)) / own;
            (share.ln().abs(), rate.images_per_second * share)
        });
        let closest = scaled.min_by(|(a, _), (b, _)| a.total_cmp(b));
        closest.map(|(_, rate)| rate)
    }

    /// The chosen settings with a preset's values.
    pub fn with_preset(&self, preset: Preset) -> RunConfig {
        let mut config = self.config.clone();
        config.apply_preset(preset);
        config
    }

    pub fn step_config(&self, config: &RunConfig) -> StepConfig {
        StepConfig {
            device: self.device_for(config.device, config.precision),
            ..step_config_of(config)
        }
    }
}

/// True if an image takes the same work with both.
fn same_work(one: &RunConfig, other: &RunConfig) -> bool {
    let work = |config: &RunConfig| {
        (
            config.network(),
            config.activation,
            config.augmentation,
            config.optimizer,
            config.batch_size,
        )
    };
    work(one) == work(other)
}

/// The test accuracy that a preset reaches on this data, as measured for `docs/figures.md`; `None`
/// for data that was not measured.
fn documented_accuracy(preset: Preset, data: &DataSpec) -> Option<f64> {
    let [builtin, mnist, both] = match preset {
        Preset::QuickLook => [Some(0.928), Some(0.983), Some(0.985)],
        Preset::OneEpoch => [Some(0.953), Some(0.9915), Some(0.991)],
        Preset::Balanced => [Some(0.978), Some(0.996), Some(0.996)],
        Preset::Best => [Some(0.98), Some(0.997), None],
        Preset::Compact => [Some(0.97), Some(0.995), None],
    };
    match data.sources() {
        [DataSource::Builtin] => builtin,
        [DataSource::Named(PublicDataset::Mnist)] => mnist,
        [DataSource::Named(PublicDataset::Mnist), DataSource::Builtin] => both,
        _ => None,
    }
}
