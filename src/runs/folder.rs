//! The folder of one finished run: writing it whole, and reading it back; and the files that are
//! added to it later.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{CheckpointWriter, RunError};
use crate::nn::{ComputeError, ModelFile};
use crate::records::{
    Annotation, MAX_POSTERIOR_SAMPLES, RunSummary, SplitEvaluation, StepPoint,
    posterior_sample_name, snapshot_name, snapshot_step,
};
use crate::run_config::WeightFormat;
use crate::system::WriteError;
use crate::system::files::{TemporaryFolder, read_limited, write_whole};
use crate::train::TrainedModel;

const MODEL: &str = "model.safetensors";
const SUMMARY: &str = "run.json";
const HISTORY: &str = "history.csv";
const STEPS: &str = "steps.csv";

/// Larger summaries are refused unread; one of 1,000 epochs has less than 1 MB.
const MAX_SUMMARY_BYTES: u64 = 16 << 20;
/// Larger tables of steps are not read; one has about 100 kB.
const MAX_STEPS_BYTES: u64 = 4 << 20;

#[derive(Serialize)]
struct Saved<'s> {
    #[serde(flatten)]
    summary: &'s RunSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<&'s str>,
}

/// The part of it that names the folder of the run's checkpoints.
#[derive(Deserialize)]
struct Origin {
    checkpoint: Option<String>,
}

/// Writes a run to the folder `target` itself, which may be absent, empty, or hold an earlier run
/// if `replace` is true. The summary returned names the folder and the model in it. The run's
/// checkpoints record where it goes; see [`CheckpointWriter::note_target`].
pub fn save_to(
    target: &Path,
    replace: bool,
    outcome: &TrainedModel,
    weights: WeightFormat,
    checkpoints: Option<&CheckpointWriter>,
) -> Result<RunSummary, RunError> {
    keep_in(
        target,
        replace,
        &RunContents::of(outcome)?,
        weights,
        checkpoints,
    )
}

#[derive(Clone, Debug)]
pub struct RunContents<'r> {
    pub model: ModelFile,
    /// As many samples from the posterior of its weights as its summary says.
    pub posterior: Vec<ModelFile>,
    /// As many snapshots as its summary lists.
    pub snapshots: Vec<ModelFile>,
    pub summary: Cow<'r, RunSummary>,
    pub steps: Cow<'r, [StepPoint]>,
}

impl<'r> RunContents<'r> {
    /// Of a run that was trained here.
    pub fn of(outcome: &'r TrainedModel) -> Result<Self, RunError> {
        Ok(Self {
            model: outcome.model_file(),
            posterior: outcome.posterior_files().map_err(ComputeError::from)?,
            snapshots: outcome.snapshot_files().map_err(ComputeError::from)?,
            summary: Cow::Borrowed(&outcome.summary),
            steps: Cow::Borrowed(outcome.curve.points()),
        })
    }

    /// The model and its figures alone: what takes the least space.
    #[must_use]
    pub fn model_alone(&self) -> Self {
        Self {
            model: self.model.clone(),
            posterior: Vec::new(),
            snapshots: Vec::new(),
            summary: Cow::Owned(RunSummary {
                snapshots: Vec::new(),
                ..self.summary.without_images()
            }),
            steps: Cow::Borrowed(&[]),
        }
    }

    /// Of a model without anything else, with a summary made up of what is known of it.
    pub const fn of_model(model: ModelFile, summary: RunSummary) -> Self {
        Self {
            model,
            posterior: Vec::new(),
            snapshots: Vec::new(),
            summary: Cow::Owned(summary),
            steps: Cow::Borrowed(&[]),
        }
    }
}

/// The same with a model that was not trained here.
pub fn keep_in(
    target: &Path,
    replace: bool,
    contents: &RunContents<'_>,
    weights: WeightFormat,
    checkpoints: Option<&CheckpointWriter>,
) -> Result<RunSummary, RunError> {
    check_target(target, replace)?;
    let target = std::path::absolute(target).map_err(|error| unwritable(target, &error))?;
    let parent = target.parent().unwrap_or(&target);
    let mut complete = write_beside(parent, contents, weights, checkpoints)?;
    checkpoints
        .iter()
        .for_each(|checkpoints| checkpoints.note_target(&target));
    complete
        .replace(&target)
        .map_err(|error| unwritable(&target, &error))?;
    Ok(located(contents.summary.clone().into_owned(), &target))
}

/// Whether [`save_to`] can write there; to be asked before hours are spent on training.
pub fn check_target(target: &Path, replace: bool) -> Result<(), RunError> {
    let occupied = || RunError::Occupied {
        folder: target.to_owned(),
    };
    let entries = match std::fs::read_dir(target) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return check_writable_above(target);
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Err(occupied()),
        Err(error) => return Err(unwritable(target, &error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| unwritable(target, &error))?;
        if !replace || !target.join(SUMMARY).is_file() || !is_ours(&entry) {
            return Err(occupied());
        }
    }
    check_writable_above(target)
}

