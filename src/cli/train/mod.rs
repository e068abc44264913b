//! `inkling train`: turns options into a configuration, runs it on the engine, and reports the result.

mod report;
mod watch;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::watch::RunEnd;
use super::arguments::{choice, preset};
use super::devices;
use super::engine::Engine;
use super::failure::Failure;
use super::interrupt;
use super::output::Output;
use crate::engine::RunsTarget;
use crate::nn::ModelFile;
use crate::run_config::{
    Activation, Augmentation, DataSpec, DeviceChoice, ModelKind, OptimizerKind, Precision, Preset, RunConfig, ScheduleKind, WeightFormat,
};
use crate::runs::{Checkpoints, InterruptedRun};
use crate::system::paths::Paths;
use crate::system::targets::check_folder;

/// How long a process that was killed may take to end.
const ENDING: Duration = Duration::from_secs(2);

/// The options of `inkling train`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Training data: builtin, mine, mnist, fashion-mnist, kmnist, emnist-digits, a path, or several joined with +
    #[arg(long, value_name = "DATA", default_value = "builtin")]
    data: DataSpec,
    /// Folder to search for data sets before the usual ones [with --resume: as before]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Base settings; all other options override them
    #[arg(long, value_name = "NAME", default_value = "balanced", ignore_case = true, value_parser = preset())]
    preset: Preset,
    /// Network to train
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<ModelKind>(ModelKind::ALL.iter().map(|c| c.name())))]
    model: Option<ModelKind>,
    /// Model file to start from: its weights, network and activation are used
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Activation function between layers
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<Activation>(Activation::ALL.iter().map(|c| c.name())))]
    activation: Option<Activation>,
    /// Passes over the training set
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    epochs: Option<u32>,
    /// Images per batch
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    batch_size: Option<u32>,
    /// Number format of matrix products
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<Precision>(Precision::ALL.iter().map(|c| c.name())))]
    precision: Option<Precision>,
    /// Device to train on
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<DeviceChoice>(DeviceChoice::ALL.iter().map(|c| c.name())))]
    device: Option<DeviceChoice>,
    /// Optimiser
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<OptimizerKind>(OptimizerKind::ALL.iter().map(|c| c.name())))]
    optimizer: Option<OptimizerKind>,
    /// Peak learning rate
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    lr: Option<f64>,
    /// Learning-rate schedule
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<ScheduleKind>(ScheduleKind::ALL.iter().map(|c| c.name())))]
    schedule: Option<ScheduleKind>,
    /// Weight decay per step, scaled by the learning rate
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    weight_decay: Option<f64>,
    /// Momentum (SGD)
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    momentum: Option<f64>,
    /// Use plain instead of Nesterov momentum (SGD)
    #[arg(long)]
    no_nesterov: bool,
    /// Share of the target probability that is spread over all digits
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    label_smoothing: Option<f64>,
    /// Clip gradients to this global norm
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    clip_norm: Option<f64>,
    /// Batches whose gradients are accumulated before each optimiser step
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    accumulation: Option<u32>,
    /// Average the weights over steps with this decay per step, such as 0.999
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    weight_averaging: Option<f64>,
    /// Stop after N epochs without a better validation result, and keep the best weights
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    early_stopping: Option<u32>,
    /// How strongly training images are augmented
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<Augmentation>(Augmentation::ALL.iter().map(|c| c.name())))]
    augmentation: Option<Augmentation>,
    /// Random seed
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Worker threads [default: one per core]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    threads: Option<u32>,
    /// Memory limit in MB; batches are split into micro-batches to stay below it
    #[arg(long, value_name = "MB")]
    memory_limit: Option<u32>,
    /// Resume an interrupted run: the latest, or the one whose checkpoint is in DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = [
        "data", "preset", "model", "from", "activation", "epochs", "batch_size", "precision", "optimizer", "lr", "schedule", "weight_decay",
        "momentum", "no_nesterov", "label_smoothing", "clip_norm", "accumulation", "weight_averaging", "early_stopping", "augmentation", "seed",
    ])]
    #[expect(clippy::option_option, reason = "an option that may have a value")]
    resume: Option<Option<PathBuf>>,
    /// Folder to save the run in [default: a new folder among Inkling's runs, or with --resume as before]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the run in that folder, if there is one
    #[arg(long, requires = "out")]
    force: bool,
    /// Number format of the weights in the model file; f16 halves the size [default: f32, or with --resume as before]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice::<WeightFormat>(WeightFormat::ALL.iter().map(|c| c.name())))]
    weights: Option<WeightFormat>,
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

