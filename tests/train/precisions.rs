//! Half the bits in products: as accurate, and overflows are skipped, shown and survived.

use inkling::math::random::Random;
use inkling::records::Intervention;
use inkling::run_config::{ModelKind, OptimizerKind, Precision, RunConfig, ScheduleKind};

use super::watcher::{Watcher, config};
use crate::synthetic::{square_set, train};

#[test]
fn short_formats_learn_as_well() {
    let data = square_set(480, 200);
    for model in [ModelKind::Mlp, ModelKind::LeNet] {
        let accuracy = |precision| {
            let mut watcher = Watcher::default();
            let trained = train(
                &RunConfig {
                    precision,
                    epochs: 6,
                    ..config(model)
                },
                &data,
                &mut watcher,
            )
            .unwrap()
            .unwrap();
            let scaled = watcher
                .telemetry
                .iter()
                .filter(|now| now.loss_scale.is_some())
                .count();
            assert_eq!(
                scaled,
                if precision == Precision::F16 {
                    watcher.telemetry.len()
                } else {
                    0
                }
            );
            assert_eq!(trained.summary.plan.precision, precision);
            (
                trained.summary.test.unwrap().evaluation.accuracy,
                trained.net.weights().unwrap(),
            )
        };
        let (full, full_weights) = accuracy(Precision::F32);
        assert!(full >= 0.99, "{model}: {full}");
        for precision in [Precision::Bf16, Precision::F16] {
            let (short, weights) = accuracy(precision);
            assert!(
                short >= full - 0.001,
                "{model} in {precision}: {short} and not {full}"
            );
            assert!(weights != full_weights, "{precision} rounds");
        }
    }
}

#[test]
fn steps_that_overflow_f16_are_skipped_and_shown() {
    // Labels that mean nothing keep mistakes coming. After 500 good steps the scale is 2^17, and
    // the gradient of a mistake about a single image, more than a half, is too large for f16.
    let mut data = square_set(240, 0);
    Random::new(5).shuffle(&mut data.train.labels);
    let of = RunConfig {
        precision: Precision::F16,
        batch_size: 1,
        epochs: 4,
        optimizer: OptimizerKind::Sgd,
        schedule: ScheduleKind::Constant,
        learning_rate: 0.02,
        momentum: 0.0,
        ..config(ModelKind::Mlp)
    };
    let mut watcher = Watcher::default();
    let trained = train(&of, &data, &mut watcher).unwrap().unwrap();
    for intervention in &watcher.interventions {
        let Intervention::SkippedStep { step, loss_scale } = *intervention else {
            panic!("{intervention:?}")
        };
        let now = watcher
            .telemetry
            .iter()
            .find(|now| now.step == step)
            .unwrap();
        assert_eq!(
            now.loss_scale,
            Some(loss_scale),
            "it is shown from the step on"
        );
        assert!(loss_scale <= 65_536.0, "halved");
    }
    let skipped = watcher.interventions.len() as u64;
    assert!(skipped > 0);
    assert_eq!(watcher.telemetry.last().unwrap().skipped_steps, skipped);
    assert!(
        trained
            .net
            .weights()
            .unwrap()
            .iter()
            .flatten()
            .all(|value| value.is_finite())
    );
}