/// True if a folder contains nothing but files of a run.
pub fn holds_only_ours(folder: &Path) -> io::Result<bool> {
    std::fs::read_dir(folder)?.try_fold(true, |all, entry| Ok(all && is_ours(&entry?)))
}

fn is_ours(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let is_snapshot = || snapshot_step(Path::new(&name)).is_some();
    let is_sample =
        || (1..=MAX_POSTERIOR_SAMPLES as u32).any(|number| name == *posterior_sample_name(number));
    [
        MODEL,
        SUMMARY,
        HISTORY,
        STEPS,
        ANNOTATION.name,
        EVALUATION.name,
    ]
    .iter()
    .any(|ours| name == *ours)
        || is_sample()
        || is_snapshot()
}

fn check_writable_above(target: &Path) -> Result<(), RunError> {
    let target = std::path::absolute(target).map_err(|error| unwritable(target, &error))?;
    check_writable(target.parent().unwrap_or(&target))
}

/// Whether a folder can be made in `parent`, which is created if need be.
pub fn check_writable(parent: &Path) -> Result<(), RunError> {
    TemporaryFolder::new_in(parent)
        .map(drop)
        .map_err(|error| unwritable(parent, &error))
}

/// Reads the summary of the run in `folder`. Paths in it are made current, wherever the folder
/// was moved to.
pub fn load(folder: &Path) -> Result<RunSummary, RunError> {
    let malformed = |reason| RunError::malformed(folder, reason);
    let json = match read_summary(folder) {
        Ok(json) => json,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(malformed(format!("{SUMMARY} is missing")));
        }
        Err(error) => return Err(RunError::unreadable(folder)(error)),
    };
    let summary: RunSummary =
        serde_json::from_slice(&json).map_err(|error| malformed(format!("{SUMMARY}: {error}")))?;
    if !folder.join(MODEL).is_file() {
        return Err(malformed(format!("{MODEL} is missing")));
    }
    Ok(located(summary, folder))
}

/// The name of the folder with the checkpoints that the run in `folder` had; `None` if that is
/// unknown, or there is no run.
pub fn checkpoint_name(folder: &Path) -> Option<String> {
    serde_json::from_slice::<Origin>(&read_summary(folder).ok()?)
        .ok()?
        .checkpoint
}

fn read_summary(folder: &Path) -> io::Result<Vec<u8>> {
    read_limited(&folder.join(SUMMARY), MAX_SUMMARY_BYTES)
}

fn located(summary: RunSummary, folder: &Path) -> RunSummary {
    RunSummary {
        folder: folder.to_owned(),
        model_path: folder.join(MODEL),
        ..summary
    }
}

/// Writes all of a run's files to a new, hidden folder in `parent`.
pub fn write_beside(
    parent: &Path,
    contents: &RunContents<'_>,
    weights: WeightFormat,
    checkpoints: Option<&CheckpointWriter>,
) -> Result<TemporaryFolder, RunError> {
    let folder = TemporaryFolder::new_in(parent).map_err(|error| unwritable(parent, &error))?;
    // The temporary folder's name says nothing to anybody.
    let write = |name: &str, bytes: &[u8]| {
        write_whole(&folder.path().join(name), bytes).map_err(|error| WriteError {
            path: parent.to_owned(),
            ..error
        })
    };
    let RunContents {
        model,
        posterior,
        snapshots,
        summary,
        steps,
    } = contents;
    write(MODEL, &model.to_bytes(weights)?)?;
    for (number, sample) in (1..).zip(posterior) {
        write(&posterior_sample_name(number), &sample.to_bytes(weights)?)?;
    }
    for (record, snapshot) in summary.snapshots.iter().zip(snapshots) {
        write(
            &snapshot_name(record.step),
            &snapshot.to_bytes(WeightFormat::F16)?,
        )?;
    }
    write(HISTORY, history(summary).as_bytes())?;
    write(STEPS, step_table(steps).as_bytes())?;
    // The folder's path is not saved: the folder may be moved.
    let (folder_path, model_path, posterior_samples) =
        (PathBuf::new(), PathBuf::new(), posterior.len() as u32);
    let summary = RunSummary {
        folder: folder_path,
        model_path,
        posterior_samples,
        ..summary.clone().into_owned()
    };
    let saved = Saved {
        summary: &summary,
        checkpoint: checkpoints.and_then(CheckpointWriter::name),
    };
    let json = serde_json::to_vec(&saved)
        .map_err(|error| unwritable(&folder.path().join(SUMMARY), &error.into()))?;
    write(SUMMARY, &json)?;
    Ok(folder)
}

