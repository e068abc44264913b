//! `inkling train`: turns options into a configuration, runs it on the engine, and reports the
//! result.

mod other_machines;
mod report;
mod watch;

pub use report::{JsonLine, saved};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::watch::{RunEnd, StartFrom};
use super::arguments::{choice, path_or_run};
use super::engine::{Engine, data_folders, settings};
use super::failure::Failure;
use super::machines::Machines;
use super::output::{Output, note};
use super::settings::{Settings, of_a_new_run};
use super::{devices, interrupt};
use crate::engine::{EngineHost, EngineSettings, RemoteHost, RunsTarget};
use crate::records::RunSummary;
use crate::run_config::{RunConfig, Setting, WeightFormat};
use crate::runs::{Checkpoints, InterruptedRun, Store, missing_repetitions, reproduced_config};
use crate::system::paths::{NotUtf8, Paths, check_utf8};
use crate::system::targets::check_folder;
use crate::text::visible;

/// How long a process that was killed may take to end, or an engine whose caller was, to write its
/// last checkpoint.
const ENDING: Duration = Duration::from_secs(10);
/// Longer waits are reported.
const MOMENT: Duration = Duration::from_millis(500);

#[derive(Debug, clap::Args)]
pub struct TrainArgs {
    #[command(flatten)]
    settings: Settings,
    /// Resume an interrupted run: the latest, or the one whose checkpoint is in DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = of_a_new_run())]
    #[expect(clippy::option_option, reason = "an option that may have a value")]
    resume: Option<Option<PathBuf>>,
    /// With --resume: do not continue training, but save the run as it was after its last completed
    /// epoch, as Ctrl-C does
    #[arg(long, requires = "resume", conflicts_with = "tensorboard")]
    save: bool,
    /// Folder to save the run in [default: a new folder among Inkling's runs, or with --resume as
    /// before]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace the run in that folder, if there is one
    #[arg(long, requires = "out")]
    force: bool,
    /// Precision of the weights in the model file; f16 halves the size [default: f32, or with
    /// --resume as before]
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = choice(WeightFormat::ALL, WeightFormat::name))]
    weights: Option<WeightFormat>,
    /// Train a run again, by its folder or title, or latest, and say whether its weights come out
    /// the same
    #[arg(long, value_name = "RUN", conflicts_with_all = of_a_new_run(), conflicts_with_all = ["resume", "repeats"])]
    reproduce: Option<PathBuf>,
    #[arg(
        long,
        alias = "repeat",
        value_name = "N",
        help = Setting::Repeats.row().help.trim_end_matches('.'),
        allow_negative_numbers = true,
        conflicts_with_all = ["resume", "out"]
    )]
    repeats: Option<u32>,
    #[command(flatten)]
    machines: Machines,
    #[arg(
        long,
        value_name = "DIR",
        help = "Folder for TensorBoard: the curves are written to a new folder in it during the run"
    )]
    tensorboard: Option<PathBuf>,
    /// Print one JSON object per line to standard output, also for every step
    #[arg(long)]
    json: bool,
}

impl TrainArgs {
    fn engine_settings(&self) -> Result<EngineSettings, Failure> {
        let runs = self.out.clone().map(|folder| RunsTarget::Folder {
            folder,
            replace: self.force,
        });
        Ok(settings(
            self.settings.data_dir.clone(),
            runs,
            self.weights,
        )?)
    }
}

