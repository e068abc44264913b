//! `inkling sweep`: searches for the settings with the highest validation accuracy.

mod report;

use std::path::PathBuf;

use super::arguments::{choice, preset};
use super::engine::{data_folders, settings};
use super::failure::Failure;
use super::interrupt::{self, Request};
use super::machines::Machines;
use super::output::{Output, note, warn};
use super::{devices, train};
use crate::problem::Explain;
use crate::run_config::{DataSpec, DeviceChoice, Preset, RunConfig};
use crate::sweep::{
    Asha, DefinitionError, DefinitionFile, SamplerKind, SettingRange, Sweep, SweepDefinition,
    SweepEnd, Tested, Work, seconds, usual_parallel,
};
use crate::system::paths::Paths;
use crate::text::format::joined;

pub use report::JsonLine;

#[derive(Debug, clap::Args)]
pub struct SweepArgs {
    /// Description of the sweep as TOML; the options below override it
    #[arg(value_name = "FILE", conflicts_with = "resume")]
    file: Option<PathBuf>,
    /// A setting by its name in `inkling train`, and its values: learning-rate=1e-4..1e-2:log,
    /// batch-size=32,64,128; a single value applies to all trials: epochs=4
    #[arg(long, value_name = "NAME=VALUES", conflicts_with = "resume")]
    set: Vec<String>,
    /// Training data, as for `inkling train` [default: builtin]
    #[arg(long, value_name = "DATA", conflicts_with = "resume")]
    data: Option<DataSpec>,
    /// Folder to search for data sets before the usual ones
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    data_dir: Option<PathBuf>,
    /// Base settings of all trials [default: balanced]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = preset(), conflicts_with = "resume")]
    preset: Option<Preset>,
    /// Device to train on
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice(DeviceChoice::ALL, DeviceChoice::name), conflicts_with = "resume")]
    device: Option<DeviceChoice>,
    /// Worker threads, divided among the trials that train in parallel [default: one per core]
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        conflicts_with = "resume"
    )]
    threads: Option<u32>,
    /// Start at most N trials [default: 30 without --time; all combinations of a grid]
    #[arg(long, value_name = "N")]
    trials: Option<u32>,
    /// Start no trial after this time: 90s, 30m, 2h
    #[arg(long, value_name = "TIME")]
    time: Option<String>,
    /// How settings are chosen: tpe learns from the trials so far [default: tpe]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice(&SamplerKind::ALL, SamplerKind::name), conflicts_with = "resume")]
    sampler: Option<SamplerKind>,
    /// Seed of the search; the seed of the trials is a setting [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    seed: Option<u64>,
    /// How poor trials are stopped early: asha, or none [default: asha]
    #[arg(long, value_name = "NAME", value_parser = ["asha", "none"], conflicts_with = "resume")]
    pruner: Option<String>,
    /// With asha, the best one in N trials continues at each comparison [default: 3]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    reduction: Option<u32>,
    /// With asha, the fewest epochs that a trial trains [default: 1]
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    min_epochs: Option<u32>,
    #[command(flatten)]
    machines: Machines,
    /// Trials that train in parallel [default: one per core, at most 4; on a GPU 1; with
    /// --hosts one per host]
    #[arg(long, value_name = "N")]
    parallel: Option<u32>,
    /// Resume a sweep: the latest, or the one in DIR; with a larger --trials or --time, it
    /// continues
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    #[expect(clippy::option_option, reason = "an option that may have a value")]
    resume: Option<Option<PathBuf>>,
    /// Folder to save the sweep in [default: a new folder among Inkling's sweeps]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// At the end, retrain the best settings, save the model and evaluate it once on the test set
    #[arg(long)]
    test: bool,
    /// Print one JSON object per line to standard output
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &SweepArgs) -> Result<(), Failure> {
    arguments.machines.check()?;
    let paths = Paths::find();
    let mut sweep = match &arguments.resume {
        None => begin(arguments, &paths)?,
        Some(folder) => {
            let folder = folder
                .clone()
                .map_or_else(|| Sweep::newest(&paths.sweeps), Ok)?;
            let mut sweep = Sweep::open(&folder)?;
            check_consent(arguments, sweep.definition(), &paths)?;
            let seconds = arguments
                .time
                .as_deref()
                .map(seconds)
                .transpose()
                .map_err(Failure::from)?;
            // A job array is as long as before; hosts may be others than before.
            let places = arguments
                .machines
                .usual_parallel()
                .filter(|_| !arguments.machines.is_in_array());
            sweep.extend(arguments.trials, seconds, arguments.parallel.or(places))?;
            sweep
        }
    };
    let definition = sweep.definition();
    let settings = settings(definition.data_dir.clone(), None, None)?;
    let mut executor = arguments.machines.executor(
        Work::Trials,
        definition.parallel,
        definition.base.threads,
        settings,
    )?;
    interrupt::install_handler();
    let mut output = Output::new(arguments.json);
    report::began(&sweep, &mut output)?;
    let ending = report::run(&mut sweep, &mut executor, &mut output)?;
    drop(executor);
    let is_complete = ending == SweepEnd::Complete;
    if is_complete && sweep.definition().is_exhausted(sweep.trials().len()) {
        note("Every combination of these values has been tried.");
    }
    report::ended(&sweep, is_complete, &mut output)?;
    if is_complete && arguments.test {
        test(&mut sweep, &mut output)?;
    }
    match interrupt::requested() {
        Some(Request::Interrupt(status)) => Err(Failure::Interrupted.terminated(status)),
        _ if is_complete => Ok(()),
        _ => Err(Failure::Interrupted),
    }
}

