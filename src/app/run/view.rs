//! Owns what the window knows of the run that is under way or was last.
//! Must not know the engine.

use std::path::PathBuf;

use crate::app::run::History;
use crate::records::{Intervention, JobId, RunPlan, RunSummary, Telemetry};
use crate::run_config::RunConfig;

/// Where a run stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Its data is being read or written; from 0 to 1.
    Preparing(f32),
    /// Steps are being taken.
    Training,
    /// It holds.
    Paused,
    /// Stop was asked for and has not been confirmed.
    Stopping,
    /// It is over and kept.
    Finished(Box<RunSummary>),
    /// It is over and nothing was kept.
    Discarded,
    /// It failed; a notice says why.
    Failed,
}

/// One run.
#[derive(Clone, Debug)]
pub struct RunView {
    /// Its name in events.
    pub id: JobId,
    /// What was asked.
    pub config: RunConfig,
    /// Where it stands.
    pub phase: Phase,
    /// What it computes, once known.
    pub plan: Option<RunPlan>,
    /// Its curves.
    pub history: History,
    /// Its newest state.
    pub now: Telemetry,
    /// What it did by itself, oldest first; steps skipped in f16 are only counted, in `now`.
    pub interventions: Vec<Intervention>,
    /// Where its checkpoints go, once known.
    pub(in crate::app) checkpoints: Option<PathBuf>,
    /// What it could go on from after an interruption.
    pub checkpoint: Option<LastCheckpoint>,
    /// True once it was said that checkpoints cannot be written.
    pub(in crate::app) complained: bool,
}

/// The newest checkpoint of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCheckpoint {
    /// The folder it is in.
    pub folder: PathBuf,
    /// Completed epochs in it.
    pub epochs: u32,
}

impl RunView {
    /// A run that was just asked for.
    pub fn new(id: JobId, config: RunConfig) -> Self {
        Self {
            id,
            config,
            phase: Phase::Preparing(0.0),
            plan: None,
            history: History::default(),
            now: Telemetry::default(),
            interventions: Vec::new(),
            checkpoints: None,
            checkpoint: None,
            complained: false,
        }
    }

    /// The same run, going on under another name; its curves stay.
    pub(in crate::app) fn resumed_as(self, id: JobId) -> Self {
        Self { id, phase: Phase::Preparing(0.0), plan: None, complained: false, ..self }
    }

    /// What it can go on from, if it broke off.
    pub fn resumable_checkpoint(&self) -> Option<&LastCheckpoint> {
        self.checkpoint.as_ref().filter(|_| self.phase == Phase::Failed)
    }

    /// True until it is over.
    pub const fn is_active(&self) -> bool {
        matches!(self.phase, Phase::Preparing(_) | Phase::Training | Phase::Paused | Phase::Stopping)
    }
}
