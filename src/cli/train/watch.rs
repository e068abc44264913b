//! Follows one run: turns its events into progress, lines and JSON.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use super::report::{self, JsonLine};
use crate::cli::engine::{Engine, Update};
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::output::{Output, Progress};
use crate::export::tensorboard::EventFile;
use crate::problem::Message;
use crate::protocol::{EngineError, Event, Job, JobResult};
use crate::records::{
    EpochRecord, Evaluation, RunPlan, RunPosition, RunSummary, StepPoint, Telemetry,
};
use crate::run_config::RunConfig;
use crate::runs::Checkpoints;
use crate::system::files::{TemporaryFolder, create_folder};
use crate::system::{WriteError, threads};
use crate::text::format::{grouped, name_time};
use crate::text::visible::{self, quoted};

#[derive(Debug)]
pub enum RunEnd {
    Saved(Box<RunSummary>),
    /// It was saved, but not as a whole where it was to be.
    Rescued(Box<RunSummary>),
    /// It was stopped before its first epoch was complete; its checkpoint, if there is one, is in
    /// this folder.
    Unfinished(Option<PathBuf>),
}

#[derive(Debug)]
pub enum StartFrom {
    /// At its first step.
    New,
    /// From the checkpoint in this folder.
    Resumed(PathBuf),
    /// There, and it ends there as well: it is saved as it was after its last completed epoch.
    Saved(PathBuf),
}

impl StartFrom {
    pub fn checkpoint(&self) -> Option<&PathBuf> {
        match self {
            Self::New => None,
            Self::Resumed(folder) | Self::Saved(folder) => Some(folder),
        }
    }
}