impl Arguments {
    fn config(&self) -> Result<RunConfig, Failure> {
        let mut preset = RunConfig::preset(self.preset);
        if let Some(path) = &self.from {
            let card = ModelFile::load(path)?.card;
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            preset = RunConfig { model: card.model, activation: card.config.activation, ..preset.further(path) };
        }
        let mut config = RunConfig {
            data: self.data.clone(),
            model: self.model.unwrap_or(preset.model),
            activation: self.activation.unwrap_or(preset.activation),
            epochs: self.epochs.unwrap_or(preset.epochs),
            batch_size: self.batch_size.unwrap_or(preset.batch_size),
            precision: self.precision.unwrap_or(preset.precision),
            device: self.device.unwrap_or(preset.device),
            optimizer: self.optimizer.unwrap_or(preset.optimizer),
            learning_rate: self.lr.unwrap_or(preset.learning_rate),
            schedule: self.schedule.unwrap_or(preset.schedule),
            weight_decay: self.weight_decay.unwrap_or(preset.weight_decay),
            momentum: self.momentum.unwrap_or(preset.momentum),
            nesterov: preset.nesterov && !self.no_nesterov,
            label_smoothing: self.label_smoothing.unwrap_or(preset.label_smoothing),
            clip_norm: self.clip_norm.or(preset.clip_norm),
            accumulation: self.accumulation.unwrap_or(preset.accumulation),
            weight_averaging: self.weight_averaging.or(preset.weight_averaging),
            early_stopping: self.early_stopping.or(preset.early_stopping),
            augmentation: self.augmentation.unwrap_or(preset.augmentation),
            seed: self.seed.unwrap_or(preset.seed),
            threads: self.threads.or(preset.threads),
            memory_limit: self.memory_limit,
            ..preset
        };
        config.preset = config.matching_preset();
        Ok(config)
    }
}

/// Trains.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let (config, from) = match &arguments.resume {
        None => (arguments.config()?, None),
        Some(folder) => {
            let run = interrupted(folder.as_deref())?;
            let (device, threads, limit) = (arguments.device, arguments.threads, arguments.memory_limit);
            let asked = run.card.config;
            let (device, threads) = (device.unwrap_or(asked.device), threads.or(asked.threads));
            (RunConfig { device, threads, memory_limit: limit.or(asked.memory_limit), ..asked }, Some(run.folder))
        }
    };
    let problems = config.problems();
    if !problems.is_empty() {
        return Err(Failure::of_config(&problems));
    }
    if let Some(out) = &arguments.out {
        let initial = config.initial_weights.as_deref();
        check_folder(out, arguments.force, initial.as_slice())?;
    }
    let config = RunConfig { device: devices::resolve(config.device, config.precision)?, ..config };
    let engine = Engine::start_for(
        config.device,
        arguments.data_dir,
        arguments.out.map(|folder| RunsTarget::Folder { folder, replace: arguments.force }),
        arguments.weights,
    )?;
    interrupt::install_handler();
    let mut output = Output::new(arguments.json);
    let summary = match watch::train(&engine, &config, from, &mut output)? {
        RunEnd::Saved(summary) => summary,
        RunEnd::Unfinished(checkpoint) => {
            report::unfinished(checkpoint.as_deref(), &mut output)?;
            return Err(Failure::Interrupted);
        }
    };
    report::finished(&summary, &mut output)?;
    if report::is_complete(&summary) { Ok(()) } else { Err(Failure::Interrupted) }
}

/// The run to resume: the latest if no folder is given.
fn interrupted(folder: Option<&Path>) -> Result<InterruptedRun, Failure> {
    if let Some(folder) = folder {
        return Ok(Checkpoints::read_card(folder)?);
    }
    let checkpoints = Checkpoints::new(Paths::find().checkpoints);
    let start = Instant::now();
    loop {
        let in_progress = checkpoints.any_in_progress();
        if let Some(newest) = checkpoints.list().into_iter().next() {
            return Ok(newest);
        }
        // A process that was just killed holds its run until the system has taken it apart.
        if in_progress && start.elapsed() < ENDING {
            std::thread::sleep(ENDING / 20);
            continue;
        }
        return Err(Failure::Usage(
            if in_progress {
                "There is no interrupted run to resume; one is still in progress. Wait until it has finished, or leave out --resume to start another."
            } else {
                "There is no interrupted run to resume. Leave out --resume to start a new one."
            }
            .to_owned(),
        ));
    }
}
