//! Smoothing and the CSV of the curves.

use inkling::records::{EpochRecord, StepPoint};
use inkling::window::{History, RunningMean};

fn smoothed(values: impl Iterator<Item = f64>, smoothing: f64) -> Vec<f64> {
    let mut mean = RunningMean::default();
    values.map(|value| mean.take(value, smoothing)).collect()
}

#[test]
fn smoothing_keeps_a_constant_and_without_it_nothing_changes() {
    let constant = smoothed(std::iter::repeat_n(0.7, 50), 0.95);
    assert!(
        constant.iter().all(|value| (value - 0.7).abs() < 1e-12),
        "bias-corrected from the first value on"
    );
    let values = [3.0, 1.0, 2.0];
    assert_eq!(smoothed(values.into_iter(), 0.0), values);
}

#[test]
fn smoothing_is_the_weighted_mean_it_claims_to_be() {
    let smoothed = smoothed([1.0, 0.0, 4.0].into_iter(), 0.5);
    // Weights 1/2, 1/4, 1/8 from the newest back, divided by their sum.
    let third = (4.0 * 0.5 + 0.0 * 0.25 + 1.0 * 0.125) / 0.875;
    for (got, want) in smoothed.iter().zip([1.0, 0.25 / 0.75, third]) {
        assert!((got - want).abs() < 1e-12, "{smoothed:?}");
    }
}

#[test]
fn the_csv_holds_every_step_and_epoch_in_columns() {
    let mut history = History::default();
    for step in 1..=3 {
        history.steps.push(StepPoint {
            step,
            loss: 1.5,
            accuracy: 0.25,
            learning_rate: 0.01,
        });
    }
    history.epochs.push(EpochRecord {
        epoch: 1,
        step: 3,
        train_loss: 1.5,
        train_accuracy: 0.25,
        validation_loss: 1.25,
        validation_accuracy: 0.5,
        seconds: 2.0,
    });
    let text = history.csv();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(&rows[1][column("kind")], "step");
    assert_eq!(&rows[1][column("step")], "2");
    assert_eq!(&rows[1][column("train_loss")], "1.5");
    assert_eq!(&rows[3][column("kind")], "epoch");
    assert_eq!(&rows[3][column("validation_accuracy")], "0.5");
    assert_eq!(&rows[3][column("learning_rate")], "");
}
