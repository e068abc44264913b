//! The training run in the window: its phase, curves and progress, and runs that were interrupted.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::ink::Image;
use crate::problem::Message;
use crate::records::{
    EpochRecord, InitializationReport, Intervention, JobId, LearningRateChange, RunPlan,
    RunPosition, RunSummary, SingleStep, StepPoint, Telemetry,
};
use crate::run_config::RunConfig;
use crate::runs::{FinishedRun, InterruptedRun};

mod controls;
mod resuming;
mod words;

pub use words::Headline;

#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Its data is being prepared; progress from 0 to 1. At 1 the data is ready, and the device is
    /// opened.
    Preparing(f32),
    Training,
    Paused,
    Stopping,
    /// It has ended, but could not be saved yet.
    NotSaved,
    Finished(Box<RunSummary>),
    /// It was stopped before its first epoch was complete: there is no model, but perhaps a
    /// checkpoint.
    Discarded,
    /// It was interrupted in an earlier session.
    Interrupted,
    /// It failed, with a notice.
    Failed,
}

/// Images of the data of a run, as many as are shown: the newest take the places of the oldest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataImages {
    pub images: Vec<Image>,
    pub count: usize,
}

impl DataImages {
    pub const SHOWN: usize = 100;

    pub fn add(&mut self, images: Vec<Image>) {
        for image in images {
            let place = self.count % Self::SHOWN;
            match self.images.get_mut(place) {
                Some(oldest) => *oldest = image,
                None => self.images.push(image),
            }
            self.count += 1;
        }
    }
}

#[derive(Clone, Debug)]
pub struct RunView {
    pub id: JobId,
    pub config: RunConfig,
    pub phase: Phase,
    /// Its plan, once the engine has made it.
    pub plan: Option<RunPlan>,
    /// Images of its data, as they are read or generated.
    pub data_images: DataImages,
    /// The statistics of the training images that its weights were initialized from, if they were.
    pub initialization: Option<InitializationReport>,
    pub history: History,
    pub now: Telemetry,
    /// The factor on the learning rate, as it was last chosen.
    pub rate_factor: f32,
    /// The last step that was taken by itself.
    pub single_step: Option<SingleStep>,
    /// Automatic interventions, oldest first; steps skipped in f16 are only counted, in `now`.
    pub interventions: Vec<Intervention>,
    /// True if it was started on the command line, to be saved in a separate folder.
    pub has_folder: bool,
    /// The folder of its checkpoints, once known.
    pub checkpoints: Option<PathBuf>,
    /// The checkpoint it could be resumed from.
    pub checkpoint: Option<LastCheckpoint>,
    /// True once settings for another run were chosen after it had ended: that one is meant by now.
    pub passed_over: bool,
    /// The message that was shown when it could not be saved.
    pub not_saved: Option<Message>,
    /// True once a notice has reported that checkpoints cannot be written.
    pub complained: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCheckpoint {
    pub folder: PathBuf,
    pub position: RunPosition,
}

impl RunView {
    /// A run that has just been requested.
    pub fn new(id: JobId, config: RunConfig) -> Self {
        Self {
            id,
            config,
            phase: Phase::Preparing(0.0),
            plan: None,
            data_images: DataImages::default(),
            initialization: None,
            history: History::default(),
            now: Telemetry::default(),
            rate_factor: 1.0,
            single_step: None,
            interventions: Vec::new(),
            has_folder: false,
            checkpoints: None,
            checkpoint: None,
            passed_over: false,
            not_saved: None,
            complained: false,
        }
    }

    /// A run that was interrupted in an earlier session.
    pub fn interrupted(id: JobId, run: &InterruptedRun) -> Self {
        let InterruptedRun { folder, card } = run;
        let position = card.position();
        let origin = card.origin.as_ref();
        let mut shown = Self::new(id, card.config.clone());
        shown.phase = Phase::Interrupted;
        shown.history.steps = card.curve.points().to_vec();
        shown.history.epochs.clone_from(&card.epochs);
        shown.history.rate_changes.clone_from(&card.rate_changes);
        (shown.now.step, shown.now.epoch) = (position.total_steps(), position.epochs + 1);
        shown.has_folder = origin.is_some_and(|origin| origin.places.out.is_some());
        shown.checkpoints = Some(folder.clone());
        let folder = folder.clone();
        shown.checkpoint = Some(LastCheckpoint { folder, position });
        shown
    }

    /// A run that has finished, as it is shown later; `None` for a model that was imported without
    /// its training.
    pub fn finished(id: JobId, run: FinishedRun) -> Option<Self> {
        let FinishedRun { summary, steps, .. } = run;
        let last = *summary.epochs.last()?;
        let mut shown = Self::new(id, summary.config.clone());
        shown.plan = Some(summary.plan.clone());
        shown.initialization.clone_from(&summary.initialization);
        shown.history.epochs.clone_from(&summary.epochs);
        shown.history.rate_changes.clone_from(&summary.rate_changes);
        shown.history.steps = steps;
        (shown.now.step, shown.now.epoch) = (last.step, last.epoch);
        shown.phase = Phase::Finished(Box::new(summary));
        Some(shown)
    }

