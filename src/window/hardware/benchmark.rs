//! Benchmarks and comparisons as the window shows them: those in progress and the last results.

use crate::bench::{self, rates};
use crate::hardware::first_guess;
use crate::problem::Problem;
use crate::protocol::{Job, JobResult};
use crate::records::benchmark::{
    BUSY, BenchmarkReport, Effort, Measurement, SavedBenchmark, StepConfig,
};
use crate::run_config::{DeviceChoice, Precision, RunConfig};
use crate::window::draw::device_name;
use crate::window::{Activity, Ctx, JobOutcome, Machine, RunningJob, WithoutResult};

#[derive(Clone, Debug, Default)]
pub struct BenchmarkView {
    /// The subject of the comparison in progress, and the settings it is made for.
    pub comparing: Option<(ComparisonKind, RunConfig)>,
    /// True once the presets are to be timed, as soon as nothing else is measured.
    pub presets_wanted: bool,
    /// True if other programs kept the machine too busy to time them.
    pub presets_disturbed: bool,
    /// The newest report and, if it could be saved, its files.
    pub last: Option<(BenchmarkReport, Option<SavedBenchmark>)>,
    pub batch_sizes: Option<Comparison>,
    /// The last comparison of devices and precisions.
    pub devices: Option<Comparison>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonKind {
    BatchSizes,
    /// Devices, precisions and, without a GPU, numbers of threads.
    Devices,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub what: ComparisonKind,
    pub config: RunConfig,
    /// A row for each candidate that could be measured.
    pub rows: Vec<Measurement>,
    /// The candidates that could not be measured, and why.
    pub failed: Vec<(StepConfig, Problem)>,
    /// The fraction of the CPU that other programs used meanwhile, 0 to 1.
    pub background_load: f32,
}

impl Comparison {
    /// True if the results hold for these settings as well.
    pub fn holds_for(&self, config: &RunConfig) -> bool {
        let alike = |config: &RunConfig| {
            let RunConfig {
                optimizer,
                augmentation,
                activation,
                ..
            } = *config;
            (config.network(), optimizer, augmentation, activation)
        };
        let place = |config: &RunConfig| (config.precision, config.threads, config.device);
        alike(&self.config) == alike(config)
            && match self.what {
                ComparisonKind::BatchSizes => place(&self.config) == place(config),
                ComparisonKind::Devices => self.config.batch_size == config.batch_size,
            }
    }

    /// True if other programs used so much of the CPU that the figures are not reliable.
    pub fn is_disturbed(&self) -> bool {
        self.background_load > BUSY
    }

    /// The candidates that could not be measured, a sentence each.
    pub fn failures(&self) -> Vec<String> {
        let words = |(step_config, problem): &(StepConfig, Problem)| {
            format!(
                "{} {} could not be measured. {}",
                device_name(step_config.device, false),
                step_config.precision,
                problem.message.what.clone()
            )
        };
        self.failed.iter().map(words).collect()
    }

    /// Images per second of this candidate, if it was measured.
    pub fn rate(&self, wanted: StepConfig) -> Option<f64> {
        rates(&self.rows)
            .find(|(step_config, _)| *step_config == wanted)
            .map(|(_, rate)| rate)
    }
}

impl BenchmarkView {
    /// The comparison in progress is complete, with these figures.
    pub fn set_compared(
        &mut self,
        rows: Vec<Measurement>,
        failed: Vec<(StepConfig, Problem)>,
        background_load: f32,
    ) {
        let Some((what, config)) = self.comparing.take() else {
            return;
        };
        let comparison = Some(Comparison {
            what,
            config,
            rows,
            failed,
            background_load,
        });
        match what {
            ComparisonKind::BatchSizes => self.batch_sizes = comparison,
            ComparisonKind::Devices => self.devices = comparison,
        }
    }
}

impl Machine {
    pub fn job_ended(
        &mut self,
        ctx: &mut Ctx,
        RunningJob { job, rows, .. }: RunningJob,
        outcome: JobOutcome,
    ) -> Option<Problem> {
        match (job, outcome) {
            (_, Ok(JobResult::Benchmark { report, saved })) => {
                let problem = saved.as_ref().err().cloned();
                self.benchmark.last = Some((report, saved.ok()));
                problem
            }
            (
                _,
                Ok(JobResult::Compare {
                    failed,
                    background_load,
                }),
            ) => {
                self.benchmark.set_compared(rows, failed, background_load);
                None
            }
            (
                Job::TimeSteps(configs),
                Ok(JobResult::TimeSteps {
                    images_per_second,
                    background_load,
                }),
            ) => {
                self.presets_timed(ctx, &configs, images_per_second, background_load);
                None
            }
            // Nobody asked for the estimates. They are made later if something else was asked
            // for.
            (Job::TimeSteps(_), Err(end)) => {
                if !matches!(end, WithoutResult::EngineGone) {
                    self.benchmark.presets_wanted = matches!(end, WithoutResult::Cancelled);
                }
                None
            }
            (job, outcome) => {
                if matches!(job, Job::Compare { .. }) {
                    self.benchmark.comparing = None;
                }
                outcome.err()?.problem()
            }
        }
    }
}

impl Machine {
    pub fn compare(&mut self, ctx: &mut Ctx, what: ComparisonKind) {
        if ctx.is_too_busy() || ctx.jobs.doing(Activity::Benchmark).is_some() {
            return;
        }
        let config = ctx.with_device(&ctx.config);
        let step_configs = match what {
            ComparisonKind::BatchSizes => bench::batch_sizes(&config),
            ComparisonKind::Devices => bench::devices(&config, &ctx.usable_for_training()),
        };
        self.benchmark.comparing = Some((what, ctx.config.clone()));
        ctx.submit(Job::Compare {
            config,
            step_configs,
        });
    }

