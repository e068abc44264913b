//! A run resumed from a checkpoint computes what it would have computed uninterrupted.

use inkling::records::RunPosition;
use inkling::run_config::{Augmentation, ModelKind, OptimizerKind, Precision, RunConfig};
use inkling::train::{Checkpoint, TrainedModel};

use super::watcher::{Watcher, config};
use crate::synthetic::{resume, square_set, train};

#[test]
fn what_follows_a_checkpoint_is_the_same_bit_for_bit() {
    let data = square_set(400, 20);
    let runs = [
        RunConfig {
            weight_averaging: Some(0.9),
            augmentation: Augmentation::Gentle,
            label_smoothing: 0.1,
            epochs: 4,
            ..config(ModelKind::ConvNet)
        },
        RunConfig {
            precision: Precision::F16,
            epochs: 3,
            ..config(ModelKind::Tiny)
        },
        RunConfig {
            optimizer: OptimizerKind::Sgd,
            learning_rate: 0.05,
            epochs: 3,
            early_stopping: Some(1),
            ..config(ModelKind::Mlp)
        },
        RunConfig {
            optimizer: OptimizerKind::Psgld,
            epochs: 4,
            ..config(ModelKind::Mlp)
        },
    ];
    for of in runs {
        let mut whole = Watcher::default();
        let trained = train(&of, &data, &mut whole).unwrap().unwrap();
        for (at, checkpoint) in whole.checkpoints.iter().enumerate() {
            let done = at + 1;
            let mut rest = Watcher::default();
            let resumed = resume(&of, &data, checkpoint.clone(), &mut rest)
                .unwrap()
                .unwrap();
            assert!(
                resumed.net.weights().unwrap() == trained.net.weights().unwrap(),
                "{:?} from epoch {done}",
                of.model
            );
            let figures = |watched: &Watcher| {
                watched
                    .epochs
                    .iter()
                    .map(|e| (e.epoch, e.step, e.train_loss, e.validation_loss))
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                figures(&rest),
                figures(&whole)[done..],
                "{:?} from epoch {done}",
                of.model
            );
            assert_eq!(rest.before, whole.epochs[..done]);
            let per_epoch = whole.plan.as_ref().unwrap().steps_per_epoch as usize;
            assert_eq!(rest.curve, whole.steps[..done * per_epoch]);
            assert_eq!(resumed.curve.points(), whole.steps);
            assert_eq!(rest.steps, whole.steps[done * per_epoch..]);
            assert_eq!(resumed.summary.epochs.len(), trained.summary.epochs.len());
            assert_eq!(resumed.summary.kept_epoch, trained.summary.kept_epoch);
            assert_eq!(resumed.summary.stopped_early, trained.summary.stopped_early);
            assert_eq!(resumed.summary.test, trained.summary.test);
            let weights = |trained: &TrainedModel| {
                trained
                    .posterior
                    .iter()
                    .map(|sample| sample.weights.clone())
                    .collect::<Vec<_>>()
            };
            assert!(
                weights(&resumed) == weights(&trained),
                "the samples from the posterior as well"
            );
            assert_eq!(
                trained.posterior.len(),
                if of.optimizer == OptimizerKind::Psgld {
                    2
                } else {
                    0
                }
            );
            let temperatures = |trained: &TrainedModel| {
                trained
                    .posterior
                    .iter()
                    .map(|sample| sample.calibration.temperature)
                    .collect::<Vec<_>>()
            };
            assert_eq!(temperatures(&resumed), temperatures(&trained));
            assert!(
                temperatures(&trained)
                    .windows(2)
                    .all(|pair| pair[0] == pair[1]),
                "they are calibrated together"
            );
        }
    }
}

#[test]
fn the_clock_and_the_time_left_go_on_where_they_were() {
    let data = square_set(240, 20);
    let of = RunConfig {
        epochs: 3,
        ..config(ModelKind::Mlp)
    };
    let mut whole = Watcher::default();
    train(&of, &data, &mut whole).unwrap();
    let mut checkpoint = whole.checkpoints[1].clone();
    for record in &mut checkpoint.card.epochs {
        record.seconds = 50.0;
    }
    let mut rest = Watcher::default();
    resume(&of, &data, checkpoint, &mut rest).unwrap();
    let first = rest.telemetry[0];
    assert!(
        first.elapsed_seconds >= 100.0 && first.elapsed_seconds < 110.0,
        "{first:?}"
    );
    assert!(
        first.remaining_seconds < 10.0,
        "one short epoch is left: {first:?}"
    );
    assert!(
        first.images_per_second > 50.0,
        "the time before the interruption is not this step's: {first:?}"
    );
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let data = square_set(240, 20);
    let of = config(ModelKind::Mlp);
    let mut watcher = Watcher::default();
    train(&of, &data, &mut watcher).unwrap();
    let checkpoint = watcher.checkpoints.remove(0);
    let refused = |of: &RunConfig, images, checkpoint: Checkpoint| match resume(
        of,
        &square_set(images, 20),
        checkpoint,
        &mut Watcher::default(),
    ) {
        Err(problem) if problem.name == "TrainError::NotResumable" => problem.message.what,
        other => panic!("{:?}", other.map(|trained| trained.is_some())),
    };
    assert!(
        refused(
            &RunConfig {
                learning_rate: 1e-3,
                ..of.clone()
            },
            240,
            checkpoint.clone()
        )
        .contains("settings")
    );
    assert!(refused(&of, 264, checkpoint.clone()).contains("data set"));
    let mut none = checkpoint.clone();
    none.card.epochs.clear();
    assert!(refused(&of, 240, none).contains("damaged"));
    // More threads change nothing that is computed.
    assert!(
        resume(
            &RunConfig {
                threads: Some(1),
                ..of
            },
            &data,
            checkpoint,
            &mut Watcher::default()
        )
        .unwrap()
        .is_some()
    );
}

#[test]
fn an_interrupted_run_completes_its_step_and_hands_over_a_checkpoint() {
    // 440 images in batches of 220: an epoch is two steps of two micro-batches each, then one look
    // while validating.
    let data = square_set(480, 10);
    let of = RunConfig {
        batch_size: 220,
        epochs: 2,
        ..config(ModelKind::Mlp)
    };
    let at = |epochs, steps| RunPosition {
        epochs,
        steps,
        steps_per_epoch: 2,
    };
    for (interrupt_at, position) in [
        (1, at(0, 1)),
        (2, at(0, 1)),
        (4, at(0, 2)),
        (5, at(0, 2)),
        (6, at(1, 1)),
        (10, at(1, 2)),
        (11, at(2, 0)),
    ] {
        let mut watcher = Watcher {
            interrupt_at: Some(interrupt_at),
            ..Watcher::default()
        };
        assert!(train(&of, &data, &mut watcher).unwrap().is_none());
        assert_eq!(watcher.between, interrupt_at, "it is not asked again");
        let checkpoint = watcher.checkpoints.pop().unwrap();
        assert_eq!(checkpoint.card.position(), position, "at {interrupt_at}");
        let mut rest = Watcher::default();
        let resumed = resume(&of, &data, checkpoint, &mut rest).unwrap().unwrap();
        assert_eq!(
            (rest.position, rest.steps.len() as u64),
            (position, 4 - position.total_steps())
        );
        assert_eq!(resumed.summary.epochs.len(), 2);
    }
}
