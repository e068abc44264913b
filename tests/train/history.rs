//! The network as it was during a run.

use inkling::records::MAX_SNAPSHOTS;
use inkling::run_config::{ModelKind, RunConfig, ScheduleKind};
use inkling::train::{HISTORY_BYTES, TrainedModel, snapshot_steps};

use super::endings::nonsense;
use super::watcher::{Watcher, config};
use crate::synthetic::{resume, square_set, train};

#[test]
fn early_steps_are_dense_and_the_rest_is_spread_evenly_by_ratio() {
    let few = [0, 1, 2, 5, 10, 20, 50, 100, 200, 400, 500, 800, 1000];
    assert_eq!(snapshot_steps(1200, 400, 24), few);
    let long = snapshot_steps(46_900, 469, MAX_SNAPSHOTS);
    assert_eq!(long.len(), MAX_SNAPSHOTS);
    assert_eq!(long[..8], [0, 1, 2, 5, 10, 20, 50, 100]);
    assert!(*long.last().unwrap() > 46_900 / 2, "{long:?}");
    assert_eq!(long, snapshot_steps(46_900, 469, MAX_SNAPSHOTS));
    for (total, per_epoch) in [
        (1, 1),
        (7, 7),
        (14, 7),
        (90_000, 90),
        (u64::MAX, 1_000_000_000_000_000_000),
    ] {
        for most in 0..=MAX_SNAPSHOTS {
            let steps = snapshot_steps(total, per_epoch, most);
            assert!(steps.len() <= most && steps.is_sorted(), "{steps:?}");
            assert!(steps.iter().all(|&step| step < total), "{steps:?}");
            assert_eq!(steps.first().copied(), (most > 0).then_some(0));
        }
    }
}

fn of() -> RunConfig {
    RunConfig {
        schedule: ScheduleKind::Constant,
        ..config(ModelKind::Tiny)
    }
}

fn trained(config: &RunConfig, watcher: &mut Watcher) -> TrainedModel {
    train(config, &square_set(240, 20), watcher)
        .unwrap()
        .unwrap()
}

/// A run whose history is kept.
fn kept() -> Watcher {
    Watcher {
        history: HISTORY_BYTES,
        ..Watcher::default()
    }
}

fn steps(model: &TrainedModel) -> Vec<u64> {
    let records = model.summary.snapshots.iter();
    records.map(|record| record.step).collect()
}

/// The greatest difference between the weights, relative to their size.
fn difference(a: &[Vec<f32>], b: &[Vec<f32>]) -> f32 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs
        .map(|(a, b)| (a - b).abs() / (a.abs() + 1e-4))
        .fold(0.0, f32::max)
}

#[test]
fn a_snapshot_is_the_model_that_a_run_of_as_many_steps_leaves_and_changes_nothing() {
    for averaging in [None, Some(0.9)] {
        let of = RunConfig {
            weight_averaging: averaging,
            ..of()
        };
        let (mut plain, mut watched) = (Watcher::default(), kept());
        let two = trained(&of, &mut watched);
        let same = trained(&of, &mut plain);
        assert!(same.snapshots.is_empty() && same.summary.snapshots.is_empty());
        assert_eq!(two.net.weights().unwrap(), same.net.weights().unwrap());
        let one = trained(&RunConfig { epochs: 1, ..of }, &mut Watcher::default());
        let per_epoch = one.summary.plan.steps_per_epoch;
        let [ended] = one.summary.epochs[..] else {
            panic!("one epoch")
        };
        let files = two.snapshot_files().unwrap();
        let at = steps(&two)
            .iter()
            .position(|&step| step == per_epoch)
            .unwrap();
        let (file, record) = (&files[at], two.summary.snapshots[at]);
        let [kept, model] = [&file.net, &one.net].map(|net| net.weights().unwrap());
        assert!(difference(&kept, &model) < 1e-3, "f16 has eleven bits");
        assert_eq!(record.accuracy, ended.validation_accuracy);
        assert_eq!(record.images, one.summary.plan.validation_images);
        assert_eq!(
            file.card.validation_accuracy,
            Some(ended.validation_accuracy)
        );
        assert_eq!((file.card.epochs, files[0].card.epochs), (1, 0));
    }
}

#[test]
fn a_resumed_run_keeps_the_same_ones() {
    let of = RunConfig {
        weight_averaging: Some(0.9),
        ..of()
    };
    let mut whole = Watcher {
        every_step: true,
        ..kept()
    };
    let expected = trained(&of, &mut whole);
    assert_eq!(steps(&expected), [0, 1, 2, 5, 7, 10]);
    let data = square_set(240, 20);
    for at in [0, 3, 6, 7, 9] {
        let from = whole.checkpoints[at].clone();
        let resumed = resume(&of, &data, from, &mut kept()).unwrap().unwrap();
        assert_eq!(
            resumed.snapshots, expected.snapshots,
            "from checkpoint {at}"
        );
    }
    // One that is interrupted completes the step it is in.
    let mut interrupted = Watcher {
        interrupt_at: Some(5),
        ..kept()
    };
    assert!(train(&of, &data, &mut interrupted).unwrap().is_none());
    let from = interrupted.checkpoints.pop().unwrap();
    let resumed = resume(&of, &data, from, &mut kept()).unwrap().unwrap();
    assert_eq!(resumed.snapshots, expected.snapshots);
}

#[test]
fn nothing_is_kept_after_the_epoch_that_the_model_is_of() {
    let of = RunConfig {
        epochs: 60,
        early_stopping: Some(3),
        ..config(ModelKind::Mlp)
    };
    let model = train(&of, &nonsense(), &mut kept()).unwrap().unwrap();
    let summary = &model.summary;
    let (last, done) = (
        summary.kept().unwrap().step,
        summary.epochs.last().unwrap().step,
    );
    let plan = &summary.plan;
    let planned = snapshot_steps(plan.total_steps, plan.steps_per_epoch, MAX_SNAPSHOTS);
    assert!(planned.iter().any(|step| (last..=done).contains(step)));
    let before = planned.into_iter().filter(|&step| step < last);
    assert_eq!(steps(&model), before.collect::<Vec<_>>());
}

#[test]
fn a_budget_is_kept() {
    let model = trained(&of(), &mut Watcher::default());
    let numbers: usize = model.net.weights().unwrap().iter().map(Vec::len).sum();
    let mut scarce = Watcher {
        history: 3 * 2 * numbers as u64 + 1,
        ..Watcher::default()
    };
    assert_eq!(trained(&of(), &mut scarce).summary.snapshots.len(), 3);
}