pub fn run(arguments: &TrainArgs) -> Result<(), Failure> {
    arguments.machines.check()?;
    let first = arguments
        .reproduce
        .as_deref()
        .map(|run| Ok::<_, Failure>(crate::runs::load(&path_or_run(run)?)?))
        .transpose()?;
    let (config, from) = match &arguments.resume {
        None if let Some(first) = &first => (
            arguments
                .settings
                .of_this_machine(reproduced_config(first))?,
            None,
        ),
        None => (
            RunConfig {
                repeats: arguments.repeats.unwrap_or(1),
                ..arguments.settings.fitted_config()?
            },
            None,
        ),
        Some(folder) => {
            let (asked, from) = interrupted(folder.as_deref())?;
            (arguments.settings.of_this_machine(asked)?, from)
        }
    };
    let problems = config.problems();
    if !problems.is_empty() {
        return Err(Failure::of_config(&problems));
    }
    check_stored_paths(arguments)?;
    if let Some(out) = &arguments.out {
        let initial = config.initial_weights.as_deref();
        check_folder(out, arguments.force, initial.as_slice())?;
    }
    if let Some(folder) = &arguments.tensorboard {
        watch::check_tensorboard(folder)?;
    }
    let paths = Paths::find();
    let folders = data_folders(arguments.settings.data_dir.clone(), &paths)?;
    arguments
        .machines
        .check_consent(&config.data, &folders, &paths)?;
    let host = arguments.machines.only_host();
    if host.is_none() && !arguments.machines.is_here() {
        if arguments.resume.is_some() || first.is_some() || arguments.tensorboard.is_some() {
            let one = "--resume, --reproduce and --tensorboard are for one run on one machine. Name one SSH host: --hosts HOST";
            return Err(Failure::Usage(one.to_owned()));
        }
        return other_machines::run(arguments, &config);
    }
    let device = match host {
        None => devices::resolve(config.device, config.precision)?,
        Some(host) => devices::resolve_on(host, config.device, config.precision)?,
    };
    let config = RunConfig { device, ..config };
    let host = host.map_or_else(EngineHost::from_env, |host| {
        EngineHost::Remote(RemoteHost::Ssh(host.clone()))
    });
    let engine = Engine::start_on(host.for_device(config.device), arguments.engine_settings()?);
    interrupt::install_handler();
    let mut output = Output::new(arguments.json);
    let resumed = arguments.resume.is_some();
    let mut runs: VecDeque<RunConfig> = if resumed {
        vec![config]
    } else {
        config.repetitions(&jiff::Timestamp::now().to_string())
    }
    .into();
    let mut start = match from {
        None if arguments.save => {
            return Err(Failure::Failed(
                "There is no interrupted run to save.".to_owned(),
            ));
        }
        None => StartFrom::New,
        Some(folder) if !arguments.save => StartFrom::Resumed(folder),
        Some(folder)
            if Checkpoints::position(&folder).is_some_and(|position| position.epochs > 0) =>
        {
            StartFrom::Saved(folder)
        }
        Some(_) => {
            let none = "No epoch of this run is complete, so there is no model to save. To continue training: inkling train --resume";
            return Err(Failure::Failed(none.to_owned()));
        }
    };
    while let Some(config) = runs.pop_front() {
        let (summary, is_rescued) = match watch::train(
            &engine,
            &config,
            &start,
            arguments.tensorboard.as_deref(),
            &mut output,
        )? {
            RunEnd::Saved(summary) => (summary, false),
            RunEnd::Rescued(summary) => (summary, true),
            RunEnd::Unfinished(checkpoint) => {
                report::unfinished(checkpoint.as_deref(), &mut output)?;
                return Err(Failure::Interrupted);
            }
        };
        start = StartFrom::New;
        report::finished(&summary, &mut output)?;
        if is_rescued {
            return Err(Failure::of_rescue());
        }
        let saved = || {
            summary
                .folder
                .parent()
                .map(|root| Store::new(root).list())
                .unwrap_or_default()
        };
        if arguments.save {
            return Ok(());
        }
        if !report::is_complete(&summary) {
            report::repeated(&saved(), &summary, &mut output)?;
            return Err(Failure::Interrupted);
        }
        if let Some(first) = &first {
            return report::reproduced(first, &summary, &mut output);
        }
        if config.repetition.is_some() {
            let saved = saved();
            if runs.is_empty() {
                // After a run that was resumed.
                runs.extend(missing_repetitions(&config, &saved));
            }
            if runs.is_empty() {
                report::repeated(&saved, &summary, &mut output)?;
            }
        }
    }
    Ok(())
}

/// Whether the paths can be stored that a checkpoint remembers.
fn check_stored_paths(arguments: &TrainArgs) -> Result<(), Failure> {
    let folder = std::env::current_dir().unwrap_or_default();
    let mut paths = [&folder]
        .into_iter()
        .chain(&arguments.out)
        .chain(&arguments.settings.data_dir);
    paths.try_for_each(|path| check_utf8(path)).map_err(|NotUtf8(path)| {
        let path = visible::path(&path);
        Failure::Usage(format!(
            "{path} is not valid UTF-8, so its path cannot be stored in checkpoints. Rename that folder, or use another."
        ))
    })
}

/// Trains these settings as a run that is saved, and reports it as `inkling train` does; `None` if
/// it was stopped before its first epoch was complete.
pub fn train(
    config: &RunConfig,
    data_dir: Option<PathBuf>,
    output: &mut Output,
) -> Result<Option<RunSummary>, Failure> {
    let engine = Engine::start(config.device, data_dir)?;
    match watch::train(&engine, config, &StartFrom::New, None, output)? {
        RunEnd::Saved(summary) | RunEnd::Rescued(summary) => {
            report::finished(&summary, output).map(|()| Some(*summary))
        }
        RunEnd::Unfinished(checkpoint) => {
            report::unfinished(checkpoint.as_deref(), output).map(|()| None)
        }
    }
}

/// The run to resume, and the folder of its checkpoint: the latest if no folder is given. Where
/// there is none, the first of the repeated runs that are missing after the newest: the signal may
/// have come between two of them.
fn interrupted(folder: Option<&Path>) -> Result<(RunConfig, Option<PathBuf>), Failure> {
    let of = |run: InterruptedRun| (run.card.config, Some(run.folder));
    if let Some(folder) = folder {
        return Ok(Checkpoints::read_card(folder).map(of)?);
    }
    let paths = Paths::find();
    let checkpoints = Checkpoints::new(paths.checkpoints);
    let start = Instant::now();
    let mut said = false;
    loop {
        let in_progress = checkpoints.any_in_progress();
        if let Some(newest) = checkpoints.list().into_iter().next() {
            if in_progress {
                note("Another run is still in progress; this is the latest of those that are not.");
            }
            return Ok(of(newest));
        }
        // A process that was just killed holds its run until the system has taken it apart.
        if in_progress && start.elapsed() < ENDING {
            if start.elapsed() > MOMENT && !std::mem::replace(&mut said, true) {
                note(&format!(
                    "A run is still in progress. Waiting up to {} s: it may be about to finish.",
                    ENDING.as_secs()
                ));
            }
            std::thread::sleep(MOMENT / 5);
            continue;
        }
        let saved = Store::new(&paths.runs).list();
        let newest = saved.first().and_then(|entry| entry.summary.as_ref().ok());
        if let Some(missing) =
            newest.and_then(|run| missing_repetitions(&run.config, &saved).into_iter().next())
        {
            return Ok((missing, None));
        }
        return Err(Failure::Failed(
            if in_progress {
                "There is no interrupted run to resume; one is still in progress. Wait until it has finished, or leave out --resume to start another."
            } else {
                "There is no interrupted run to resume. Leave out --resume to start a new one."
            }
            .to_owned(),
        ));
    }
}
