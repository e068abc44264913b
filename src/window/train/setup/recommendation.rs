//! What is possible and recommended on this machine, and starting the discovery of hardware, data
//! and models.

use std::sync::Arc;

use crate::data::{builtin, validation_size};
use crate::hardware::{Hardware, precision_note, recommend};
use crate::run_config::{
    ConfigProblem, DataSource, DataSpec, DeviceChoice, NamedSet, Precision, RunConfig, Setting,
};
use crate::text::format::memory;
use crate::train::{gpu_memory_needed, memory_needed, too_many_parameters};
use crate::window::{App, Ctx, Machine, Train};

impl App {
    /// All problems of the configuration, including those specific to this machine.
    pub fn config_problems(&self) -> Vec<ConfigProblem> {
        let mut problems = self.ctx.config.problems();
        problems.extend(too_many_parameters(&self.ctx.config));
        let device = self.ctx.config.device;
        problems.extend(
            self.why_not_device(device)
                .map(|reason| ConfigProblem::DeviceUnavailable { device, reason }),
        );
        if let Some(given) = self.ctx.config.memory_limit
            && let Some((train, test)) = self.train.images(&self.ctx)
        {
            let needed = memory_needed(&self.ctx.config, train, test).div_ceil(1 << 20);
            if needed > u64::from(given) && given > 0 {
                problems.push(ConfigProblem::MemoryLimitTooLow { given, needed });
            }
        }
        let precision = self.ctx.config.precision;
        problems.extend(
            self.ctx
                .why_not_precision(precision)
                .map(|reason| ConfigProblem::PrecisionUnavailable { precision, reason }),
        );
        problems
    }

    /// Starts the discovery of hardware, data and runs in the background; later calls do nothing.
    pub fn start_discovery(&mut self) {
        if std::mem::replace(&mut self.machine.discovery_started, true) {
            return;
        }
        self.train.has_network = (self.ctx.deps.has_network)();
        self.ctx.check_data();
        self.ctx.probe();
        let benchmarks = self.ctx.deps.paths.benchmarks.clone();
        self.ctx.background.run(
            move || crate::bench::latest(&benchmarks),
            |app, latest| {
                if let (None, Some((report, saved))) = (&app.machine.benchmark.last, latest) {
                    app.machine.benchmark.last = Some((report, Some(saved)));
                }
            },
        );
        self.ctx.find_data();
        self.ctx.empty_deleted();
        self.ctx.list_sweeps();
        self.ctx.list_finished();
        self.my_digits.load_my_digits(&mut self.ctx);
        self.ctx.look_for_last_session();
    }
}

impl Machine {
    /// What this precision means on this machine, if there is something to say.
    pub fn precision_note(&self, ctx: &Ctx, precision: Precision) -> Option<String> {
        let cost = self
            .benchmark
            .last
            .as_ref()
            .and_then(|(report, _)| report.step_cost(precision));
        precision_note(
            precision,
            ctx.device_for(ctx.config.device, precision),
            &ctx.machine(),
            cost,
        )
    }
}

impl Train {
    /// The estimated memory of the run, or of the GPU it trains on: "Needs about 187 MiB of memory;
    /// 22.2 GiB free." The flag is false if it does not fit.
    pub fn expected_memory(&self, ctx: &Ctx) -> Option<(String, bool)> {
        let (needed, hardware) = (
            self.memory_needed(ctx, &ctx.config)?,
            ctx.hardware.as_ref()?,
        );
        if let Some(gpu) = hardware
            .gpus
            .first()
            .filter(|_| ctx.trains_on_gpu(&ctx.config))
        {
            let fits = needed <= gpu.memory_free;
            let short = if fits {
                ""
            } else {
                ": choose a smaller model or batch size, or batches will be split into micro-batches"
            };
            let words = format!(
                "Needs about {} of GPU memory; {} of {} free{short}.",
                memory(needed),
                memory(gpu.memory_free),
                memory(gpu.memory_total)
            );
            return Some((words, fits));
        }
        let free = hardware.memory_available;
        let fits = needed <= free;
        let short = if fits {
            ""
        } else {
            ": close other programs or choose a smaller model"
        };
        Some((
            format!(
                "Needs about {} of memory; {} free{short}.",
                memory(needed),
                memory(free)
            ),
            fits,
        ))
    }

    /// Estimated bytes of memory of this run on its device, if its data set is known.
    pub fn memory_needed(&self, ctx: &Ctx, config: &RunConfig) -> Option<u64> {
        let (train, test) = self.images(ctx)?;
        Some(if ctx.trains_on_gpu(config) {
            gpu_memory_needed(config, train)
        } else {
            memory_needed(config, train, test)
        })
    }

