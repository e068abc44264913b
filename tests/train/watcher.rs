//! Owns an observer that writes everything down and stops when told.

use std::collections::BTreeMap;
use std::time::Duration;

use inkling::nn::Net;
use inkling::records::{
    Calibration, EpochRecord, Intervention, LearningRateChange, RunPlan, RunPosition, SingleStep,
    StepPoint, Telemetry,
};
use inkling::run_config::{ModelKind, OptimizerKind, Preset, RunConfig, ScheduleKind};
use inkling::train::{Checkpoint, EndRequest, LearningProbe, RunObserver, RunStart, StepRequest};

#[derive(Default)]
pub struct Watcher {
    pub plan: Option<RunPlan>,
    pub between: u64,
    pub steps: Vec<StepPoint>,
    pub telemetry: Vec<Telemetry>,
    pub epochs: Vec<EpochRecord>,
    pub calibrations: Vec<Calibration>,
    pub interventions: Vec<Intervention>,
    /// Stop at this call of `on_micro_batch`, from 1.
    pub stop_at: Option<u64>,
    /// Interrupt at this call of `on_micro_batch`, from 1.
    pub interrupt_at: Option<u64>,
    /// A checkpoint after every step.
    pub every_step: bool,
    /// Look at the network in each `on_micro_batch`.
    pub looks: bool,
    /// What it looks with.
    pub probe: Option<LearningProbe>,
    /// Hold this long in each `on_micro_batch`.
    pub hold: Duration,
    /// Calls of `on_micro_batch` before the end of each epoch.
    pub between_before: Vec<u64>,
    /// The weights at the end of each epoch.
    pub weights: Vec<Vec<Vec<f32>>>,
    /// The epochs the run had behind it when it began.
    pub before: Vec<EpochRecord>,
    /// Its steps until then.
    pub curve: Vec<StepPoint>,
    /// Where it went on from.
    pub position: RunPosition,
    pub checkpoints: Vec<Checkpoint>,
    /// What to multiply the learning rate by after so many steps.
    pub rate_factors: BTreeMap<usize, f32>,
    pub rate_changes: Vec<LearningRateChange>,
    /// Look at every step like this.
    pub looks_at: Option<StepRequest>,
    pub single_steps: Vec<SingleStep>,
    /// The bytes that its snapshots may take.
    pub history: u64,
}

impl RunObserver for Watcher {
    fn prepare(&mut self, run: &RunStart<'_>) {
        let RunStart {
            plan,
            net,
            validation,
            train: _,
            before,
            curve,
            position,
        } = *run;
        assert!(self.plan.is_none() && self.steps.is_empty());
        assert_eq!(
            plan.parameters,
            net.trainable()
                .iter()
                .map(|parameter| parameter.len() as u64)
                .sum::<u64>()
        );
        assert_eq!(plan.validation_images, validation.len() as u64);
        self.plan = Some(plan.clone());
        self.probe = self.looks.then(|| LearningProbe::new(validation, 10, 5));
        self.before = before.to_vec();
        self.curve = curve.to_vec();
        self.position = position;
    }

    fn on_micro_batch(&mut self, net: &Net) -> Result<(), EndRequest> {
        self.between += 1;
        if let Some(probe) = &mut self.probe {
            let snapshot = probe.take(net, 1.0, self.between).unwrap();
            assert_eq!(
                (snapshot.step, snapshot.answers.len()),
                (self.between, probe.images().len())
            );
        }
        std::thread::sleep(self.hold);
        match (self.stop_at, self.interrupt_at) {
            (Some(at), _) if self.between == at => Err(EndRequest::Stop),
            (_, Some(at)) if self.between >= at => Err(EndRequest::Interrupt),
            _ => Ok(()),
        }
    }

    fn step(&mut self, point: StepPoint, now: Telemetry) {
        self.steps.push(point);
        self.telemetry.push(now);
    }

    fn rate_factor(&mut self) -> Option<f32> {
        self.rate_factors.remove(&self.steps.len())
    }

    fn rate_changed(&mut self, change: LearningRateChange) {
        self.rate_changes.push(change);
    }

    fn step_request(&self) -> Option<StepRequest> {
        self.looks_at.clone()
    }

    fn single_step(&mut self, step: SingleStep) {
        self.single_steps.push(step);
    }

    fn intervened(&mut self, intervention: Intervention) {
        self.interventions.push(intervention);
    }

    fn epoch(&mut self, record: &EpochRecord, net: &Net, calibration: Calibration) {
        self.epochs.push(*record);
        self.between_before.push(self.between);
        self.calibrations.push(calibration);
        self.weights.push(net.weights().unwrap());
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) {
        self.checkpoints.push(checkpoint);
    }

    fn checkpoint_interval(&self) -> Duration {
        if self.every_step {
            Duration::ZERO
        } else {
            Duration::MAX
        }
    }

    fn history_bytes(&self) -> u64 {
        self.history
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
