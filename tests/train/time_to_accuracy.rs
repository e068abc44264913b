//! The time to an accuracy: when it counts as reached, when it is given up, and what is tried.

use inkling::nn::DeviceContext;
use inkling::progress::{Cancelled, Unwatched};
use inkling::records::{Reached, TimeToAccuracy, batch_size_configs, fastest_batch_size};
use inkling::run_config::{
    Augmentation, Classes, ModelKind, OptimizerKind, RunConfig, ScheduleKind,
};
use inkling::train::{GradientNoise, Target, time_to_accuracy};

use crate::synthetic;

fn config() -> RunConfig {
    RunConfig {
        model: ModelKind::Mlp,
        augmentation: Augmentation::Off,
        threads: Some(1),
        batch_size: 64,
        ..RunConfig::default()
    }
}

/// What is tried first with these settings.
fn first(config: &RunConfig) -> RunConfig {
    batch_size_configs(config, 10_000).remove(0)
}

#[test]
fn an_accuracy_is_reached_between_two_measurements_and_the_noise_is_measured_on_the_way() {
    let images = synthetic::squares(3000, 1);
    let mut noise = GradientNoise::default();
    let target = Target {
        accuracy: 0.9,
        seconds: 60.0,
        noise: Some(&mut noise),
    };
    let found = time_to_accuracy(
        &first(&config()),
        &images,
        &Classes::Digits,
        &DeviceContext::CPU,
        target,
        &mut Unwatched,
    )
    .unwrap()
    .unwrap();
    let reached = found.reached.unwrap();
    assert!(
        (found.batch_size, found.diverged) == (64, false) && found.best_accuracy >= 0.9,
        "{found:?}"
    );
    assert!(
        reached.seconds > 0.0 && reached.seconds <= found.seconds && found.images_per_second > 0.0,
        "{found:?}"
    );
    assert!(
        (reached.images / reached.steps - 64.0).abs() < 1.0,
        "{found:?}"
    );
}

#[test]
fn it_is_given_up_after_the_time_it_has_or_when_it_diverges() {
    let images = synthetic::squares(3000, 1);
    let try_for = |config: &RunConfig, seconds| {
        let target = Target {
            accuracy: 1.5,
            seconds,
            noise: None,
        };
        time_to_accuracy(
            config,
            &images,
            &Classes::Digits,
            &DeviceContext::CPU,
            target,
            &mut Unwatched,
        )
        .unwrap()
        .unwrap()
    };
    let found = try_for(&first(&config()), 0.3);
    assert!(
        found.reached.is_none() && found.seconds >= 0.3 && !found.diverged,
        "{found:?}"
    );
    let wild = RunConfig {
        optimizer: OptimizerKind::Sgd,
        learning_rate: 10.0,
        ..first(&config())
    };
    let found = try_for(&wild, 60.0);
    assert!(found.reached.is_none() && found.diverged, "{found:?}");
}

#[test]
fn whoever_waits_can_cancel() {
    let images = synthetic::squares(3000, 1);
    let target = Target {
        accuracy: 1.5,
        seconds: 600.0,
        noise: None,
    };
    let mut calls = 0;
    let mut cancel = |_: f32| {
        calls += 1;
        if calls > 20 { Err(Cancelled) } else { Ok(()) }
    };
    assert_eq!(
        time_to_accuracy(
            &first(&config()),
            &images,
            &Classes::Digits,
            &DeviceContext::CPU,
            target,
            &mut cancel
        )
        .unwrap(),
        None
    );
}

#[test]
fn the_learning_rate_grows_with_the_batch_size_and_nothing_else_changes_between_them() {
    let base = RunConfig {
        batch_size: 100,
        learning_rate: 0.01,
        schedule: ScheduleKind::OneCycle,
        ..config()
    };
    let rates = |optimizer| -> Vec<(u32, f64)> {
        let tried = batch_size_configs(
            &RunConfig {
                optimizer,
                ..base.clone()
            },
            300,
        );
        assert!(
            tried
                .iter()
                .all(|config| config.schedule == ScheduleKind::Constant
                    && config.model == base.model)
        );
        tried
            .iter()
            .map(|config| (config.batch_size, config.learning_rate))
            .collect()
    };
    assert_eq!(
        rates(OptimizerKind::Sgd),
        [
            (100, 0.01),
            (32, 0.0032),
            (64, 0.0064),
            (128, 0.0128),
            (256, 0.0256)
        ]
    );
    assert_eq!(
        rates(OptimizerKind::AdamW),
        [
            (100, 0.01),
            (32, 0.00566),
            (64, 0.008),
            (128, 0.0113),
            (256, 0.016)
        ]
    );
}

#[test]
fn the_smallest_of_those_that_are_about_as_fast_is_recommended() {
    let row = |batch_size, seconds: f64| TimeToAccuracy {
        batch_size,
        learning_rate: 0.01,
        images_per_second: 1000.0,
        reached: (seconds < 9.0).then_some(Reached {
            seconds,
            steps: 1.0,
            images: 1.0,
        }),
        best_accuracy: 0.9,
        seconds,
        diverged: false,
    };
    assert_eq!(
        fastest_batch_size(&[row(128, 2.0), row(32, 4.0), row(64, 2.09), row(256, 2.2)]),
        Some(64)
    );
    assert_eq!(fastest_batch_size(&[row(128, 10.0), row(32, 11.0)]), None);
    assert_eq!(fastest_batch_size(&[]), None);
}
