//! Training for the validation accuracy alone.

use inkling::data::Dataset;
use inkling::nn::{DeviceContext, Net};
use inkling::records::{Calibration, EpochRecord};
use inkling::run_config::{Classes, Preset, RunConfig};
use inkling::train::{EndRequest, RunObserver, RunStart, TrainOutcome};

use crate::synthetic::{square_set, train};

#[derive(Default)]
struct Watcher {
    accuracies: Vec<f32>,
    test_images: u64,
    /// What it says before each step after the first epoch.
    after_an_epoch: Option<EndRequest>,
}

impl RunObserver for Watcher {
    fn prepare(&mut self, run: &RunStart<'_>) {
        self.test_images = run.plan.test_images;
    }

    fn on_micro_batch(&mut self, _: &Net) -> Result<(), EndRequest> {
        self.after_an_epoch
            .filter(|_| !self.accuracies.is_empty())
            .map_or(Ok(()), Err)
    }

    fn epoch(&mut self, record: &EpochRecord, _: &Net, _: Calibration) {
        self.accuracies.push(record.validation_accuracy);
    }
}

#[test]
fn its_epochs_are_those_of_a_run_but_it_is_given_no_test_images() {
    let config = RunConfig {
        epochs: 3,
        batch_size: 20,
        threads: Some(1),
        ..RunConfig::preset(Preset::QuickLook)
    };
    let data: Dataset = square_set(240, 50);
    let (mut run, mut trial) = (Watcher::default(), Watcher::default());
    assert!(
        train(&config, &data, &mut run)
            .unwrap()
            .unwrap()
            .summary
            .test
            .is_some()
    );
    let outcome = inkling::train::validate(
        &config,
        &data.train,
        &data.classes,
        &DeviceContext::CPU,
        &mut trial,
    )
    .unwrap();
    assert!(matches!(outcome, TrainOutcome::Validated));
    assert_eq!((run.test_images, trial.test_images), (50, 0));
    assert_eq!(
        (trial.accuracies.len(), &trial.accuracies),
        (3, &run.accuracies)
    );
}

#[test]
fn it_can_be_ended_early() {
    let config = RunConfig {
        epochs: 3,
        batch_size: 20,
        threads: Some(1),
        ..RunConfig::preset(Preset::QuickLook)
    };
    let mut trial = Watcher {
        after_an_epoch: Some(EndRequest::Interrupt),
        ..Watcher::default()
    };
    let outcome = inkling::train::validate(
        &config,
        &square_set(240, 50).train,
        &Classes::Digits,
        &DeviceContext::CPU,
        &mut trial,
    )
    .unwrap();
    assert!(matches!(outcome, TrainOutcome::Interrupted));
    assert_eq!(trial.accuracies.len(), 1);
}
