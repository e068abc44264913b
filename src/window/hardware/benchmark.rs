//! Benchmarks and comparisons as the window shows them: those in progress and the last results.

use crate::bench::{self, rates};
use crate::hardware::first_guess;
use crate::problem::Problem;
use crate::protocol::{Job, JobResult};
use crate::records::benchmark::{BUSY, Effort, Measurement, Report, Saved, StepConfig};
use crate::run_config::{DeviceChoice, Precision, RunConfig};
use crate::window::draw::device_name;
use crate::window::{Activity, App, Ctx, JobOutcome, Machine, RunningJob, WithoutResult};

#[derive(Clone, Debug, Default)]
pub struct BenchmarkView {
    /// What the comparison in progress is about, and the settings it is made for.
    pub comparing: Option<(ComparisonKind, RunConfig)>,
    /// True once the presets are to be timed, as soon as nothing else is measured.
    pub presets_wanted: bool,
    /// True if other programs kept the machine too busy to time them.
    pub presets_disturbed: bool,
    /// The newest report and, if it could be saved, its files.
    pub last: Option<(Report, Option<Saved>)>,
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
    /// The share of the CPU that other programs used meanwhile, 0 to 1.
    pub background_load: f32,
}

impl Comparison {
    /// True if the results hold for these settings as well.
    pub fn holds_for(&self, config: &RunConfig) -> bool {
        let alike = |config: &RunConfig| {
            (
                config.network(),
                config.optimizer,
                config.augmentation,
                config.activation,
            )
        };
        let (here, there) = (&self.config, config);
        alike(here) == alike(there)
            && match self.what {
                ComparisonKind::BatchSizes => {
                    (here.precision, here.threads, here.device)
                        == (there.precision, there.threads, there.device)
                }
                ComparisonKind::Devices => here.batch_size == there.batch_size,
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
            // Nobody asked for the estimates. They are made later where something else was asked
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

impl App {
    pub fn compare(&mut self, what: ComparisonKind) {
        if self.ctx.is_too_busy() || self.ctx.jobs.doing(Activity::Benchmark).is_some() {
            return;
        }
        let config = self.ctx.with_device(&self.ctx.config);
        let step_configs = match what {
            ComparisonKind::BatchSizes => bench::batch_sizes(&config),
            ComparisonKind::Devices => bench::devices(&config, &self.usable_for_training()),
        };
        self.machine.benchmark.comparing = Some((what, self.ctx.config.clone()));
        self.ctx.submit(Job::Compare {
            config,
            step_configs,
        });
    }

    /// The devices usable for training, the CPU first, with their usable precisions.
    fn usable_for_training(&self) -> Vec<(DeviceChoice, Vec<Precision>)> {
        let devices = [DeviceChoice::Cpu, DeviceChoice::Cuda, DeviceChoice::Metal].into_iter();
        let precisions = |device| {
            let sound =
                |precision: &Precision| self.ctx.why_not_precision_on(device, *precision).is_none();
            Precision::on(device).filter(sound).collect()
        };
        devices
            .filter(|&device| self.why_not_device(device).is_none())
            .map(|device| (device, precisions(device)))
            .collect()
    }

    /// A rule of thumb, as long as nothing was measured and there is a choice.
    pub fn first_guess(&self) -> Option<&'static str> {
        let measured = self
            .machine
            .benchmark
            .devices
            .as_ref()
            .is_some_and(|found| found.holds_for(&self.ctx.config));
        if measured || !self.has_other_devices() {
            return None;
        }
        Some(first_guess(
            &self.ctx.config,
            self.train.training_images(&self.ctx),
        ))
    }

    /// True if a device other than the CPU is usable for training.
    pub fn has_other_devices(&self) -> bool {
        [DeviceChoice::Cuda, DeviceChoice::Metal]
            .into_iter()
            .any(|device| self.why_not_device(device).is_none())
    }
}

impl Ctx {
    pub fn benchmark(&mut self, effort: Effort) {
        if !self.is_too_busy() && self.jobs.doing(Activity::Benchmark).is_none() {
            self.submit(Job::Benchmark(effort));
        }
    }

    /// A short name of a candidate: "CPU bf16", "1 thread".
    pub fn step_config_name(&self, step_config: StepConfig) -> String {
        match step_config.threads {
            fewer if fewer != bench::step_config_of(&self.config).threads => {
                if fewer == 1 {
                    "1 thread".to_owned()
                } else {
                    format!("{fewer} threads")
                }
            }
            _ => format!(
                "{} {}",
                device_name(step_config.device, false),
                step_config.precision
            ),
        }
    }

    /// These settings with the candidate's device, precision and threads.
    pub fn with_step_config(&self, step_config: StepConfig) -> RunConfig {
        let config = &self.config;
        let stays = self.device_for(config.device, step_config.precision) == step_config.device;
        let threads = if step_config.threads == bench::step_config_of(config).threads {
            config.threads
        } else {
            Some(step_config.threads)
        };
        let device = if stays {
            config.device
        } else {
            step_config.device
        };
        RunConfig {
            device,
            precision: step_config.precision,
            threads,
            ..config.clone()
        }
    }
}

impl Machine {
    /// The measured training throughput of these settings, in images per second; `None` also where
    /// other programs disturbed the measurement.
    pub fn measured_rate(&self, ctx: &Ctx, config: &RunConfig) -> Option<f64> {
        let step_config = StepConfig {
            device: ctx.device_for(config.device, config.precision),
            ..bench::step_config_of(config)
        };
        let compared = [&self.benchmark.devices, &self.benchmark.batch_sizes]
            .into_iter()
            .flatten();
        compared
            .filter(|comparison| comparison.holds_for(config) && !comparison.is_disturbed())
            .find_map(|comparison| comparison.rate(step_config))
    }
}
