//! Runs learn, report what they do, and repeat themselves bit for bit.

use inkling::data::builtin;
use inkling::progress::Unwatched;
use inkling::run_config::{Augmentation, ModelKind, OptimizerKind, RunConfig, ScheduleKind};
use inkling::train::TrainedModel;

use super::watcher::{Watcher, config};
use crate::synthetic::{square_set, train};

fn run(config: &RunConfig) -> (TrainedModel, Watcher) {
    let mut watcher = Watcher::default();
    let trained = train(config, &square_set(480, 100), &mut watcher)
        .unwrap()
        .unwrap();
    (trained, watcher)
}

#[test]
fn models_that_keep_positions_learn_squares() {
    for model in [
        ModelKind::Mlp,
        ModelKind::LeNet,
        ModelKind::ConvNet,
        ModelKind::Speedrun,
    ] {
        let epochs = if model == ModelKind::Mlp { 3 } else { 4 };
        let (trained, watcher) = run(&RunConfig {
            epochs,
            ..config(model)
        });
        let test = trained.summary.test.unwrap().evaluation;
        assert_eq!(test.images, 100);
        assert!(test.accuracy >= 0.9, "{model}: {}", test.accuracy);
        assert!(
            watcher.epochs.last().unwrap().train_loss < 0.5 * watcher.epochs[0].train_loss,
            "{model}: the loss did not fall"
        );
    }
}

/// Where a square lies is nearly lost on a net that takes the mean over all positions; what a digit
/// looks like is not. Deeper residual nets are the same layers again.
#[test]
fn models_that_average_over_positions_learn_a_few_digits_by_heart() {
    let data = builtin::generate(1, 60, 10, &mut Unwatched).unwrap();
    for (model, learning_rate) in [
        (ModelKind::Tiny, 2e-2),
        (ModelKind::ResNet8, 5e-3),
        (ModelKind::Attention, 2e-3),
    ] {
        let mut watcher = Watcher::default();
        train(
            &RunConfig {
                epochs: 12,
                batch_size: 8,
                learning_rate,
                ..config(model)
            },
            &data,
            &mut watcher,
        )
        .unwrap();
        let [first, last] = [watcher.epochs[0], watcher.epochs[11]].map(|epoch| epoch.train_loss);
        assert!(last < 0.8 * first, "{model}: from {first} to {last}");
    }
}

#[test]
fn the_built_in_digits_are_learned() {
    let data = builtin::generate(1, 3000, 500, &mut Unwatched).unwrap();
    let of = RunConfig {
        epochs: 3,
        learning_rate: 5e-3,
        ..config(ModelKind::LeNet)
    };
    let trained = train(&of, &data, &mut Watcher::default()).unwrap().unwrap();
    let test = trained.summary.test.unwrap().evaluation;
    assert!(test.accuracy >= 0.8, "{}", test.accuracy);
}

#[test]
fn every_optimizer_learns() {
    for &optimizer in OptimizerKind::ALL {
        let learning_rate = match optimizer {
            OptimizerKind::AdamW | OptimizerKind::Adam => 2e-3,
            OptimizerKind::Sgd | OptimizerKind::Sgld | OptimizerKind::Adafactor => 0.02,
            OptimizerKind::Lion | OptimizerKind::Psgld => 2e-4,
        };
        let (trained, _) = run(&RunConfig {
            optimizer,
            learning_rate,
            epochs: 4,
            ..config(ModelKind::Mlp)
        });
        let accuracy = trained.summary.test.unwrap().evaluation.accuracy;
        assert!(accuracy >= 0.9, "{optimizer}: {accuracy}");
    }
}