fn history(summary: &RunSummary) -> String {
    let mut text = String::from(
        "epoch,step,train_loss,train_accuracy,validation_loss,validation_accuracy,seconds\n",
    );
    for e in &summary.epochs {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{}",
            e.epoch,
            e.step,
            e.train_loss,
            e.train_accuracy,
            e.validation_loss,
            e.validation_accuracy,
            e.seconds
        );
    }
    text
}

pub fn unwritable(path: &Path, error: &io::Error) -> RunError {
    WriteError::new(path, error).into()
}

/// A JSON file that is added to the folder of a saved run. Larger ones than usual are not read.
pub struct AddedFile {
    name: &'static str,
    max_bytes: u64,
}

/// The run's name, note, tags and star: only a run that was given one of them has it. The longest
/// has about 2 kB.
pub const ANNOTATION: AddedFile = AddedFile {
    name: "annotation.json",
    max_bytes: 16 << 10,
};
/// The newest evaluation of the run's model that a person asked for; that on test images after
/// training stands in its summary. Each image takes about 0.5 kB, and never more than 1.5 kB.
pub const EVALUATION: AddedFile = AddedFile {
    name: "evaluation.json",
    max_bytes: 8 << 20,
};

impl AddedFile {
    /// The content of the file for the run in `folder`, if it is there. If it cannot be read, it is
    /// `ignored`.
    fn read<T>(
        &self,
        folder: &Path,
        parse: impl FnOnce(&[u8]) -> serde_json::Result<T>,
        ignored: impl FnOnce(&io::Error),
    ) -> Option<T> {
        let read = read_limited(&folder.join(self.name), self.max_bytes)
            .and_then(|json| Ok(parse(&json)?));
        read.inspect_err(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                ignored(error);
            }
        })
        .ok()
    }

    /// Replaces it in `folder`.
    pub fn write(&self, folder: &Path, content: &impl Serialize) -> Result<(), RunError> {
        let path = folder.join(self.name);
        let json = serde_json::to_vec(content).map_err(|error| unwritable(&path, &error.into()))?;
        Ok(write_whole(&path, &json)?)
    }
}

/// The person's annotation of the run in `folder`.
pub fn annotation_of(folder: &Path) -> Annotation {
    let read = ANNOTATION.read(
        folder,
        Annotation::from_json,
        |reason| tracing::info!(%reason, folder = %folder.display(), "a run's name and note are ignored"),
    );
    read.unwrap_or_default()
}

/// A finished run with its steps, for its curves, and the newest evaluation of its model.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedRun {
    pub summary: RunSummary,
    /// Its steps, thinned; none if they cannot be read.
    pub steps: Vec<StepPoint>,
    /// The newest evaluation of its model: the last that a person asked for, or else the one on
    /// test images after training.
    pub evaluation: Option<SplitEvaluation>,
}

impl FinishedRun {
    pub fn load(folder: &Path) -> Result<Self, RunError> {
        let summary = load(folder)?;
        let evaluation = EVALUATION.read(
            folder,
            |json| serde_json::from_slice(json),
            |reason| tracing::info!(%reason, folder = %folder.display(), "a model's evaluation is ignored"),
        );
        Ok(Self {
            evaluation: evaluation.or_else(|| summary.test.clone()),
            steps: load_steps(folder),
            summary,
        })
    }
}

/// The steps of the run in `folder`, thinned; none if they cannot be read.
pub fn load_steps(folder: &Path) -> Vec<StepPoint> {
    let table = read_limited(&folder.join(STEPS), MAX_STEPS_BYTES)
        .inspect_err(|error| tracing::info!(%error, "a run without its steps"))
        .unwrap_or_default();
    // Other lines, such as the first, are left out.
    let table = String::from_utf8_lossy(&table);
    let mut steps: Vec<StepPoint> = table.lines().filter_map(step_in_line).collect();
    // Plots rely on the order.
    steps.sort_by_key(|point| point.step);
    steps
}

/// The steps as CSV: one line per step, or per several of a long run.
fn step_table(steps: &[StepPoint]) -> String {
    let mut text = String::from("step,loss,accuracy,learning_rate\n");
    for point in steps {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{}",
            point.step, point.loss, point.accuracy, point.learning_rate
        );
    }
    text
}

fn step_in_line(line: &str) -> Option<StepPoint> {
    let (step, numbers) = line.split_once(',')?;
    let finite = |number: &str| {
        number
            .parse()
            .ok()
            .filter(|number: &f32| number.is_finite())
    };
    let numbers = numbers.split(',').map(finite).collect::<Option<Vec<_>>>()?;
    let [loss, accuracy, learning_rate] = numbers.try_into().ok()?;
    Some(StepPoint {
        step: step.parse().ok()?,
        loss,
        accuracy,
        learning_rate,
    })
}
