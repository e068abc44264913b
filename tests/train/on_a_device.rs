//! A device that has no ops of ours, with candle's processor in its place: the same run as on the processor, but for rounding.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use candle_core::Device;
use inkling::nn::ComputeError;
use inkling::nn::Net;
use inkling::nn::backend::REFERENCE;
use inkling::nn::{BackendKind, DeviceContext};
use inkling::records::Intervention;
use inkling::run_config::{Augmentation, ModelKind, OptimizerKind, Precision, RunConfig, ScheduleKind};
use inkling::train::TrainError;
use inkling::train::{TrainedModel, memory_needed, train};

use super::watcher::{Watcher, config};
use crate::synthetic::{self, square_set};

fn device() -> DeviceContext {
    DeviceContext::new(Device::Cpu, REFERENCE)
}

fn run(of: &RunConfig, context: &DeviceContext) -> (Watcher, TrainedModel) {
    run_with(of, context, 240)
}

fn run_with(of: &RunConfig, context: &DeviceContext, images: usize) -> (Watcher, TrainedModel) {
    let mut watcher = Watcher::default();
    let outcome = train(of, &square_set(images, 40), context, None, &mut watcher).unwrap().unwrap();
    (watcher, outcome)
}

/// The largest difference of two networks' weights.
fn apart(a: &Net, b: &Net) -> f32 {
    let (a, b) = (a.weights().unwrap(), b.weights().unwrap());
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

/// Runs `of` here and there, and compares every step and what is left.
fn same(of: &RunConfig, images: usize, loss_apart: f32, weights_apart: f32) {
    let ((here, left_here), (there, left_there)) = (run_with(of, &DeviceContext::CPU, images), run_with(of, &device(), images));
    assert_eq!(here.steps.len(), there.steps.len());
    for (here, there) in here.steps.iter().zip(&there.steps) {
        assert_eq!((here.step, here.learning_rate), (there.step, there.learning_rate));
        assert!((here.loss - there.loss).abs() < loss_apart, "{of:?}: {here:?} and {there:?}");
    }
    assert_eq!(here.epochs.len(), there.epochs.len());
    let apart = apart(&left_here.net, &left_there.net);
    assert!(apart < weights_apart, "{of:?}: {apart}");
    assert_eq!(left_there.net.context().backend.kind(), BackendKind::Reference);
}

#[test]
fn every_optimizer_makes_the_same_steps_there() {
    for &optimizer in OptimizerKind::ALL {
        let rate = if optimizer == OptimizerKind::Sgd { 0.05 } else { 1e-3 };
        let of = RunConfig { optimizer, learning_rate: rate, weight_decay: 0.01, epochs: 1, ..config(ModelKind::Mlp) };
        // Psgld divides by gradients, which are next to nothing for many weights.
        same(&of, 240, 1e-3, if optimizer == OptimizerKind::Psgld { 1e-2 } else { 1e-3 });
    }
}

#[test]
fn so_do_networks_of_every_kind_of_layer() {
    for model in [ModelKind::LeNet, ModelKind::ConvNetBn, ModelKind::ResNet8, ModelKind::Attention] {
        let of = RunConfig {
            optimizer: OptimizerKind::Sgd,
            learning_rate: 0.02,
            schedule: ScheduleKind::Constant,
            epochs: 1,
            // No more than are computed at once here: a batch normalisation sees what is computed at once.
            batch_size: 16,
            ..config(model)
        };
        same(&of, 48, 5e-3, 5e-3);
    }
}

#[test]
fn clipping_averaging_gathering_and_smoothing_are_the_same() {
    let of =
        RunConfig { clip_norm: Some(0.5), weight_averaging: Some(0.9), accumulation: 3, label_smoothing: 0.1, ..config(ModelKind::LeNet) };
    same(&of, 120, 2e-3, 2e-3);
}

#[test]
fn pictures_are_varied_alike() {
    for augmentation in [Augmentation::Gentle, Augmentation::Strong] {
        let of = RunConfig {
            augmentation,
            optimizer: OptimizerKind::Sgd,
            learning_rate: 0.01,
            schedule: ScheduleKind::Constant,
            ..config(ModelKind::Mlp)
        };
        // A pixel may be rounded the other way.
        same(&of, 240, 5e-3, 2e-3);
    }
}

#[test]
fn the_shorter_formats_learn_there() {
    for precision in [Precision::Bf16, Precision::F16] {
        let (watcher, outcome) = run(&RunConfig { precision, epochs: 5, ..config(ModelKind::Mlp) }, &device());
        assert!(watcher.steps.iter().all(|point| point.loss.is_finite()));
        assert!(outcome.summary.test.unwrap().accuracy > 0.9, "{precision}");
        assert_eq!(watcher.telemetry.last().unwrap().loss_scale.is_some(), precision == Precision::F16);
    }
}

#[test]
fn what_goes_astray_there_steps_back() {
    let of = RunConfig {
        optimizer: OptimizerKind::Sgd,
        schedule: ScheduleKind::Constant,
        learning_rate: 10.0,
        epochs: 4,
        batch_size: 16,
        ..config(ModelKind::ConvNet)
    };
    let mut watcher = Watcher::default();
    let trained = train(&of, &square_set(90, 0), &device(), None, &mut watcher);
    assert!(watcher.interventions.iter().any(|said| matches!(said, Intervention::SteppedBack { .. })), "{:?}", watcher.interventions);
    assert!(watcher.steps.iter().all(|point| point.loss.is_finite()), "steps that were taken back are not told");
    assert!(matches!(trained, Ok(Some(_)) | Err(TrainError::Diverged { .. })));
}

#[test]
fn a_run_begun_there_goes_on_here() {
    let of = RunConfig { epochs: 3, weight_averaging: Some(0.9), ..config(ModelKind::LeNet) };
    let data = square_set(240, 40);
    let (whole, outcome) = run(&of, &device());
    let checkpoint = whole.checkpoints[0].clone();
    let mut rest = Watcher::default();
    let resumed = synthetic::resume(&of, &data, checkpoint, &mut rest).unwrap().unwrap();
    assert_eq!(rest.epochs.len(), 2);
    assert!(apart(&outcome.net, &resumed.net) < 5e-3);
}

/// A place whose memory runs out at these questions about it, counted from 1.
fn exhausted_at(context: DeviceContext, at: impl Fn(usize) -> bool + Send + Sync + 'static) -> DeviceContext {
    let asked = AtomicUsize::new(0);
    context.with_memory_check(Arc::new(move || at(asked.fetch_add(1, Ordering::Relaxed) + 1)))
}

#[test]
fn where_memory_runs_out_parts_shrink_and_nothing_else_changes() {
    let of = RunConfig { optimizer: OptimizerKind::Sgd, learning_rate: 0.02, batch_size: 64, epochs: 1, ..config(ModelKind::LeNet) };
    for place in [DeviceContext::CPU, device()] {
        let (_, whole) = run(&of, &place);
        let (watcher, in_parts) = run(&of, &exhausted_at(place, |asked| asked == 2 || asked == 3));
        let [Intervention::SmallerParts { step: 2, images: 32 }, Intervention::SmallerParts { step: 3, images: 16 }] =
            watcher.interventions[..]
        else {
            panic!("{:?}", watcher.interventions)
        };
        assert!(apart(&whole.net, &in_parts.net) < 1e-4);
    }
    let mut watcher = Watcher::default();
    let never = train(&of, &square_set(240, 0), &exhausted_at(device(), |_| true), None, &mut watcher);
    assert!(matches!(never, Err(TrainError::Compute(ComputeError::OutOfMemory { .. }))));
    assert_eq!(watcher.interventions.len(), 6, "from 64 pictures to one");
}

#[test]
fn a_limit_is_kept_by_smaller_parts_or_refused() {
    let data = square_set(240, 40);
    let of = RunConfig { epochs: 1, ..config(ModelKind::ConvNet) };
    let needed = |of: &RunConfig| memory_needed(of, 240, 40);
    // Somewhat less than it would take as it is. What this test program holds besides counts as well, so the limit may be passed.
    let limit = (needed(&of) >> 20) as u32 - 1;
    let limited = RunConfig { memory_limit: Some(limit), ..of };
    assert!(needed(&limited) <= u64::from(limit) << 20);
    let mut watcher = Watcher::default();
    let trained = synthetic::train(&limited, &data, &mut watcher);
    assert!(matches!(watcher.interventions[0], Intervention::SmallerParts { step: 1, .. }), "{:?}", watcher.interventions);
    assert!(matches!(trained, Ok(Some(_)) | Err(TrainError::Compute(ComputeError::OutOfMemory { .. }))));

    let hopeless = RunConfig { memory_limit: Some(10), ..limited };
    let problem = synthetic::train(&hopeless, &data, &mut Watcher::default()).unwrap_err();
    assert!(matches!(problem, TrainError::Compute(ComputeError::OutOfMemory { ref message }) if message.contains("10 MB")), "{problem:?}");
}

#[test]
fn what_devices_say_of_memory_is_understood() {
    for words in ["DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")", "Insufficient Memory (00000008)"] {
        assert!(matches!(ComputeError::from(candle_core::Error::Msg(words.to_owned())), ComputeError::OutOfMemory { .. }));
    }
    assert!(matches!(ComputeError::from(candle_core::Error::Msg("shape mismatch".to_owned())), ComputeError::Failed { .. }));
}