/// Trains and follows the run to its end; its curves go to a folder in `tensorboard`, if that is
/// given.
pub fn train(
    engine: &Engine,
    config: &RunConfig,
    start: &StartFrom,
    tensorboard: Option<&Path>,
    output: &mut Output,
) -> Result<RunEnd, Failure> {
    let mut progress = Progress::new();
    let mut plan = None;
    let mut complained = false;
    // Checkpoints on disk count, not those that were reported: an engine may end between writing
    // one and saying so.
    let mut checkpoints = start.checkpoint().cloned();
    let mut log = None;
    let mut unsaved = Unsaved::default();
    let mut rescued = false;
    let mut engine_lost = false;
    if let Some(run) = &config.repetition {
        progress.note(&format!("Run {} of {}.", run.number, config.repeats));
    }
    progress.note(&format!("Preparing {}.", config.data.label()));
    let job = Job::Train {
        config: config.clone(),
        from: start.checkpoint().cloned(),
    };
    let update = |update| {
        match update {
            Update::Cancelling => {
                let again = "Stopping. Press Ctrl-C again to quit immediately";
                progress.note(&match resumable(checkpoints.as_deref()) {
                    Some(_) => format!("{again}; `inkling train --resume` then resumes from where the run was last saved."),
                    None => format!("{again}; no part of the run has been saved yet."),
                });
            }
            Update::EngineLost => engine_lost = true,
            Update::Progress(now) => progress.show(now.fraction, "Preparing data"),
            Update::Event(Event::Started {
                plan: started,
                before,
                curve,
                position,
                folder,
                ..
            }) => {
                output.json(&JsonLine::Started {
                    config,
                    plan: &started,
                })?;
                progress = Progress::new();
                progress.note(&report::plan(config, &started));
                match start {
                    StartFrom::New => {}
                    StartFrom::Resumed(_) => {
                        progress.note(&format!("Resuming after {position} of {}.", config.epochs));
                    }
                    StartFrom::Saved(_) => {
                        progress.note(&format!(
                            "Saving the run as it was after epoch {} of {}.",
                            position.epochs, config.epochs
                        ));
                    }
                }
                if let Some(tensorboard) = tensorboard {
                    log = noted(
                        Log::start(tensorboard, config, &folder, &before, &curve),
                        &progress,
                    );
                    if let Some(log) = &log {
                        progress.note(&format!(
                            "Curves for TensorBoard: {}",
                            visible::path(&log.folder)
                        ));
                    }
                }
                plan = Some(started);
                checkpoints = Some(folder);
            }
            Update::Event(Event::DataNotes { notes, .. }) => progress.notes(&notes),
            Update::Event(Event::Sending(upload)) => {
                progress.note(&Message::sending(&upload).to_string());
            }
            Update::Event(Event::Initialized { report, .. }) => {
                output.json(&JsonLine::Initialized(&report))?;
                report
                    .sentences()
                    .iter()
                    .for_each(|sentence| progress.note(sentence));
            }
            Update::Event(Event::Steps { steps, now, .. }) => {
                for point in &steps {
                    output.json(&JsonLine::Step(point))?;
                }
                logged(&mut log, &progress, |log| log.steps(&steps, now));
                if let Some(plan) = &plan {
                    step(&progress, config, plan, &steps, now);
                }
            }
            Update::Event(Event::Epoch { record, .. }) => {
                output.json(&JsonLine::Epoch(&record))?;
                progress.note(&report::epoch(config, &record));
                logged(&mut log, &progress, |log| log.epoch(&record));
            }
            Update::Event(Event::Intervened { intervention, .. }) => {
                output.json(&JsonLine::Intervened(&intervention))?;
                progress.note(&Message::intervened(&intervention).to_string());
            }
            Update::Event(Event::Checkpoint {
                kept: Err(problem), ..
            }) if !complained => {
                complained = true;
                progress.warn(&Message::checkpoint_not_kept(&problem).to_string());
            }
            Update::Event(Event::Checkpoint { kept: Ok(()), .. }) => complained = false,
            Update::Event(Event::NotSaved {
                problem,
                checkpoint,
                ..
            }) => {
                output.json(&JsonLine::NotSaved {
                    reason: problem.message.what.clone(),
                    checkpoint: checkpoint
                        .and(checkpoints.as_deref())
                        .map(|folder| folder.display().to_string()),
                })?;
                progress.warn(&Message::run_not_saved(&problem, checkpoint).to_string());
                unsaved.instruct(
                    engine,
                    config,
                    checkpoint.and(checkpoints.as_deref()).zip(checkpoint),
                    &progress,
                );
            }
            Update::Event(Event::Rescued {
                problem, rescue, ..
            }) => {
                rescued = true;
                output.json(&JsonLine::Rescued {
                    reason: problem.message.what.clone(),
                    run: rescue.folder.display().to_string(),
                    temporary: rescue.temporary,
                    model_alone: rescue.model_alone,
                })?;
                progress.warn(&Message::rescued(&problem, &rescue).to_string());
            }
            // Other events are irrelevant here.
            Update::Event(_) => {}
        }
        Ok(())
    };
    let result = match start {
        // All of its epochs may be complete.
        StartFrom::Saved(folder)
            if Checkpoints::position(folder)
                .is_none_or(|position| position.epochs < config.epochs) =>
        {
            engine.run_stopped(job, update)
        }
        _ => engine.run(job, update),
    };
    let resumable = resumable(checkpoints.as_deref());
    let result = result.map_err(|failure| {
        if engine_lost {
            failure.followed_by(&report::lost(resumable))
        } else {
            failure
        }
    })?;
    match result {
        Some(JobResult::Train(summary)) => {
            logged(&mut log, &progress, |log| log.finished(&summary));
            let summary = Box::new(summary);
            Ok(if rescued {
                RunEnd::Rescued(summary)
            } else {
                RunEnd::Saved(summary)
            })
        }
        Some(_) => Err(EngineError::Gone.into()),
        None => Ok(RunEnd::Unfinished(
            checkpoints.filter(|_| resumable.is_some()),
        )),
    }
}

/// How far the run with this folder of checkpoints can be resumed from.
fn resumable(checkpoints: Option<&Path>) -> Option<RunPosition> {
    checkpoints.and_then(Checkpoints::position)
}

/// Adds to the event file, if there is one. Half a record at its end would make what follows
/// unreadable, so that nothing follows a failure.
fn logged(
    log: &mut Option<Log>,
    progress: &Progress,
    add: impl FnOnce(&mut Log) -> Result<(), WriteError>,
) {
    if log
        .as_mut()
        .is_some_and(|log| noted(add(log), progress).is_none())
    {
        *log = None;
    }
}

