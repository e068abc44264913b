//! Stopping: the model is that of the last completed epoch. Before there is one, the run can be
//! resumed.

use inkling::run_config::{ModelKind, RunConfig};

use super::watcher::{Watcher, config};
use crate::synthetic::{resume, square_set, train};

/// 440 images in batches of 220: an epoch is two steps of two micro-batches each, then one look
/// while validating.
fn of() -> RunConfig {
    RunConfig {
        batch_size: 220,
        epochs: 3,
        ..config(ModelKind::Mlp)
    }
}

#[test]
fn before_the_first_epoch_is_complete_there_is_no_model_but_the_run_can_be_resumed() {
    let data = square_set(480, 10);
    let whole = train(&of(), &data, &mut Watcher::default())
        .unwrap()
        .unwrap();
    for stop_at in 1..=5 {
        let mut watcher = Watcher {
            stop_at: Some(stop_at),
            ..Watcher::default()
        };
        assert!(
            train(&of(), &data, &mut watcher).unwrap().is_none(),
            "at {stop_at}"
        );
        assert_eq!(watcher.between, stop_at, "it is not asked again");
        // The step in progress is completed.
        assert_eq!(
            watcher.steps.len() as u64,
            stop_at.div_ceil(2).min(2),
            "at {stop_at}"
        );
        let checkpoint = watcher.checkpoints.pop().unwrap();
        let resumed = resume(&of(), &data, checkpoint, &mut Watcher::default())
            .unwrap()
            .unwrap();
        assert!(
            resumed.net.weights().unwrap() == whole.net.weights().unwrap(),
            "at {stop_at}"
        );
    }
}

#[test]
fn later_the_last_completed_epoch_is_kept() {
    for stop_at in 6..=10 {
        let mut watcher = Watcher {
            stop_at: Some(stop_at),
            ..Watcher::default()
        };
        let trained = train(&of(), &square_set(480, 10), &mut watcher)
            .unwrap()
            .unwrap();
        assert!(trained.summary.stopped);
        assert!(
            watcher
                .checkpoints
                .iter()
                .all(|checkpoint| checkpoint.card.steps == 0),
            "none of the epoch that is lost"
        );
        assert_eq!(
            trained
                .summary
                .test
                .as_ref()
                .map(|test| test.evaluation.images),
            Some(10),
            "its model is measured all the same"
        );
        assert_eq!(trained.summary.epochs, watcher.epochs);
        assert_eq!(watcher.epochs.len(), 1);
        assert!(
            trained.net.weights().unwrap() == watcher.weights[0],
            "at {stop_at}"
        );
    }
}

#[test]
fn a_run_stopped_at_the_test_split_is_complete_but_untested() {
    let data = square_set(480, 10);
    let mut whole = Watcher::default();
    train(&of(), &data, &mut whole).unwrap();
    // The last call is in the middle of the test.
    let mut watcher = Watcher {
        stop_at: Some(whole.between),
        ..Watcher::default()
    };
    let trained = train(&of(), &data, &mut watcher).unwrap().unwrap();
    assert!(!trained.summary.stopped);
    assert_eq!(trained.summary.epochs.len(), 3);
    assert_eq!(trained.summary.test, None);
}
