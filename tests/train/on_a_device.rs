//! The reference backend on candle's CPU device, in place of a GPU: the same run as with the CPU
//! backend, but for rounding.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use candle_core::Device;

use inkling::nn::backend::COMPOSED;
use inkling::nn::{BackendKind, ComputeError, DeviceContext, Net};
use inkling::problem::{Code, Problem};
use inkling::records::Intervention;
use inkling::run_config::{
    Augmentation, ModelKind, OptimizerKind, Precision, RunConfig, ScheduleKind,
};
use inkling::train::{TrainOutcome, TrainedModel, memory_needed, train};

use super::watcher::{Watcher, config};
use crate::synthetic::{self, square_set};

fn device() -> DeviceContext {
    DeviceContext::new(Device::Cpu, COMPOSED)
}

fn run(of: &RunConfig, context: &DeviceContext) -> (Watcher, TrainedModel) {
    run_with(of, context, 240)
}

fn run_with(of: &RunConfig, context: &DeviceContext, images: usize) -> (Watcher, TrainedModel) {
    let mut watcher = Watcher::default();
    let trained = train(of, &square_set(images, 40), context, None, &mut watcher)
        .map(synthetic::model)
        .unwrap()
        .unwrap();
    (watcher, trained)
}

/// The largest difference of two networks' weights.
fn apart(a: &Net, b: &Net) -> f32 {
    let (a, b) = (a.weights().unwrap(), b.weights().unwrap());
    a.iter()
        .flatten()
        .zip(b.iter().flatten())
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max)
}

/// Trains as `of` says on both backends, and compares every step and the final weights.
fn same(of: &RunConfig, images: usize, loss_apart: f32, weights_apart: f32) {
    let ((cpu, cpu_model), (device, device_model)) = (
        run_with(of, &DeviceContext::CPU, images),
        run_with(of, &device(), images),
    );
    assert_eq!(cpu.steps.len(), device.steps.len());
    for (cpu, device) in cpu.steps.iter().zip(&device.steps) {
        assert_eq!(
            (cpu.step, cpu.learning_rate),
            (device.step, device.learning_rate)
        );
        assert!(
            (cpu.loss - device.loss).abs() < loss_apart,
            "{of:?}: {cpu:?} and {device:?}"
        );
    }
    assert_eq!(cpu.epochs.len(), device.epochs.len());
    let apart = apart(&cpu_model.net, &device_model.net);
    assert!(apart < weights_apart, "{of:?}: {apart}");
    assert_eq!(
        device_model.net.context().backend.kind(),
        BackendKind::Composed
    );
}

#[test]
fn every_optimizer_takes_the_same_steps() {
    for &optimizer in OptimizerKind::ALL {
        let rate = match optimizer {
            OptimizerKind::Sgd => 0.05,
            OptimizerKind::Psgld => 1e-4,
            _ => 1e-3,
        };
        let of = RunConfig {
            optimizer,
            learning_rate: rate,
            weight_decay: 0.01,
            epochs: 1,
            ..config(ModelKind::Mlp)
        };
        // Many gradients are next to nothing: psgld divides by them, and lion moves by their sign.
        let weights_apart = if matches!(optimizer, OptimizerKind::Psgld | OptimizerKind::Lion) {
            1e-2
        } else {
            1e-3
        };
        same(&of, 240, 1e-3, weights_apart);
    }
}

#[test]
fn networks_with_every_kind_of_layer_train_alike() {
    for model in [
        ModelKind::LeNet,
        ModelKind::ConvNetBn,
        ModelKind::ResNet8,
        ModelKind::Attention,
    ] {
        let of = RunConfig {
            optimizer: OptimizerKind::Sgd,
            learning_rate: 0.02,
            schedule: ScheduleKind::Constant,
            epochs: 1,
            // One micro-batch on both: batch normalization depends on the micro-batch.
            batch_size: 16,
            ..config(model)
        };
        same(&of, 48, 5e-3, 5e-3);
    }
}

#[test]
fn clipping_averaging_accumulation_and_smoothing_are_the_same() {
    let of = RunConfig {
        clip_norm: Some(0.5),
        weight_averaging: Some(0.9),
        accumulation: 3,
        label_smoothing: 0.1,
        ..config(ModelKind::LeNet)
    };
    same(&of, 120, 2e-3, 2e-3);
}