    /// Training images without those held out for validation, if the data set is known.
    pub fn training_images(&self, ctx: &Ctx) -> Option<u64> {
        self.images(ctx)
            .map(|(train, _)| train - validation_size(train))
    }

    /// Training and test images of the data set, if it is known.
    pub fn images(&self, ctx: &Ctx) -> Option<(u64, u64)> {
        let sources = ctx.config.data.sources();
        let mut known = Vec::new();
        for source in sources {
            known.push(match source {
                // Counted below.
                DataSource::Builtin => (0, builtin::TEST_IMAGES as u64),
                source => {
                    let found = self
                        .found
                        .iter()
                        .flatten()
                        .find(|found| ctx.source_of(found) == *source)?;
                    (found.train_images, found.test_images)
                }
            });
        }
        let others: u64 = known.iter().map(|(train, _)| train).sum();
        let generated = sources
            .iter()
            .filter(|source| **source == DataSource::Builtin)
            .count();
        let train = others + (generated * builtin::training_images(others as usize)) as u64;
        Some((train, known.first()?.1))
    }

    /// The configuration recommended for this machine and the reason, once the hardware is known.
    pub fn recommended(&self, ctx: &Ctx) -> Option<(RunConfig, String)> {
        let (config, reason) = recommend(ctx.hardware.as_ref()?);
        let data = self.mnist_and_builtin(ctx).unwrap_or(config.data);
        Some((RunConfig { data, ..config }, reason))
    }

    /// MNIST mixed with built-in digits, where it was found: the best data for a model that is to
    /// recognize drawings.
    pub fn mnist_and_builtin(&self, ctx: &Ctx) -> Option<DataSpec> {
        let mnist = self
            .found
            .iter()
            .flatten()
            .find(|found| found.set == NamedSet::Mnist)?;
        Some(DataSpec::with_builtin(ctx.source_of(mnist)))
    }

    /// Applies the recommendation during the first run of the wizard, unless the person has chosen
    /// something else.
    pub fn follow_recommendation(&mut self, ctx: &mut Ctx) {
        if !ctx.settings.wizard_done
            && !self.chosen
            && let Some((config, _)) = self.recommended(ctx)
        {
            ctx.config = config;
        }
    }
}

impl Ctx {
    fn trains_on_gpu(&self, config: &RunConfig) -> bool {
        self.device_for(config.device, config.precision) == DeviceChoice::Cuda
    }

    /// What this value of a field means on this machine, where it is valid but hardly meant.
    pub fn field_note(&self, setting: Setting) -> Option<String> {
        let (threads, cores) = (
            self.config.threads?,
            self.hardware.as_ref()?.cpu.usable_cores,
        );
        let too_many = setting == Setting::Threads
            && threads > cores
            && Setting::Threads.row().range?.contains(threads.into());
        too_many.then(|| {
            format!("This machine has {cores} cores: more threads than that make training slower.")
        })
    }

    pub fn probe(&self) {
        let (probe, folder) = (
            Arc::clone(&self.deps.probe),
            self.settings.cuda_folder.clone(),
        );
        self.background.run(
            move || (probe(folder.as_deref()), folder),
            |app, (hardware, folder)| {
                // What was found while the libraries were looked for elsewhere is overtaken.
                if folder == app.ctx.settings.cuda_folder {
                    app.machine.looking_for_cuda = false;
                    app.ctx.hardware = Some(hardware);
                    app.ctx.check_gpu();
                    app.train.follow_recommendation(&mut app.ctx);
                    app.machine.time_presets(&mut app.ctx);
                }
            },
        );
    }

    pub fn find_data(&self) {
        let folders: Vec<_> = self
            .deps
            .paths
            .data
            .iter()
            .chain(&self.settings.data_folders)
            .cloned()
            .collect();
        self.background.run(
            move || crate::data::find(&folders),
            |app, found| {
                app.train.found = Some(found);
                app.train.follow_recommendation(&mut app.ctx);
            },
        );
    }

    /// This machine's hardware; a default with only a CPU until it is known.
    pub fn machine(&self) -> std::borrow::Cow<'_, Hardware> {
        let hardware = self
            .other_machine()
            .map(|machine| &machine.hardware)
            .or(self.hardware.as_ref());
        hardware.map_or_else(
            || std::borrow::Cow::Owned(Hardware::default()),
            std::borrow::Cow::Borrowed,
        )
    }
}