/// What was written; a failure is printed, and the run goes on without curves for `TensorBoard`.
fn noted<T>(written: Result<T, WriteError>, progress: &Progress) -> Option<T> {
    let say =
        |error: &WriteError| progress.warn(&Message::tensorboard_not_written(error).to_string());
    written.inspect_err(say).ok()
}

fn step(
    progress: &Progress,
    config: &RunConfig,
    plan: &RunPlan,
    steps: &[StepPoint],
    now: Telemetry,
) {
    let loss = steps
        .last()
        .map_or_else(String::new, |step| format!(" · loss {:.4}", step.loss));
    let rate = grouped(f64::from(now.images_per_second).round() as u64);
    let text = format!(
        "epoch {} of {}{loss} · {rate} images/s",
        now.epoch, config.epochs
    );
    let fraction = now.step as f32 / plan.total_steps.max(1) as f32;
    progress.show_remaining(fraction, &text, Some(f64::from(now.remaining_seconds)));
}

/// The last message about a run that cannot be saved.
#[derive(Debug, Default)]
pub struct Unsaved {
    /// True once Ctrl-C means to end without saving.
    instructed: bool,
    /// True once a folder can be typed.
    reads_folders: bool,
}

impl Unsaved {
    /// Prints what Ctrl-C does now, and how another folder is chosen. `checkpoint` is the folder of
    /// the run's checkpoint and how far the run is in it.
    pub fn instruct(
        &mut self,
        engine: &Engine,
        config: &RunConfig,
        checkpoint: Option<(&Path, RunPosition)>,
        progress: &Progress,
    ) {
        // A Ctrl-C that has stopped the training is not one that gives up its result. The next one
        // that fails to save anything is.
        let was_tried = self.instructed && interrupt::requested().is_some();
        if !was_tried {
            interrupt::forget_stop();
        }
        self.instructed = true;
        if !self.reads_folders && is_foreground_terminal() {
            self.reads_folders = read_folders(engine);
        }
        if self.reads_folders {
            progress
                .warn("To save it in another folder, type the path of the folder and press Enter.");
        }
        progress.warn(&match checkpoint {
            Some((folder, position)) => {
                let then = if position.epochs >= config.epochs {
                    "saves it".to_owned()
                } else {
                    format!("resumes it after {position} of {}", config.epochs)
                };
                format!("Press Ctrl-C to quit without saving. Later, `inkling train --resume {}` {then}.", quoted(folder))
            }
            None if was_tried => "Nothing could be saved anywhere. Press Ctrl-C again to quit and lose the run.".to_owned(),
            None => format!(
                "Press Ctrl-C to quit; Inkling then saves as much as it can: the run or only its model, there or in {}.",
                visible::path(&std::env::temp_dir())
            ),
        });
    }
}

/// Takes every line of standard input for a folder to save the run in; false if there can be no
/// thread for it.
fn read_folders(engine: &Engine) -> bool {
    let save = engine.run_saver();
    let read = move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            save(folder_of(line.trim()));
        }
    };
    threads::spawn("inkling-folders", read).is_ok()
}

/// The folder that was typed: `~` is the home folder, as in a shell. Without one it is tried again.
fn folder_of(typed: &str) -> Option<PathBuf> {
    let home = |rest: &str| {
        Some(
            directories::BaseDirs::new()?
                .home_dir()
                .join(rest.trim_start_matches('/')),
        )
    };
    let folder = match typed.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            home(rest).unwrap_or_else(|| typed.into())
        }
        _ => typed.into(),
    };
    (!typed.is_empty()).then_some(folder)
}

/// Whether somebody can type. From now on this process may go to the background: reading from its
/// terminal is an error there, and does not suspend it.
#[cfg(unix)]
fn is_foreground_terminal() -> bool {
    // SAFETY: numbers are taken and given, and no handler is installed; without a terminal the
    // group is -1.
    let foreground = unsafe {
        libc::signal(libc::SIGTTIN, libc::SIG_IGN);
        libc::tcgetpgrp(libc::STDIN_FILENO) == libc::getpgrp()
    };
    foreground && io::stdin().is_terminal()
}

