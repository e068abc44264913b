//! Training that diverges is rolled back to half its learning rate, and given up after three
//! rollbacks.

use inkling::problem::Code;
use inkling::records::{Divergence, EpochRecord, Intervention};
use inkling::run_config::{ModelKind, OptimizerKind, RunConfig, ScheduleKind};

use super::watcher::{Watcher, config, record};
use crate::synthetic::{square_set, train};

fn of(learning_rate: f64) -> RunConfig {
    RunConfig {
        optimizer: OptimizerKind::Sgd,
        schedule: ScheduleKind::Constant,
        learning_rate,
        epochs: 8,
        weight_decay: 0.0,
        ..config(ModelKind::ConvNet)
    }
}

/// The rollbacks, each to half the learning rate of the one before.
fn check(watcher: &Watcher) -> u32 {
    for (index, intervention) in watcher.interventions.iter().enumerate() {
        let Intervention::RolledBack {
            step,
            to_step,
            lr_factor,
            left,
            ..
        } = *intervention
        else {
            panic!("{intervention:?}")
        };
        assert!(to_step < step);
        assert_eq!(lr_factor, 0.5_f32.powi(index as i32 + 1));
        assert_eq!(left, 2 - index as u32);
    }
    assert!(
        watcher.steps.iter().all(|point| point.loss.is_finite()),
        "no step is reported whose loss is not finite"
    );
    watcher.interventions.len() as u32
}

#[test]
fn an_absurd_learning_rate_is_given_up_after_three_rollbacks() {
    let mut watcher = Watcher::default();
    let problem = train(&of(10.0), &square_set(240, 0), &mut watcher).unwrap_err();
    assert!(
        problem.code == Code::Diverged
            && (1..4).all(|step| !problem.message.what.contains(&format!("at step {step},"))),
        "{problem}"
    );
    assert_eq!(check(&watcher), 3);
}

#[test]
fn a_learning_rate_that_is_somewhat_too_high_is_survived() {
    let mut watcher = Watcher::default();
    let trained = train(&of(0.1), &square_set(240, 20), &mut watcher)
        .unwrap()
        .unwrap();
    let times = check(&watcher);
    assert!((1..=3).contains(&times), "{times}");
    let rate = watcher.steps.last().unwrap().learning_rate;
    assert!(
        (f64::from(rate) - 0.1 * 0.5_f64.powi(times as i32)).abs() < 1e-6,
        "{rate}"
    );
    assert!(
        trained
            .net
            .weights()
            .unwrap()
            .iter()
            .flatten()
            .all(|value| value.is_finite())
    );
    assert!(
        watcher
            .epochs
            .iter()
            .all(|record| record.train_loss.is_finite() && record.validation_loss.is_finite())
    );
}

#[test]
fn a_loss_that_explodes_without_becoming_nan_is_no_success() {
    let data = square_set(240, 60);
    let mut exploded = 0;
    for (model, epochs) in [ModelKind::Mlp, ModelKind::Speedrun]
        .into_iter()
        .flat_map(|model| [(model, 1), (model, 2), (model, 4)])
    {
        let mut watcher = Watcher::default();
        let ended = train(
            &RunConfig {
                model,
                epochs,
                ..of(10.0)
            },
            &data,
            &mut watcher,
        );
        assert!(
            watcher.steps.iter().all(|point| point.loss <= 1e12),
            "{model}: a step that exploded is reported"
        );
        let by_size = |said: &&Intervention| {
            matches!(
                said,
                Intervention::RolledBack {
                    cause: Divergence::Exploded,
                    ..
                }
            )
        };
        exploded += watcher.interventions.iter().filter(by_size).count();
        let Ok(Some(trained)) = ended else { continue };
        let warned = watcher
            .interventions
            .iter()
            .any(|said| matches!(said, Intervention::WorseThanChance { .. }));
        assert_eq!(
            warned,
            trained.summary.kept().unwrap().is_worse_than_chance(10),
            "{model}"
        );
    }
    assert!(exploded > 0);
}

#[test]
fn a_model_is_warned_of_where_it_does_worse_than_guessing() {
    let is_worse = |validation_loss, validation_accuracy, classes| {
        EpochRecord {
            validation_loss,
            validation_accuracy,
            ..record(1)
        }
        .is_worse_than_chance(classes)
    };
    assert!(is_worse(77.6, 0.11, 10) && is_worse(f32::NAN, 0.1, 10));
    // Guessing, and a network that is right about many images but wildly sure of the others.
    assert!(!is_worse(2.31, 0.09, 10) && !is_worse(36.8, 0.53, 10));
    // The loss of guessing grows with the number of classes, and the accuracy falls.
    assert!(is_worse(24.0, 0.04, 2) && !is_worse(24.0, 0.011, 100) && !is_worse(77.6, 0.11, 100));
}
