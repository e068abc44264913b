//! What the training loop tells its observer: steps, checkpoints, and how far a measurement is.

use super::TrainError;
use super::observer::{EndRequest, Observer};
use super::progress::RunProgress;
use super::run_clock::RunClock;
use super::step_report::{CompletedStep, StepReport};
use super::stepper::Stepper;
use crate::nn::Net;
use crate::progress::Cancelled;
use crate::records::{RunPlan, StepPoint, Telemetry};
use crate::run_config::RunConfig;

/// Reports steps, and adds them to the run's curve and the metrics of their epoch.
pub fn report(
    steps: StepReport,
    telemetry: Telemetry,
    progress: &mut RunProgress,
    observer: &mut dyn Observer,
) {
    for CompletedStep {
        step,
        learning_rate,
        metrics,
    } in steps.completed
    {
        progress.current.metrics.add_step(&metrics);
        let point = StepPoint {
            step,
            loss: metrics.loss as f32,
            accuracy: metrics.accuracy(),
            learning_rate,
        };
        progress.curve.add(point);
        observer.step(point, telemetry);
    }
    if let Some(intervention) = steps.intervention {
        observer.intervened(intervention);
    }
}

/// Hands over a checkpoint. All steps must have been read.
pub fn hand_over_checkpoint(
    config: &RunConfig,
    plan: &RunPlan,
    progress: &RunProgress,
    stepper: &Stepper,
    clock: &mut RunClock,
    observer: &mut dyn Observer,
) -> Result<(), TrainError> {
    if let Some(state) = stepper.state(progress.step)? {
        let checkpoint = progress.checkpoint(config, plan, state);
        clock.pause(|| observer.checkpoint(checkpoint));
    }
    clock.checkpoint_taken();
    Ok(())
}

/// Does this work with the network, calling the observer whenever it reports progress; `Err` in
/// `Ok` when the observer ends the run.
pub fn interruptibly<T, E: Into<TrainError>>(
    net: &Net,
    clock: &mut RunClock,
    observer: &mut dyn Observer,
    work: impl FnOnce(&mut dyn FnMut(f32) -> Result<(), Cancelled>) -> Result<T, E>,
) -> Result<Result<T, EndRequest>, TrainError> {
    let mut end = None;
    let mut between = |_: f32| {
        clock.pause(|| observer.between(net)).map_err(|request| {
            end = Some(request);
            Cancelled
        })
    };
    let done = work(&mut between);
    end.map_or_else(
        || done.map(Ok).map_err(Into::into),
        |request| Ok(Err(request)),
    )
}