#[test]
fn every_schedule_learns() {
    for &schedule in ScheduleKind::ALL {
        let of = RunConfig {
            schedule,
            optimizer: OptimizerKind::Sgd,
            learning_rate: 0.02,
            epochs: 3,
            ..config(ModelKind::Mlp)
        };
        let (trained, _) = run(&of);
        assert!(
            trained.summary.test.unwrap().evaluation.accuracy >= 0.9,
            "{schedule}"
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_for_any_number_of_threads() {
    for model in [ModelKind::LeNet, ModelKind::ConvNet] {
        let weights = |seed, threads| {
            let of = RunConfig {
                seed,
                threads: Some(threads),
                epochs: 1,
                augmentation: Augmentation::Strong,
                weight_averaging: Some(0.99),
                label_smoothing: 0.1,
                clip_norm: Some(1.0),
                ..config(model)
            };
            let weights = run(&of).0.net.weights().unwrap();
            weights
                .into_iter()
                .flatten()
                .map(f32::to_bits)
                .collect::<Vec<_>>()
        };
        let first = weights(1, 2);
        assert!(first == weights(1, 2), "{model}: twice the same run");
        assert!(first == weights(1, 1), "{model}: one thread");
        assert!(first == weights(1, 3), "{model}: three threads");
        assert!(first != weights(2, 2), "{model}: another seed");
    }
}

#[test]
fn what_is_reported_is_what_was_planned() {
    let (trained, watcher) = run(&config(ModelKind::Mlp));
    let plan = watcher.plan.unwrap();
    // 480 images, 40 held back; 440 in batches of 32 are 13 whole ones and one of 24.
    assert_eq!(
        (plan.train_images, plan.validation_images, plan.test_images),
        (440, 40, 100)
    );
    assert_eq!(
        (plan.steps_per_epoch, plan.total_steps, plan.threads),
        (14, 28, 2)
    );
    assert_eq!(plan, trained.summary.plan);

    let numbers: Vec<u64> = watcher.steps.iter().map(|point| point.step).collect();
    assert_eq!(numbers, (1..=28).collect::<Vec<_>>());
    assert_eq!(
        watcher
            .telemetry
            .iter()
            .map(|now| now.epoch)
            .collect::<Vec<_>>(),
        [[1; 14], [2; 14]].concat()
    );
    assert_eq!(
        watcher
            .epochs
            .iter()
            .map(|record| (record.epoch, record.step))
            .collect::<Vec<_>>(),
        [(1, 14), (2, 28)]
    );
    assert_eq!(watcher.epochs, trained.summary.epochs);
    assert_eq!(
        watcher.calibrations.last().unwrap().temperature,
        trained.calibration.temperature
    );

    // The epoch's loss is the mean of its batches'.
    let mean = watcher.steps[..14]
        .iter()
        .map(|point| point.loss)
        .sum::<f32>()
        / 14.0;
    assert!((watcher.epochs[0].train_loss - mean).abs() < 1e-5);

    for pair in watcher.telemetry.windows(2) {
        assert!(pair[1].elapsed_seconds >= pair[0].elapsed_seconds);
    }
    let last = watcher.telemetry.last().unwrap();
    assert!(last.images_per_second > 0.0 && last.remaining_seconds >= 0.0);
    assert!(!trained.summary.stopped);
    let seconds: f64 = watcher
        .epochs
        .iter()
        .map(|record| f64::from(record.seconds))
        .sum();
    assert!((trained.summary.train_seconds - seconds).abs() < 1e-6);
    trained
        .summary
        .finished_at
        .parse::<jiff::Timestamp>()
        .unwrap();
}

#[test]
fn without_test_images_there_is_no_test_figure() {
    let trained = train(
        &config(ModelKind::Mlp),
        &square_set(120, 0),
        &mut Watcher::default(),
    )
    .unwrap()
    .unwrap();
    assert_eq!(trained.summary.test, None);
    assert!(!trained.summary.stopped);
}

#[test]
fn time_in_the_observer_does_not_count() {
    let mut watcher = Watcher {
        hold: std::time::Duration::from_millis(20),
        ..Watcher::default()
    };
    let start = std::time::Instant::now();
    let trained = train(&config(ModelKind::Mlp), &square_set(120, 10), &mut watcher)
        .unwrap()
        .unwrap();
    let held = 0.020 * watcher.between as f64;
    assert!(trained.summary.train_seconds <= start.elapsed().as_secs_f64() - held + 0.001);
    assert!(
        f64::from(watcher.telemetry.last().unwrap().elapsed_seconds)
            <= start.elapsed().as_secs_f64() - held + 0.001
    );
}
