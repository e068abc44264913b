//! `--tensorboard`: the curves of a run for `TensorBoard`, while it trains.

use std::path::{Path, PathBuf};

use crate::export::tensorboard::EventFile;
use crate::records::{EpochRecord, Evaluation, RunSummary, StepPoint, Telemetry};
use crate::run_config::RunConfig;
use crate::system::WriteError;
use crate::system::files::{TemporaryFolder, create_folder};

/// The run's event file, from its first step to its end.
#[derive(Debug)]
pub struct Log {
    file: EventFile,
    pub folder: PathBuf,
}

/// Whether event files can be written in this folder, which is created if need be; to be asked
/// before hours are spent on training.
pub fn check(folder: &Path) -> Result<(), WriteError> {
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

/// Such as `2026-11-23 14-03-11 speedrun 4711`: when the run began, in local time, and in which
/// process. Without that it has the name of its checkpoints.
fn run_name(config: &RunConfig, checkpoints: &Path) -> String {
    let name = checkpoints
        .file_name()
        .map_or_else(|| "run".into(), |name| name.to_string_lossy());
    let began = || {
        let (nanoseconds, process) = name.split_once('-')?;
        let time = jiff::Timestamp::from_nanosecond(nanoseconds.parse().ok()?)
            .ok()?
            .to_zoned(jiff::tz::TimeZone::system());
        let process: u32 = process.parse().ok()?;
        Some(format!(
            "{} {} {process}",
            time.strftime("%Y-%m-%d %H-%M-%S"),
            config.model
        ))
    };
    began().unwrap_or_else(|| name.into_owned())
}
