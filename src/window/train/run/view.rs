//! The current or last run as the window knows it.

use std::path::PathBuf;

use super::History;
use crate::ink::Image;
use crate::problem::Message;
use crate::records::{
    InitializationReport, Intervention, JobId, RunPlan, RunPosition, RunSummary, Telemetry,
};
use crate::run_config::RunConfig;
use crate::runs::{FinishedRun, InterruptedRun};

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
    /// It failed; a notice says why.
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
    /// What its weights were initialized from, where those are statistics of the training images.
    pub initialization: Option<InitializationReport>,
    pub history: History,
    pub now: Telemetry,
    /// Automatic interventions, oldest first; steps skipped in f16 are only counted, in `now`.
    pub interventions: Vec<Intervention>,
    /// True if it was started on the command line, to be saved in a folder of its own.
    pub has_folder: bool,
    /// The folder of its checkpoints, once known.
    pub checkpoints: Option<PathBuf>,
    /// The checkpoint it could be resumed from.
    pub checkpoint: Option<LastCheckpoint>,
    /// True once settings for another run were chosen after it had ended: that one is meant by now.
    pub passed_over: bool,
    /// What the person was told when it could not be saved.
    pub not_saved: Option<Message>,
    /// True once the person was told that checkpoints cannot be written.
    pub complained: bool,
}

/// The newest checkpoint of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCheckpoint {
    pub folder: PathBuf,
    /// How far the run is in it.
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
        let (epochs, steps, position) = (
            card.epochs.clone(),
            card.curve.points().to_vec(),
            card.position(),
        );
        let now = Telemetry {
            step: position.total_steps(),
            epoch: position.epochs + 1,
            ..Telemetry::default()
        };
        Self {
            phase: Phase::Interrupted,
            history: History {
                steps,
                epochs,
                telemetry: Vec::new(),
            },
            now,
            has_folder: card
                .origin
                .as_ref()
                .is_some_and(|origin| origin.places.out.is_some()),
            checkpoints: Some(folder.clone()),
            checkpoint: Some(LastCheckpoint {
                folder: folder.clone(),
                position,
            }),
            ..Self::new(id, card.config.clone())
        }
    }

    /// A run that has finished, as it is shown later; `None` for a model that was imported without
    /// its training.
    pub fn finished(id: JobId, run: FinishedRun) -> Option<Self> {
        let FinishedRun { summary, steps, .. } = run;
        let last = *summary.epochs.last()?;
        Some(Self {
            plan: Some(summary.plan.clone()),
            initialization: summary.initialization.clone(),
            history: History {
                steps,
                epochs: summary.epochs.clone(),
                telemetry: Vec::new(),
            },
            now: Telemetry {
                step: last.step,
                epoch: last.epoch,
                ..Telemetry::default()
            },
            phase: Phase::Finished(Box::new(summary.clone())),
            ..Self::new(id, summary.config)
        })
    }

    /// The same run, resumed under another id; its curves stay.
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
        self.checkpoint.as_ref().filter(|_| {
            matches!(
                self.phase,
                Phase::Failed | Phase::Discarded | Phase::Interrupted
            )
        })
    }

    /// What happens when a run is stopped that cannot be saved and has no checkpoint.
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
        plan.or_else(|| {
            self.checkpoint
                .as_ref()
                .map(|last| last.position.steps_per_epoch)
        })
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