/// An error if trials would need My digits on machines that may not receive them.
fn check_consent(
    arguments: &SweepArgs,
    definition: &SweepDefinition,
    paths: &Paths,
) -> Result<(), Failure> {
    let folders = data_folders(definition.data_dir.clone(), paths)?;
    arguments
        .machines
        .check_consent(&definition.base.data, &folders, paths)
}

fn begin(arguments: &SweepArgs, paths: &Paths) -> Result<Sweep, Failure> {
    let mut definition = definition(arguments)?;
    let problems = definition.problems();
    if !problems.is_empty() {
        return Err(failure(&problems));
    }
    check_consent(arguments, &definition, paths)?;
    if arguments.machines.is_here() {
        definition.base.device =
            devices::resolve(definition.base.device, definition.base.precision)?;
    }
    if arguments.out.is_none() {
        return Sweep::create_in(&paths.sweeps, definition).map_err(Failure::from);
    }
    let folder = arguments
        .out
        .iter()
        .flat_map(std::path::absolute)
        .collect::<PathBuf>();
    Sweep::create(&folder, definition).map_err(Failure::from)
}

/// Trains the best settings once more as a run that is saved, and notes its test accuracy, unless
/// that was done before.
fn test(sweep: &mut Sweep, output: &mut Output) -> Result<(), Failure> {
    if let Some((trial, tested)) = sweep.tested() {
        return report::tested(*trial, tested, &sweep.definition().base.data, output);
    }
    let Some(best) = sweep.best() else {
        warn("No trial was completed, so there are no best settings to test.");
        return Ok(());
    };
    let (number, config) = (
        best.number,
        RunConfig {
            threads: sweep.definition().base.threads,
            ..best.config.clone()
        },
    );
    let Some(summary) = train::train(&config, sweep.definition().data_dir.clone(), output)? else {
        return Err(Failure::Interrupted);
    };
    if summary.stopped {
        return Err(Failure::Interrupted);
    }
    let tested = Tested {
        run: summary.folder.clone(),
        test_accuracy: summary.test.as_ref().map(|test| test.evaluation.accuracy),
    };
    sweep.record_test(number, tested.clone())?;
    report::tested(number, &tested, &sweep.definition().base.data, output)
}

/// Trials if neither a number nor a time was given.
const TRIALS: u32 = 30;

/// The definition; not yet checked as a whole.
pub fn definition(arguments: &SweepArgs) -> Result<SweepDefinition, Failure> {
    let file = arguments
        .file
        .as_deref()
        .map(DefinitionFile::read)
        .transpose()?
        .unwrap_or_default();
    let wrong = |error: DefinitionError| failure(&[error]);
    let data = match (&arguments.data, &file.data) {
        (Some(data), _) => data.clone(),
        (None, Some(name)) => name.parse().map_err(|error| {
            Failure::Usage(format!("In the description of the sweep: {error}."))
        })?,
        (None, None) => DataSpec::builtin(),
    };
    // A sweep may be resumed from another folder.
    let data = data.located(&std::env::current_dir().unwrap_or_default());
    let preset = RunConfig::preset(arguments.preset.or(file.preset).unwrap_or(Preset::Balanced));
    let device = arguments.device.unwrap_or(preset.device);
    let mut definition = SweepDefinition::of(RunConfig {
        data,
        device,
        threads: arguments.threads,
        ..preset
    });
    let given = arguments
        .set
        .iter()
        .map(|text| SettingRange::parse(text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(wrong)?;
    let from_file = file.settings().map_err(wrong)?;
    SettingRange::check_once(&from_file).map_err(wrong)?;
    SettingRange::check_once(&given).map_err(wrong)?;
    for range in from_file.into_iter().chain(given) {
        definition.set(range).map_err(wrong)?;
    }
    let absolute =
        |folder: &PathBuf| std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
    definition.data_dir = arguments.data_dir.as_ref().map(absolute);
    if let Some(name) = &file.sampler {
        definition.sampler = name.parse().map_err(|error| {
            Failure::Usage(format!("In the description of the sweep: {error}."))
        })?;
    }
    definition.sampler = arguments.sampler.unwrap_or(definition.sampler);
    definition.seed = arguments.seed.or(file.seed).unwrap_or(definition.seed);
    definition.seconds = arguments
        .time
        .as_deref()
        .or(file.time.as_deref())
        .map(seconds)
        .transpose()
        .map_err(wrong)?;
    definition.trials = arguments.trials.or(file.trials);
    if definition.trials.is_none()
        && definition.seconds.is_none()
        && definition.sampler != SamplerKind::Grid
    {
        definition.trials = Some(TRIALS);
    }
    let asha = Asha {
        reduction: arguments
            .reduction
            .or(file.reduction)
            .unwrap_or(Asha::DEFAULT.reduction),
        min_epochs: arguments
            .min_epochs
            .or(file.min_epochs)
            .unwrap_or(Asha::DEFAULT.min_epochs),
    };
    definition.pruner = match arguments.pruner.as_deref().or(file.pruner.as_deref()) {
        None | Some("asha") => Some(asha),
        Some("none") => None,
        Some(_) => {
            return Err(Failure::Usage(
                "In the description of the sweep: pruner must be \"asha\" or \"none\".".to_owned(),
            ));
        }
    };
    let asked = arguments
        .parallel
        .or(file.parallel)
        .or_else(|| arguments.machines.usual_parallel());
    definition.parallel = asked.unwrap_or_else(|| usual_parallel(&definition.base));
    Ok(definition)
}

/// All mistakes, one per line.
pub fn failure(problems: &[DefinitionError]) -> Failure {
    Failure::Usage(joined(problems.iter().map(Explain::message), "\n"))
}