    /// The same run, resumed under another id; its curves stay.
    #[must_use]
    pub fn resumed_as(self, id: JobId) -> Self {
        Self {
            id,
            phase: Phase::Preparing(0.0),
            plan: None,
            data_images: DataImages::default(),
            passed_over: false,
            complained: false,
            ..self
        }
    }

    /// The checkpoint to resume from, if the run was interrupted, or stopped in its first epoch.
    pub fn resumable_checkpoint(&self) -> Option<&LastCheckpoint> {
        let ended = matches!(
            self.phase,
            Phase::Failed | Phase::Discarded | Phase::Interrupted
        );
        self.checkpoint.as_ref().filter(|_| ended)
    }

    /// True if the checkpoint in this folder is the one to resume it from.
    pub fn is_resumed_from(&self, folder: &Path) -> bool {
        self.resumable_checkpoint()
            .is_some_and(|last| last.folder == folder)
    }

    /// The result, once it has finished.
    pub fn summary(&self) -> Option<&RunSummary> {
        match &self.phase {
            Phase::Finished(summary) => Some(summary),
            _ => None,
        }
    }

    /// The effect of stopping a run that cannot be saved and has no checkpoint.
    pub fn about_rescue() -> String {
        format!(
            "Saves the run, or its model alone if only that fits: there, or in the system's temporary folder ({})",
            std::env::temp_dir().display()
        )
    }

    /// True once it has a model that could be saved.
    pub const fn has_completed_epoch(&self) -> bool {
        !self.history.epochs.is_empty()
    }

    /// Optimizer steps in one epoch, once known.
    pub fn steps_per_epoch(&self) -> Option<u64> {
        let plan = self.plan.as_ref().map(|plan| plan.steps_per_epoch);
        let last = self.checkpoint.as_ref();
        plan.or_else(|| last.map(|last| last.position.steps_per_epoch))
    }

    /// True until it has ended.
    pub const fn is_active(&self) -> bool {
        matches!(
            self.phase,
            Phase::Preparing(_)
                | Phase::Training
                | Phase::Paused
                | Phase::Stopping
                | Phase::NotSaved
        )
    }
}

#[derive(Clone, Debug, Default)]
pub struct History {
    /// Every optimizer step, oldest first.
    pub steps: Vec<StepPoint>,
    pub epochs: Vec<EpochRecord>,
    /// Changes of the learning rate, oldest first.
    pub rate_changes: Vec<LearningRateChange>,
    pub telemetry: Vec<Telemetry>,
}

impl History {
    /// Drops what came after the step `last`, from which the run is resumed, and keeps the epochs
    /// `before`. The steps come from the checkpoint, `curve`, if they were not seen here.
    pub fn rewind(&mut self, before: Vec<EpochRecord>, curve: Vec<StepPoint>, last: u64) {
        if self.steps.is_empty() {
            self.steps = curve;
        }
        self.steps.retain(|point| point.step <= last);
        self.telemetry.retain(|telemetry| telemetry.step <= last);
        self.rate_changes.retain(|change| change.step < last);
        self.epochs = before;
    }

    /// Takes in a change of the learning rate; of several at one step the last one counts.
    pub fn change_rate(&mut self, change: LearningRateChange) {
        self.rate_changes.pop_if(|last| last.step == change.step);
        self.rate_changes.push(change);
    }

    /// The curves as CSV: a row per step and a row per epoch.
    pub fn csv(&self) -> String {
        let mut text = String::from(
            "kind,step,epoch,learning_rate,train_loss,train_accuracy,validation_loss,validation_accuracy\n",
        );
        for point in &self.steps {
            // Writing to a `String` cannot fail.
            let _ = writeln!(
                text,
                "step,{},,{},{},{},,",
                point.step, point.learning_rate, point.loss, point.accuracy
            );
        }
        for record in &self.epochs {
            let _ = writeln!(
                text,
                "epoch,{},{},,{},{},{},{}",
                record.step,
                record.epoch,
                record.train_loss,
                record.train_accuracy,
                record.validation_loss,
                record.validation_accuracy
            );
        }
        text
    }
}

/// An exponentially weighted mean of the values so far, bias-corrected at the start (Kingma & Ba
/// 2015, section 3).
#[derive(Clone, Copy, Debug, Default)]
pub struct RunningMean {
    mean: f64,
    weight: f64,
}

impl RunningMean {
    /// Takes the next value and returns the mean. `smoothing` from 0 (the value as it is) to just
    /// under 1.
    pub fn take(&mut self, value: f64, smoothing: f64) -> f64 {
        let keep = smoothing.clamp(0.0, 0.9999);
        self.mean = keep * self.mean + (1.0 - keep) * value;
        self.weight = keep * self.weight + (1.0 - keep);
        self.mean / self.weight
    }
}