#[test]
fn images_are_augmented_alike() {
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
fn lower_precisions_train() {
    for precision in [Precision::Bf16, Precision::F16] {
        let (watcher, trained) = run(
            &RunConfig {
                precision,
                epochs: 5,
                ..config(ModelKind::Mlp)
            },
            &device(),
        );
        assert!(watcher.steps.iter().all(|point| point.loss.is_finite()));
        assert!(
            trained.summary.test.unwrap().evaluation.accuracy > 0.9,
            "{precision}"
        );
        assert_eq!(
            watcher.telemetry.last().unwrap().loss_scale.is_some(),
            precision == Precision::F16
        );
    }
}

#[test]
fn a_diverging_run_rolls_back() {
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
    assert!(
        watcher
            .interventions
            .iter()
            .any(|said| matches!(said, Intervention::RolledBack { .. })),
        "{:?}",
        watcher.interventions
    );
    assert!(
        watcher.steps.iter().all(|point| point.loss.is_finite()),
        "steps that were rolled back are not reported"
    );
    assert!(matches!(
        trained,
        Ok(TrainOutcome::Trained(_))
            | Err(Problem {
                code: Code::Diverged,
                ..
            })
    ));
}

#[test]
fn a_run_started_on_a_device_resumes_on_the_cpu() {
    let of = RunConfig {
        epochs: 3,
        weight_averaging: Some(0.9),
        ..config(ModelKind::LeNet)
    };
    let data = square_set(240, 40);
    let (whole, trained) = run(&of, &device());
    let checkpoint = whole.checkpoints[0].clone();
    let mut rest = Watcher::default();
    let resumed = synthetic::resume(&of, &data, checkpoint, &mut rest)
        .unwrap()
        .unwrap();
    assert_eq!(rest.epochs.len(), 2);
    assert!(apart(&trained.net, &resumed.net) < 5e-3);
}

/// A device whose memory runs out at these checks, counted from 1.
fn exhausted_at(
    context: DeviceContext,
    at: impl Fn(usize) -> bool + Send + Sync + 'static,
) -> DeviceContext {
    let checks = AtomicUsize::new(0);
    context.with_memory_check(Arc::new(move || {
        at(checks.fetch_add(1, Ordering::Relaxed) + 1)
    }))
}

#[test]
fn where_memory_runs_out_micro_batches_shrink_and_nothing_else_changes() {
    let of = RunConfig {
        optimizer: OptimizerKind::Sgd,
        learning_rate: 0.02,
        batch_size: 64,
        epochs: 1,
        ..config(ModelKind::LeNet)
    };
    for context in [DeviceContext::CPU, device()] {
        let (_, whole) = run(&of, &context);
        let (watcher, in_parts) = run(
            &of,
            &exhausted_at(context, |check| check == 2 || check == 3),
        );
        let [
            Intervention::SmallerMicroBatches {
                step: 2,
                images: 28,
            },
            Intervention::SmallerMicroBatches {
                step: 3,
                images: 14,
            },
        ] = watcher.interventions[..]
        else {
            panic!("{:?}", watcher.interventions)
        };
        assert!(apart(&whole.net, &in_parts.net) < 1e-4);
    }
    let mut watcher = Watcher::default();
    let never = train(
        &of,
        &square_set(240, 0),
        &exhausted_at(device(), |_| true),
        None,
        &mut watcher,
    );
    assert!(matches!(
        never,
        Err(problem) if problem.code == Code::OutOfMemory
    ));
    assert_eq!(watcher.interventions.len(), 6, "from 55 images to one");
}

#[test]
fn a_memory_limit_is_met_by_smaller_micro_batches_or_refused() {
    let data = square_set(240, 40);
    let of = RunConfig {
        epochs: 1,
        ..config(ModelKind::ConvNet)
    };
    let needed = |of: &RunConfig| memory_needed(of, 240, 40);
    // A little less than it would take without a limit. The memory of the other tests counts as
    // well, so the limit may be exceeded.
    let limit = (needed(&of) >> 20) as u32 - 1;
    let limited = RunConfig {
        memory_limit: Some(limit),
        ..of
    };
    assert!(needed(&limited) <= u64::from(limit) << 20);
    let mut watcher = Watcher::default();
    let trained = synthetic::train(&limited, &data, &mut watcher);
    assert!(
        matches!(
            watcher.interventions[0],
            Intervention::SmallerMicroBatches { step: 1, .. }
        ),
        "{:?}",
        watcher.interventions
    );
    assert!(matches!(
        trained,
        Ok(Some(_))
            | Err(Problem {
                code: Code::OutOfMemory,
                ..
            })
    ));

    let hopeless = RunConfig {
        memory_limit: Some(10),
        ..limited
    };
    let problem = synthetic::train(&hopeless, &data, &mut Watcher::default()).unwrap_err();
    assert!(
        problem.code == Code::OutOfMemory && problem.message.what.contains("10 MiB"),
        "{problem:?}"
    );
}

#[test]
fn out_of_memory_errors_of_devices_are_recognized() {
    for words in [
        "DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")",
        "Insufficient Memory (00000008)",
    ] {
        assert!(matches!(
            ComputeError::from(candle_core::Error::Msg(words.to_owned())),
            ComputeError::OutOfMemory { .. }
        ));
    }
    assert!(matches!(
        ComputeError::from(candle_core::Error::Msg("shape mismatch".to_owned())),
        ComputeError::Failed { .. }
    ));
}
