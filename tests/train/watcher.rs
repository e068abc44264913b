//! Owns an observer that writes everything down and stops when told.

use inkling::nn::Net;
use inkling::progress::Cancelled;
use inkling::records::{EpochRecord, Intervention, RunPlan, StepPoint, Telemetry};
use inkling::run_config::{ModelKind, OptimizerKind, Preset, RunConfig, ScheduleKind};
use inkling::train::{Checkpoint, Observer};

#[derive(Default)]
pub struct Watcher {
    pub plan: Option<RunPlan>,
    pub between: u64,
    pub steps: Vec<StepPoint>,
    pub telemetry: Vec<Telemetry>,
    pub epochs: Vec<EpochRecord>,
    pub thresholds: Vec<f32>,
    pub interventions: Vec<Intervention>,
    /// Stop at this call of `between`, from 1.
    pub stop_at: Option<u64>,
    /// Hold this long in each `between`.
    pub hold: std::time::Duration,
    /// The weights at the end of each epoch.
    pub weights: Vec<Vec<Vec<f32>>>,
    /// The epochs the run had behind it when it began.
    pub before: Vec<EpochRecord>,
    pub checkpoints: Vec<Checkpoint>,
}

impl Observer for Watcher {
    fn prepare(&mut self, plan: &RunPlan, net: &Net, before: &[EpochRecord]) {
        assert!(self.plan.is_none() && self.steps.is_empty());
        assert_eq!(plan.parameters, net.trainable().iter().map(|parameter| parameter.len() as u64).sum::<u64>());
        self.plan = Some(plan.clone());
        self.before = before.to_vec();
    }

    fn between(&mut self, _net: &Net) -> Result<(), Cancelled> {
        self.between += 1;
        std::thread::sleep(self.hold);
        if self.stop_at.is_some_and(|at| self.between >= at) { Err(Cancelled) } else { Ok(()) }
    }

    fn step(&mut self, point: StepPoint, now: Telemetry) {
        self.steps.push(point);
        self.telemetry.push(now);
    }

    fn intervened(&mut self, intervention: Intervention) {
        self.interventions.push(intervention);
    }

    fn epoch(&mut self, record: &EpochRecord, net: &Net, digit_threshold: f32) {
        self.epochs.push(*record);
        self.thresholds.push(digit_threshold);
        self.weights.push(net.weights().unwrap());
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        self.checkpoints.push(checkpoint);
    }
}

/// A small, quick run.
pub fn config(model: ModelKind) -> RunConfig {
    RunConfig {
        model,
        epochs: 2,
        batch_size: 32,
        optimizer: OptimizerKind::AdamW,
        learning_rate: 2e-3,
        schedule: ScheduleKind::OneCycle,
        threads: Some(2),
        ..RunConfig::preset(Preset::QuickLook)
    }
}

/// An epoch's figures.
pub fn record(epoch: u32) -> EpochRecord {
    EpochRecord {
        epoch,
        step: u64::from(epoch) * 10,
        train_loss: 0.1,
        train_accuracy: 0.95,
        validation_loss: 0.2,
        validation_accuracy: 1.0 / 3.0,
        seconds: 1.5,
    }
}
