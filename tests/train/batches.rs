//! Batches gathered on another thread: the same ones whatever the timing, and an end when the run
//! ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use inkling::nn::Net;
use inkling::run_config::{Augmentation, ModelKind, OptimizerKind, RunConfig, ScheduleKind};
use inkling::train::{EndRequest, Loader, RunObserver, Shuffle};

use super::watcher::{Watcher, config};
use crate::synthetic::{square_set, train};

#[test]
fn timing_changes_nothing() {
    let data = square_set(360, 0);
    let of = RunConfig {
        augmentation: Augmentation::Strong,
        ..config(ModelKind::Mlp)
    };
    let steps = |hold| {
        let mut watcher = Watcher {
            hold,
            ..Watcher::default()
        };
        train(&of, &data, &mut watcher).unwrap().unwrap();
        watcher.steps
    };
    assert_eq!(steps(Duration::ZERO), steps(Duration::from_millis(3)));
}

#[test]
fn all_batches_of_an_epoch_have_the_same_number_of_images_but_for_one() {
    let images = square_set(130, 0).train;
    let sizes = |batch_size, accumulation, epochs, used| {
        let of = RunConfig {
            batch_size,
            accumulation,
            epochs,
            ..config(ModelKind::Mlp)
        };
        let order: Vec<u32> = (0..images.len() as u32).collect();
        std::thread::scope(|scope| {
            let mut loader =
                Loader::start(scope, &of, &images, Shuffle::new(order, 1, 0).skip(used)).unwrap();
            std::iter::from_fn(|| loader.next_batch().ok().map(|batch| batch.len()))
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(sizes(128, 1, 2, 0), [65; 4]);
    assert_eq!(sizes(64, 1, 1, 0), [43, 43, 44]);
    assert_eq!(
        sizes(64, 1, 1, 43),
        [43, 44],
        "a run is resumed between two steps"
    );
    // Two steps of 65 images, in as few batches as 20 images at a time need, and one step of all of
    // them.
    assert_eq!(sizes(20, 4, 1, 0), [16, 16, 16, 17, 16, 16, 16, 17]);
    assert_eq!(sizes(50, 100, 1, 0), [43, 43, 44]);
}

#[test]
fn augmentation_changes_what_is_learned_from_and_nothing_else() {
    let data = square_set(360, 50);
    let run = |augmentation| {
        let mut watcher = Watcher::default();
        let trained = train(
            &RunConfig {
                augmentation,
                epochs: 4,
                ..config(ModelKind::Mlp)
            },
            &data,
            &mut watcher,
        )
        .unwrap()
        .unwrap();
        (trained.summary, watcher.steps)
    };
    let (plain, unchanged) = run(Augmentation::Off);
    for augmentation in [Augmentation::Gentle, Augmentation::Strong] {
        let (summary, steps) = run(augmentation);
        assert_ne!(steps[0].loss, unchanged[0].loss);
        assert_eq!(summary.plan, plain.plan);
        assert!(
            summary.test.unwrap().evaluation.accuracy > 0.8,
            "what is measured is not changed"
        );
    }
}

#[test]
fn accumulated_gradients_equal_those_of_a_large_batch() {
    // 220 images: two steps of 110.
    let data = square_set(240, 0);
    let run = |batch_size, accumulation| {
        let mut watcher = Watcher::default();
        let of = RunConfig {
            batch_size,
            accumulation,
            optimizer: OptimizerKind::Sgd,
            schedule: ScheduleKind::Constant,
            learning_rate: 0.05,
            ..config(ModelKind::LeNet)
        };
        let trained = train(&of, &data, &mut watcher).unwrap().unwrap();
        (trained, watcher)
    };
    let (large, by_large) = run(128, 1);
    for (batch_size, accumulation) in [(64, 2), (32, 4), (8, 16)] {
        let (parts, by_parts) = run(batch_size, accumulation);
        assert_eq!(parts.summary.plan, large.summary.plan);
        assert_eq!(by_parts.steps.len(), 4);
        for (one, other) in by_parts.steps.iter().zip(&by_large.steps) {
            assert!((one.loss - other.loss).abs() < 1e-5 && one.accuracy == other.accuracy);
        }
        let both = parts
            .net
            .weights()
            .unwrap()
            .into_iter()
            .flatten()
            .zip(large.net.weights().unwrap().into_iter().flatten());
        for (part, whole) in both {
            assert!((part - whole).abs() < 1e-6, "{part} and not {whole}");
        }
    }
}

#[test]
fn clipping_bounds_the_move() {
    // One step over everything, without momentum: the weights move by the rate times the clipped
    // norm.
    let data = square_set(120, 0);
    let moved = |clip_norm| {
        let of = RunConfig {
            clip_norm,
            epochs: 1,
            batch_size: 110,
            optimizer: OptimizerKind::Sgd,
            momentum: 0.0,
            schedule: ScheduleKind::Constant,
            learning_rate: 0.5,
            weight_decay: 0.0,
            ..config(ModelKind::Mlp)
        };
        let before = Net::new(of.model, of.activation, 10, of.seed)
            .unwrap()
            .weights()
            .unwrap();
        let after = train(&of, &data, &mut Watcher::default())
            .unwrap()
            .unwrap()
            .net
            .weights()
            .unwrap();
        let squares = before
            .iter()
            .flatten()
            .zip(after.iter().flatten())
            .map(|(before, after)| f64::from(after - before).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let free = moved(None);
    assert!(free > 0.05);
    assert!(
        (moved(Some(0.02)) - 0.01).abs() < 1e-5,
        "{}",
        moved(Some(0.02))
    );
    assert!(
        (moved(Some(1e6)) - free).abs() < 1e-9,
        "what is small enough stays"
    );
}

struct Panics;

impl RunObserver for Panics {
    fn on_micro_batch(&mut self, _: &Net) -> Result<(), EndRequest> {
        panic!("an observer broke")
    }
}

#[test]
fn a_panic_ends_the_run_and_its_threads() {
    let data = square_set(240, 0);
    let broken = catch_unwind(AssertUnwindSafe(|| {
        train(&config(ModelKind::Mlp), &data, &mut Panics).map(|_| ())
    }));
    let words = broken.unwrap_err();
    assert_eq!(words.downcast_ref(), Some(&"an observer broke"));
}
