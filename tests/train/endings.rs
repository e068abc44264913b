//! Which weights the model gets: averaged ones, the best epoch's; and early stopping.

use inkling::data::Dataset;
use inkling::math::random::Random;
use inkling::records::Intervention;
use inkling::run_config::{ModelKind, RunConfig};

use super::watcher::{Watcher, config};
use crate::synthetic::{square_set, train};

#[test]
fn averaging_changes_what_is_kept_but_not_how_it_is_learned() {
    let data = square_set(240, 20);
    let run = |weight_averaging| {
        let mut watcher = Watcher::default();
        let trained = train(
            &RunConfig {
                weight_averaging,
                ..config(ModelKind::Mlp)
            },
            &data,
            &mut watcher,
        )
        .unwrap()
        .unwrap();
        (trained, watcher)
    };
    let (plain, plainly) = run(None);
    let (averaged, averaging) = run(Some(0.9));
    assert_eq!(
        plainly.steps, averaging.steps,
        "the same steps, bit for bit"
    );
    let weights = averaged.net.weights().unwrap();
    assert!(weights != plain.net.weights().unwrap());
    // Watched, validated and kept are the averaged weights.
    assert!(&weights == averaging.weights.last().unwrap());
    assert!(averaging.weights[0] != plainly.weights[0]);
    assert!(averaged.summary.test.unwrap().evaluation.accuracy > 0.5);
}

/// Images whose labels mean nothing: training longer makes validation worse.
pub fn nonsense() -> Dataset {
    let mut data = square_set(360, 20);
    Random::new(5).shuffle(&mut data.train.labels);
    data
}

#[test]
fn a_run_that_gets_no_better_ends_and_keeps_its_best_epoch() {
    let mut watcher = Watcher::default();
    let of = RunConfig {
        early_stopping: Some(3),
        epochs: 60,
        ..config(ModelKind::Mlp)
    };
    let trained = train(&of, &nonsense(), &mut watcher).unwrap().unwrap();
    let summary = &trained.summary;
    assert!(summary.stopped_early && !summary.stopped && summary.test.is_some());

    let epochs = &summary.epochs;
    let better = |a: usize, b: usize| {
        (epochs[a].validation_accuracy, -epochs[a].validation_loss)
            > (epochs[b].validation_accuracy, -epochs[b].validation_loss)
    };
    let best = (1..epochs.len()).fold(
        0,
        |best, epoch| if better(epoch, best) { epoch } else { best },
    );
    assert_eq!(epochs.len(), best + 1 + 3, "three epochs in vain");
    assert_eq!(summary.kept_epoch, Some(best as u32 + 1));
    assert_eq!(summary.kept(), Some(&epochs[best]));
    assert!(trained.net.weights().unwrap() == watcher.weights[best]);
    assert_eq!(
        trained.calibration.temperature,
        watcher.calibrations[best].temperature
    );
    assert_eq!(trained.model_file().card.epochs, best as u32 + 1);
    let said = Intervention::StoppedEarly {
        epoch: epochs.len() as u32,
        best_epoch: best as u32 + 1,
    };
    assert_eq!(watcher.interventions, [said]);
}

#[test]
fn with_patience_to_the_end_the_best_epoch_is_kept_all_the_same() {
    let mut watcher = Watcher::default();
    let of = RunConfig {
        early_stopping: Some(100),
        epochs: 12,
        ..config(ModelKind::Mlp)
    };
    let trained = train(&of, &nonsense(), &mut watcher).unwrap().unwrap();
    let kept = trained.summary.kept().unwrap();
    assert!(
        trained
            .summary
            .epochs
            .iter()
            .all(|record| record.validation_accuracy <= kept.validation_accuracy)
    );
    assert!(!trained.summary.stopped_early && watcher.interventions.is_empty());
    assert!(trained.net.weights().unwrap() == watcher.weights[kept.epoch as usize - 1]);
}

#[test]
fn without_patience_the_last_epoch_is_kept() {
    let mut watcher = Watcher::default();
    let trained = train(
        &RunConfig {
            epochs: 3,
            ..config(ModelKind::Mlp)
        },
        &nonsense(),
        &mut watcher,
    )
    .unwrap()
    .unwrap();
    assert_eq!(trained.summary.kept_epoch, Some(3));
    assert!(trained.net.weights().unwrap() == watcher.weights[2]);
}
