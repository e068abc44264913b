//! Stopping takes effect at once; the model is that of the last completed epoch.

use inkling::run_config::{ModelKind, RunConfig};

use super::watcher::{Watcher, config};
use crate::synthetic::{square_set, train};

/// 440 images in batches of 220: an epoch is two steps of two micro-batches each, then one look while validating.
fn of() -> RunConfig {
    RunConfig { batch_size: 220, epochs: 3, ..config(ModelKind::Mlp) }
}

#[test]
fn before_the_first_epoch_is_complete_nothing_is_kept() {
    for stop_at in 1..=5 {
        let mut watcher = Watcher { stop_at: Some(stop_at), ..Watcher::default() };
        assert!(train(&of(), &square_set(480, 10), &mut watcher).unwrap().is_none(), "at {stop_at}");
        assert_eq!(watcher.between, stop_at, "nothing happens after the stop");
        // The step that was under way is not taken.
        assert_eq!(watcher.steps.len() as u64, (stop_at - 1) / 2, "at {stop_at}");
    }
}

#[test]
fn later_the_last_completed_epoch_is_kept() {
    for stop_at in 6..=10 {
        let mut watcher = Watcher { stop_at: Some(stop_at), ..Watcher::default() };
        let trained = train(&of(), &square_set(480, 10), &mut watcher).unwrap().unwrap();
        assert!(trained.summary.stopped);
        assert_eq!(trained.summary.test, None);
        assert_eq!(trained.summary.epochs, watcher.epochs);
        assert_eq!(watcher.epochs.len(), 1);
        assert!(trained.net.weights().unwrap() == watcher.weights[0], "at {stop_at}");
    }
}

#[test]
fn a_run_stopped_at_the_test_split_is_complete_but_untested() {
    let mut watcher = Watcher { stop_at: Some(16), ..Watcher::default() };
    let trained = train(&of(), &square_set(480, 10), &mut watcher).unwrap().unwrap();
    assert!(!trained.summary.stopped);
    assert_eq!(trained.summary.epochs.len(), 3);
    assert_eq!(trained.summary.test, None);
}
