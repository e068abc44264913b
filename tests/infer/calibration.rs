//! Calibration: the temperature that is fitted, and what it changes.

use inkling::infer::{Classifier, Classify, fit_shared_temperature, fit_temperature};
use inkling::math::random::Random;
use inkling::math::statistics::calibration_error;
use inkling::nn::Net;
use inkling::progress::Unwatched;
use inkling::records::{Calibration, RELIABILITY_BINS, ReliabilityBin};
use inkling::run_config::{Activation, DeviceChoice, ModelKind, RunConfig};

const CLASSES: usize = 10;

use super::{image, info};
use crate::synthetic::{square_set, squares, train};
use crate::train::watcher::{Watcher, config};

fn softmax(row: &[f32], temperature: f64) -> Vec<f64> {
    let exponentials: Vec<f64> = row
        .iter()
        .map(|&logit| (f64::from(logit) / temperature).exp())
        .collect();
    let sum: f64 = exponentials.iter().sum();
    exponentials.iter().map(|e| e / sum).collect()
}

/// Logits, and labels as likely as their softmax at this temperature says.
fn drawn(images: usize, temperature: f64) -> (Vec<f32>, Vec<u8>) {
    let mut random = Random::new(7);
    let (mut logits, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..images {
        let row: Vec<f32> = (0..CLASSES)
            .map(|_| random.below(10_000) as f32 / 1000.0)
            .collect();
        let mut left = random.below(1_000_000) as f64 / 1e6;
        let label = softmax(&row, temperature).iter().position(|probability| {
            left -= probability;
            left < 0.0
        });
        labels.push(label.unwrap_or(CLASSES - 1) as u8);
        logits.extend(row);
    }
    (logits, labels)
}

fn loss(logits: &[f32], labels: &[u8], temperature: f64) -> f64 {
    let of = |(row, &label): (&[f32], &u8)| -softmax(row, temperature)[usize::from(label)].ln();
    logits.chunks(CLASSES).zip(labels).map(of).sum::<f64>() / labels.len() as f64
}

#[test]
fn the_temperature_that_labels_were_drawn_at_is_found() {
    for wanted in [0.4, 1.0, 2.5] {
        let (logits, labels) = drawn(20_000, wanted);
        let found = f64::from(fit_temperature(&logits, &labels));
        assert!(
            (found / wanted - 1.0).abs() < 0.03,
            "{found} instead of {wanted}"
        );
        let [colder, fitted, warmer] = [found / 1.01, found, found * 1.01]
            .map(|temperature| loss(&logits, &labels, temperature));
        assert!(
            fitted < colder && fitted < warmer,
            "{colder} {fitted} {warmer}"
        );
    }
}

#[test]
fn temperatures_are_found_for_any_number_of_classes() {
    for classes in [2, 3, 26] {
        let mut random = Random::new(classes as u64);
        let (mut logits, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..2_000 {
            let label = random.below(classes);
            logits.extend(
                (0..classes).map(|class| random.normal() + if class == label { 2.0 } else { 0.0 }),
            );
            labels.push(label as u8);
        }
        let found = fit_temperature(&logits, &labels);
        let warmer: Vec<f32> = logits.iter().map(|logit| logit * 3.0).collect();
        assert!(
            (fit_temperature(&warmer, &labels) / (3.0 * found) - 1.0).abs() < 1e-3,
            "{classes}: {found}"
        );
        let loss = |temperature: f32| -> f64 {
            let rows = logits.chunks(classes).zip(&labels);
            rows.map(|(row, &label)| -softmax(row, f64::from(temperature))[usize::from(label)].ln())
                .sum()
        };
        assert!(
            loss(found) < loss(found * 1.03) && loss(found) < loss(found / 1.03),
            "{classes}: {found}"
        );
        assert!(
            (fit_shared_temperature(&[&logits], &labels) / found - 1.0).abs() < 2e-3,
            "{classes}"
        );
    }
    assert_eq!(
        fit_temperature(&[1.0, 2.0, 3.0], &[0, 1]),
        1.0,
        "not as many logits for each label"
    );
}

/// The loss of the mean probabilities of several networks.
fn pooled_loss(networks: &[Vec<f32>], labels: &[u8], temperature: f64) -> f64 {
    let of_image = |(image, &label): (usize, &u8)| {
        let of_network = |logits: &Vec<f32>| {
            softmax(&logits[image * CLASSES..(image + 1) * CLASSES], temperature)
                [usize::from(label)]
        };
        -(networks.iter().map(of_network).sum::<f64>() / networks.len() as f64).ln()
    };
    labels.iter().enumerate().map(of_image).sum::<f64>() / labels.len() as f64
}

#[test]
fn networks_that_are_used_together_are_calibrated_together() {
    let (logits, labels) = drawn(20_000, 0.7);
    let alone = fit_shared_temperature(&[&logits], &labels);
    assert!(
        (alone / fit_temperature(&logits, &labels) - 1.0).abs() < 0.01,
        "one network is calibrated as by itself"
    );
    // Each sees the logits with noise of its own: alone less often right, together nearly as often.
    let mut random = Random::new(11);
    let noisy: Vec<Vec<f32>> = (0..5)
        .map(|_| {
            logits
                .iter()
                .map(|logit| logit + random.below(4000) as f32 / 1000.0 - 2.0)
                .collect()
        })
        .collect();
    let shared = f64::from(fit_shared_temperature(
        &noisy.iter().map(Vec::as_slice).collect::<Vec<_>>(),
        &labels,
    ));
    let own = f64::from(fit_temperature(&noisy[0], &labels));
    assert!(
        shared < 0.9 * own,
        "their mean is surer at a lower temperature: {shared} and {own}"
    );
    let [colder, fitted, warmer] = [shared / 1.02, shared, shared * 1.02]
        .map(|temperature| pooled_loss(&noisy, &labels, temperature));
    assert!(
        fitted < colder && fitted < warmer,
        "{colder} {fitted} {warmer}"
    );
    assert_eq!(
        fit_shared_temperature(&[&logits, &logits[1..]], &labels),
        1.0,
        "logits of other images"
    );
}

#[test]
fn few_images_without_a_mistake_do_not_make_a_network_infallible() {
    let labels: Vec<u8> = (0..20).map(|index| index % 10).collect();
    let logits: Vec<f32> = labels
        .iter()
        .flat_map(|&label| (0..10).map(move |digit| if digit == label { 9.0 } else { 0.0 }))
        .collect();
    let temperature = fit_temperature(&logits, &labels);
    let confidence = softmax(&logits[..CLASSES], f64::from(temperature))[0];
    assert!(
        (confidence - 21.0 / 22.0).abs() < 1e-3,
        "{confidence} at {temperature}"
    );
}

#[test]
fn where_nothing_can_be_fitted_logits_stay_as_they_are() {
    assert_eq!(fit_temperature(&[], &[]), 1.0);
    assert_eq!(fit_temperature(&[f32::NAN; CLASSES], &[3]), 1.0);
    // Wrong whenever it is sure: as humble as can be.
    let wrong: Vec<f32> = (0..CLASSES)
        .map(|digit| if digit == 4 { 30.0 } else { 0.0 })
        .collect();
    assert_eq!(
        fit_temperature(&wrong.repeat(50), &[3; 50]),
        *Calibration::TEMPERATURES.end()
    );
}

#[test]
fn a_temperature_changes_how_sure_a_model_is_and_nothing_else() {
    let net = Net::new(ModelKind::LeNet, Activation::Relu, 10, 1).unwrap();
    let at = |temperature| {
        let calibration = Calibration {
            temperature,
            ..Calibration::NONE
        };
        Classifier::new(
            net.clone(),
            DeviceChoice::Cpu,
            info(ModelKind::LeNet),
            calibration,
        )
    };
    let (plain, cold) = (
        at(1.0).classify(image(3)).unwrap(),
        at(0.5).classify(image(3)).unwrap(),
    );
    assert_eq!(
        (plain.digit, plain.digit_score),
        (cold.digit, cold.digit_score)
    );
    // Halving the temperature squares the odds.
    let odds = |probabilities: Vec<f32>| f64::from(probabilities[0] / probabilities[1]);
    assert!((odds(cold.probabilities) / odds(plain.probabilities).powi(2) - 1.0).abs() < 1e-4);
    let [plain, cold] = [1.0, 0.5].map(|temperature| {
        at(temperature)
            .measure(&squares(200, 4), &mut Unwatched)
            .unwrap()
            .evaluation
    });
    assert_eq!(
        (plain.accuracy, &plain.confusion),
        (cold.accuracy, &cold.confusion)
    );
    assert!(
        plain.loss != cold.loss
            && plain.mistakes().next().unwrap().confidence
                < cold.mistakes().next().unwrap().confidence
    );
    assert_eq!(
        at(0.5)
            .uncalibrated()
            .measure(&squares(200, 4), &mut Unwatched)
            .unwrap()
            .evaluation
            .loss,
        plain.loss
    );
}

#[test]
fn a_run_whose_labels_are_smoothed_ends_calibrated() {
    let of = RunConfig {
        epochs: 4,
        label_smoothing: 0.3,
        ..config(ModelKind::Mlp)
    };
    let trained = train(&of, &square_set(1200, 300), &mut Watcher::default())
        .unwrap()
        .unwrap();
    let calibrated = trained.summary.test.clone().unwrap().evaluation;
    let file = trained.model_file();
    assert!(
        file.card.calibration.temperature < 0.9,
        "{:?}",
        file.card.calibration
    );
    let plain = Classifier::new(
        trained.net,
        DeviceChoice::Cpu,
        info(ModelKind::Mlp),
        Calibration::NONE,
    );
    let plain = plain
        .measure(&squares(300, 2), &mut Unwatched)
        .unwrap()
        .evaluation;
    assert_eq!(plain.accuracy, calibrated.accuracy);
    let [before, after] =
        [&plain, &calibrated].map(|evaluation| calibration_error(evaluation).unwrap());
    assert!(
        before > 0.1 && after < before / 4.0,
        "{before} before, {after} after"
    );
}

#[test]
fn confidences_are_counted_in_their_bins() {
    let indices = [0.0, 0.01, 0.0666, 0.0667, 0.5, 1.0, f32::NAN].map(ReliabilityBin::index_of);
    assert_eq!(indices, [0, 0, 0, 1, 7, 14, 0]);
    let net = Net::new(ModelKind::LeNet, Activation::Relu, 10, 1).unwrap();
    let classifier = Classifier::new(
        net,
        DeviceChoice::Cpu,
        info(ModelKind::LeNet),
        Calibration::NONE,
    );
    let evaluation = classifier
        .measure(&squares(200, 4), &mut Unwatched)
        .unwrap()
        .evaluation;
    let bins = evaluation.reliability;
    assert_eq!(bins.iter().map(|bin| bin.images).sum::<u32>(), 200);
    assert_eq!(
        f64::from(bins.iter().map(|bin| bin.correct).sum::<u32>()) / 200.0,
        evaluation.accuracy
    );
    let width = 1.0 / RELIABILITY_BINS as f64;
    for (index, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.images > 0) {
        assert!(
            (bin.confidence / width - (index as f64 + 0.5)).abs() <= 0.5 + 1e-6,
            "{index}: {bin:?}"
        );
    }
}