#[cfg(not(unix))]
fn is_foreground_terminal() -> bool {
    io::stdin().is_terminal()
}

/// The run's event file, from its first step to its end.
#[derive(Debug)]
struct Log {
    file: EventFile,
    pub folder: PathBuf,
}

/// Whether event files can be written in this folder, which is created if need be; to be asked
/// before hours are spent on training.
pub fn check_tensorboard(folder: &Path) -> Result<(), WriteError> {
    let write = || create_folder(folder).and_then(|()| TemporaryFolder::new_in(folder));
    write()
        .map(drop)
        .map_err(|error| WriteError::new(folder, &error))
}

impl Log {
    /// In a folder of the run's own in this one; `checkpoints` is the folder of its checkpoints,
    /// and gives it the same name when it is resumed. A resumed run begins with its steps and
    /// epochs until then.
    pub fn start(
        folder: &Path,
        config: &RunConfig,
        checkpoints: &Path,
        before: &[EpochRecord],
        curve: &[StepPoint],
    ) -> Result<Self, WriteError> {
        let folder = folder.join(run_name(config, checkpoints));
        let mut log = Self {
            file: EventFile::begin(&folder)?,
            folder,
        };
        log.file.settings(config);
        log.add_steps(curve);
        before.iter().for_each(|record| log.add_epoch(record));
        log.file.flush()?;
        Ok(log)
    }

    /// Steps that were taken, and the throughput after them.
    pub fn steps(&mut self, steps: &[StepPoint], now: Telemetry) -> Result<(), WriteError> {
        self.add_steps(steps);
        if let Some(last) = steps.last() {
            self.file
                .scalars(last.step, &[("images_per_second", now.images_per_second)]);
        }
        self.file.flush()
    }

    pub fn epoch(&mut self, record: &EpochRecord) -> Result<(), WriteError> {
        self.add_epoch(record);
        self.file.flush()
    }

    /// The run was saved: what it was measured at, at its last step.
    pub fn finished(&mut self, summary: &RunSummary) -> Result<(), WriteError> {
        if let (Some(test), Some(last)) = (&summary.test, summary.epochs.last()) {
            let Evaluation { loss, accuracy, .. } = test.evaluation;
            self.file.scalars(
                last.step,
                &[
                    ("loss/test", loss as f32),
                    ("accuracy/test", accuracy as f32),
                ],
            );
        }
        self.file.flush()
    }

    fn add_steps(&mut self, steps: &[StepPoint]) {
        for StepPoint {
            step,
            loss,
            accuracy,
            learning_rate,
        } in steps
        {
            let figures = [
                ("loss/train", *loss),
                ("accuracy/train", *accuracy),
                ("learning_rate", *learning_rate),
            ];
            self.file.scalars(*step, &figures);
        }
    }

    fn add_epoch(&mut self, record: &EpochRecord) {
        let figures = [
            ("loss/train_epoch", record.train_loss),
            ("accuracy/train_epoch", record.train_accuracy),
            ("loss/validation", record.validation_loss),
            ("accuracy/validation", record.validation_accuracy),
        ];
        self.file.scalars(record.step, &figures);
    }
}

/// Such as `2026-11-23_14-03-11_speedrun_4711`: when the run began, in local time, and in which
/// process. Without that it has the name of its checkpoints.
fn run_name(config: &RunConfig, checkpoints: &Path) -> String {
    let name = checkpoints
        .file_name()
        .map_or_else(|| "run".into(), |name| name.to_string_lossy());
    let began = || {
        let (nanoseconds, process) = name.split_once('-')?;
        let time = jiff::Timestamp::from_nanosecond(nanoseconds.parse().ok()?).ok()?;
        let process: u32 = process.parse().ok()?;
        Some(format!("{}_{}_{process}", name_time(time), config.model))
    };
    began().unwrap_or_else(|| name.into_owned())
}