    /// A rule of thumb for a run with this many images, as long as nothing was measured and there
    /// is a choice.
    pub fn first_guess(&self, ctx: &Ctx, images: Option<u64>) -> Option<&'static str> {
        let measured = self.benchmark.devices.as_ref();
        let measured = measured.is_some_and(|found| found.holds_for(&ctx.config));
        (!measured && ctx.has_other_devices()).then(|| first_guess(&ctx.config, images))
    }
}

impl Ctx {
    /// The devices usable for training, the CPU first, with their usable precisions.
    fn usable_for_training(&self) -> Vec<(DeviceChoice, Vec<Precision>)> {
        let devices = [DeviceChoice::Cpu, DeviceChoice::Cuda, DeviceChoice::Metal].into_iter();
        let usable = devices.filter(|&device| self.why_not_device(device).is_none());
        let precisions = |device| {
            let precisions = Precision::on(device);
            precisions.filter(move |&it| self.why_not_precision_on(device, it).is_none())
        };
        usable
            .map(|device| (device, precisions(device).collect()))
            .collect()
    }

    /// True if a device other than the CPU is usable for training.
    pub fn has_other_devices(&self) -> bool {
        let mut others = [DeviceChoice::Cuda, DeviceChoice::Metal].into_iter();
        others.any(|device| self.why_not_device(device).is_none())
    }
    pub fn benchmark(&mut self, effort: Effort) {
        if !self.is_too_busy() && self.jobs.doing(Activity::Benchmark).is_none() {
            self.submit(Job::Benchmark(effort));
        }
    }

    /// A short name of a candidate: "CPU bf16", "1 thread".
    pub fn step_config_name(&self, step_config: StepConfig) -> String {
        if step_config.threads == bench::step_config_of(&self.config).threads {
            let device = device_name(step_config.device, false);
            format!("{device} {}", step_config.precision)
        } else if step_config.threads == 1 {
            "1 thread".to_owned()
        } else {
            format!("{} threads", step_config.threads)
        }
    }

    /// These settings with the candidate's device, precision and threads.
    pub fn with_step_config(&self, step_config: StepConfig) -> RunConfig {
        let mut config = self.config.clone();
        if self.device_for(config.device, step_config.precision) != step_config.device {
            config.device = step_config.device;
        }
        if step_config.threads != bench::step_config_of(&config).threads {
            config.threads = Some(step_config.threads);
        }
        config.precision = step_config.precision;
        config
    }
}

impl Machine {
    /// The measured training throughput of these settings, in images per second; `None` also if
    /// other programs disturbed the measurement.
    pub fn measured_rate(&self, ctx: &Ctx, config: &RunConfig) -> Option<f64> {
        let step_config = ctx.step_config(config);
        let compared = [&self.benchmark.devices, &self.benchmark.batch_sizes];
        let mut compared = compared
            .into_iter()
            .flatten()
            .filter(|comparison| comparison.holds_for(config) && !comparison.is_disturbed());
        compared.find_map(|comparison| comparison.rate(step_config))
    }
}
