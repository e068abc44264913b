//! What is possible and recommended on this machine, and starting the discovery of hardware, data
//! and models.

use std::borrow::Cow;
use std::sync::Arc;

use crate::data::{FoundDataset, builtin, validation_size};
use crate::hardware::{Hardware, precision_note, recommend};
use crate::records::RecordCard;
use crate::run_config::{
    ConfigError, DataSource, DataSpec, DeviceChoice, Precision, PublicDataset, RunConfig, Setting,
};
use crate::text::format::memory;
use crate::train::{gpu_memory_needed, memory_needed, too_many_parameters};
use crate::window::{App, Ctx, Machine, Train};

impl App {
    /// Starts the discovery of hardware, data and runs in the background; later calls do nothing.
    pub fn start_discovery(&mut self) {
        if std::mem::replace(&mut self.ctx.discovery_started, true) {
            return;
        }
        self.ctx.ask_about_motion();
        self.train.has_network = (self.ctx.deps.has_network)();
        self.ctx.check_data();
        self.ctx.probe();
        let benchmarks = self.ctx.deps.paths.benchmarks.clone();
        self.ctx.background.run(
            move || crate::bench::latest(&benchmarks),
            |app, latest| {
                let last = &mut app.machine.benchmark.last;
                if let (None, Some((report, saved))) = (&last, latest) {
                    *last = Some((report, Some(saved)));
                }
            },
        );
        let records = self.ctx.deps.paths.records.clone();
        self.ctx.background.run(
            move || RecordCard::list(&records),
            |app, records| app.train.records = records,
        );
        self.ctx.find_data();
        self.ctx.empty_deleted();
        self.ctx.list_sweeps();
        self.ctx.list_finished();
        self.my_digits.load_my_digits(&self.ctx);
        self.ctx.look_for_last_session();
    }
}

impl Machine {
    /// A note on this precision on this machine, if there is something to say.
    pub fn precision_note(&self, ctx: &Ctx, precision: Precision) -> Option<String> {
        let report = self.benchmark.last.as_ref().map(|(report, _)| report);
        let cost = report.and_then(|report| report.step_cost(precision));
        let device = ctx.device_for(ctx.config.device, precision);
        precision_note(precision, device, &ctx.machine(), cost)
    }
}

impl Train {
    /// All problems of the configuration, including those specific to this machine.
    pub fn config_problems(&self, ctx: &Ctx) -> Vec<ConfigError> {
        let config = &ctx.config;
        let mut problems = config.problems();
        problems.extend(too_many_parameters(config));
        let (device, precision) = (config.device, config.precision);
        let unavailable = ctx.why_not_device(device);
        problems
            .extend(unavailable.map(|reason| ConfigError::DeviceUnavailable { device, reason }));
        if let Some(given) = config.memory_limit
            && let Some((train, test)) = self.images(ctx)
        {
            let needed = memory_needed(config, train, test).div_ceil(1 << 20);
            if needed > u64::from(given) && given > 0 {
                problems.push(ConfigError::MemoryLimitTooLow { given, needed });
            }
        }
        let unavailable = ctx.why_not_precision(precision);
        problems.extend(
            unavailable.map(|reason| ConfigError::PrecisionUnavailable { precision, reason }),
        );
        problems
    }

    /// The estimated memory of the run, or of the GPU it trains on: "Needs about 187 MiB of memory;
    /// 22.2 GiB free." The flag is false if it does not fit.
    pub fn expected_memory(&self, ctx: &Ctx) -> Option<(String, bool)> {
        let needed = self.memory_needed(ctx, &ctx.config)?;
        let hardware = ctx.hardware.as_ref()?;
        let mut gpus = hardware.gpus.iter();
        let gpu = gpus.next().filter(|_| ctx.trains_on_gpu(&ctx.config));
        let free = gpu.map_or(hardware.memory_available, |gpu| gpu.memory_free);
        let fits = needed <= free;
        let short = match gpu {
            _ if fits => "",
            Some(_) => {
                ": choose a smaller model or batch size, or batches will be split into micro-batches"
            }
            None => ": close other programs or choose a smaller model",
        };
        let (needed, free) = (memory(needed), memory(free));
        let words = match gpu.map(|gpu| memory(gpu.memory_total)) {
            Some(total) => {
                format!("Needs about {needed} of GPU memory; {free} of {total} free{short}.")
            }
            None => format!("Needs about {needed} of memory; {free} free{short}."),
        };
        Some((words, fits))
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
        let (mut others, mut generated, mut first_test) = (0, 0, None);
        for source in sources {
            let test = if *source == DataSource::Builtin {
                generated += 1;
                builtin::TEST_IMAGES as u64
            } else {
                let found = self.found_as(ctx, source)?;
                others += found.train_images;
                found.test_images
            };
            first_test.get_or_insert(test);
        }
        let train = others + (generated * builtin::training_images(others as usize)) as u64;
        Some((train, first_test?))
    }

    pub fn found_as(&self, ctx: &Ctx, source: &DataSource) -> Option<&FoundDataset> {
        let mut found = self.found.iter().flatten();
        found.find(|found| ctx.source_of(found) == *source)
    }

    pub fn found_set(&self, set: PublicDataset) -> Option<&FoundDataset> {
        self.found.iter().flatten().find(|found| found.set == set)
    }

    /// The configuration recommended for this machine and the reason, once the hardware is known.
    pub fn recommended(&self, ctx: &Ctx) -> Option<(RunConfig, String)> {
        let (config, reason) = recommend(ctx.hardware.as_ref()?);
        let data = self.mnist_and_builtin(ctx).unwrap_or(config.data);
        Some((RunConfig { data, ..config }, reason))
    }

    /// MNIST mixed with built-in digits, if it was found: the best data for a model that is to
    /// recognize drawings.
    pub fn mnist_and_builtin(&self, ctx: &Ctx) -> Option<DataSpec> {
        let mnist = self.found_set(PublicDataset::Mnist)?;
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

    /// A warning about a value of a field that is valid but hardly meant.
    pub fn field_note(&self, setting: Setting) -> Option<String> {
        let cores = self.hardware.as_ref()?.cpu.usable_cores;
        let threads = self.config.threads.filter(|threads| *threads > cores)?;
        let too_many = setting == Setting::Threads && setting.row().range?.contains(threads.into());
        too_many.then(|| {
            format!("This machine has {cores} cores: more threads than that make training slower.")
        })
    }

    pub fn probe(&self) {
        let probe = Arc::clone(&self.deps.probe);
        let folder = self.settings.cuda_folder.clone();
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
        let folders = self
            .deps
            .paths
            .data
            .iter()
            .chain(&self.settings.data_folders);
        let folders: Vec<_> = folders.cloned().collect();
        self.background.run(
            move || crate::data::find(&folders),
            |app, found| {
                app.train.found = Some(found);
                app.train.follow_recommendation(&mut app.ctx);
            },
        );
    }

    /// This machine's hardware; a default with only a CPU until it is known.
    pub fn machine(&self) -> Cow<'_, Hardware> {
        let other = self.other_machine.as_ref();
        let known = other.map(|machine| &machine.hardware);
        let known = known.or(self.hardware.as_ref());
        known.map_or_else(|| Cow::Owned(Hardware::default()), Cow::Borrowed)
    }
}
