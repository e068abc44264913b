//! Classification: a drawing, an image, a whole data set.

mod calibration;
mod compare_devices;
mod digit_detector;
mod digit_map;
mod ensemble;
mod explain;
mod number;
mod starter;

use inkling::data::Split;
use inkling::infer::{Classifier, Classify, measure};
use inkling::ink::{Image, Ink, Steps};
use inkling::nn::Net;
use inkling::problem::Problem;
use inkling::progress::{Cancelled, Unwatched};
use inkling::records::{
    Calibration, ModelInfo, ModelRef, RELIABILITY_BINS, ReliabilityBin, Sample,
};
use inkling::run_config::{Activation, Classes, DataSpec, DeviceChoice, ModelKind, RunConfig};

use crate::support::{logits, opened};
use crate::synthetic::{square_set, squares, train};
use crate::train::watcher::{Watcher, config};

fn info(kind: ModelKind) -> ModelInfo {
    ModelInfo {
        reference: ModelRef::Starter,
        network: kind.into(),
        parameters: 0,
        classes: Classes::Digits,
        data: DataSpec::builtin(),
        epochs: 0,
        accuracy: None,
    }
}

fn classifier(threshold: f32) -> Classifier {
    Classifier::new(
        Net::new(ModelKind::LeNet, Activation::Relu, 10, 1).unwrap(),
        DeviceChoice::Cpu,
        info(ModelKind::LeNet),
        Calibration {
            digit_threshold: threshold,
            ..Calibration::NONE
        },
    )
}

fn image(index: usize) -> Image {
    Image::try_from(squares(index + 1, 1).image(index)).unwrap()
}

#[test]
fn a_prediction_is_the_softmax_of_the_logits() {
    let net = Net::new(ModelKind::LeNet, Activation::Relu, 10, 1).unwrap();
    let logits = logits(&net, image(3).pixels());
    let prediction = classifier(0.0).classify(image(3)).unwrap();
    let sum: f64 = logits.iter().map(|&logit| f64::from(logit).exp()).sum();
    for (probability, logit) in prediction.probabilities.iter().zip(&logits) {
        assert!((f64::from(*probability) - f64::from(*logit).exp() / sum).abs() < 1e-6);
    }
    assert!((f64::from(prediction.digit_score) - sum.ln()).abs() < 1e-5);
    assert!((prediction.probabilities.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    let largest = logits.iter().copied().fold(f32::MIN, f32::max);
    assert_eq!(logits[usize::from(prediction.digit)], largest);
    assert_eq!(
        prediction.confidence,
        prediction.probabilities[usize::from(prediction.digit)]
    );
    assert_eq!(prediction.image, image(3));
}

#[test]
fn the_threshold_decides_what_is_a_digit() {
    let score = classifier(0.0).classify(image(3)).unwrap().digit_score;
    assert!(classifier(score).classify(image(3)).unwrap().is_digit);
    assert!(
        !classifier(score + 0.01)
            .classify(image(3))
            .unwrap()
            .is_digit
    );
}

#[test]
fn nothing_drawn_is_never_a_digit() {
    for ink in [
        Ink::default(),
        Ink {
            strokes: vec![vec![[f32::NAN, 1.0]]],
            pen: None,
        },
    ] {
        let prediction = classifier(f32::NEG_INFINITY)
            .classify_drawing(&ink, &Steps::ALL)
            .unwrap();
        assert!(!prediction.is_digit);
        assert!(prediction.image.is_blank());
    }
    let stroke = Ink {
        strokes: vec![vec![[0.0, 0.0], [0.0, 100.0]]],
        pen: None,
    };
    let prediction = classifier(f32::NEG_INFINITY)
        .classify_drawing(&stroke, &Steps::ALL)
        .unwrap();
    assert!(prediction.is_digit && !prediction.image.is_blank());
}

#[test]
fn a_reader_follows_the_training_it_was_made_from() {
    let net = Net::new(ModelKind::LeNet, Activation::Relu, 10, 1).unwrap();
    let classifier = Classifier::new(
        net.clone(),
        DeviceChoice::Cpu,
        info(ModelKind::LeNet),
        Calibration::NONE,
    );
    let before = classifier.classify(image(3)).unwrap().probabilities;
    net.set_weights(
        &Net::new(ModelKind::LeNet, Activation::Relu, 10, 2)
            .unwrap()
            .weights()
            .unwrap(),
    )
    .unwrap();
    assert_ne!(classifier.classify(image(3)).unwrap().probabilities, before);
}

#[test]
fn a_stored_model_reads_as_the_trained_one() {
    let of = RunConfig {
        epochs: 3,
        ..config(ModelKind::Mlp)
    };
    let outcome = train(&of, &square_set(480, 100), &mut Watcher::default())
        .unwrap()
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    std::fs::write(
        &path,
        outcome
            .model_file()
            .to_bytes(inkling::run_config::WeightFormat::F32)
            .unwrap(),
    )
    .unwrap();

    let classifier = opened(&path);
    assert_eq!(classifier.info().reference, ModelRef::File(path));
    assert_eq!(
        (classifier.info().network, classifier.info().epochs),
        (ModelKind::Mlp.into(), 3)
    );
    let evaluation = classifier
        .measure(&squares(100, 2), &mut Unwatched)
        .unwrap()
        .evaluation;
    assert_eq!(evaluation, outcome.summary.test.unwrap().evaluation);
    let prediction = classifier.classify(image(7)).unwrap();
    assert_eq!(prediction.digit, 7);
    assert!(prediction.is_digit);
}

#[test]
fn an_evaluation_adds_up() {
    let split = squares(300, 4);
    let mut shares = Vec::new();
    let evaluation = classifier(0.0)
        .measure(&split, &mut |share: f32| {
            shares.push(share);
            Ok(())
        })
        .unwrap()
        .evaluation;
    assert_eq!(evaluation.images, 300);
    assert!(
        shares.windows(2).all(|pair| pair[0] < pair[1])
            && *shares.last().unwrap() == 1.0
            && shares.len() > 2
    );
    let rows: Vec<u32> = evaluation
        .confusion
        .iter()
        .map(|row| row.iter().sum())
        .collect();
    assert_eq!(rows, [30; 10], "each row counts the images of its digit");
    let right: u32 = (0..10)
        .map(|digit| evaluation.confusion[digit][digit])
        .sum();
    assert!((evaluation.accuracy - f64::from(right) / 300.0).abs() < 1e-12);
    let wrong = evaluation.images - u64::from(right);
    let mistakes: Vec<_> = evaluation.mistakes().collect();
    assert_eq!(mistakes.len() as u64, wrong, "all of them");
    assert!(
        mistakes
            .windows(2)
            .all(|pair| pair[0].confidence >= pair[1].confidence)
    );
    for sample in &evaluation.samples {
        assert_eq!(sample.image.pixels(), split.image(sample.index as usize));
        assert_eq!(sample.label, split.labels[sample.index as usize]);
        assert!(sample.confidence >= sample.label_probability);
    }
    let correct: Vec<_> = evaluation
        .samples
        .iter()
        .filter(|sample| sample.is_correct())
        .collect();
    assert!(
        correct
            .windows(2)
            .all(|pair| pair[0].confidence <= pair[1].confidence)
    );
    for class in 0..10 {
        let kept = correct
            .iter()
            .filter(|sample| sample.label == class)
            .count() as u32;
        let class = usize::from(class);
        assert!(
            kept >= evaluation.count(class, class).min(12),
            "{kept} of {class}"
        );
    }
    for (bin, of_bin) in evaluation.reliability.iter().enumerate() {
        let in_bin = |sample: &&Sample| ReliabilityBin::index_of(sample.confidence) == bin;
        let kept = evaluation.samples.iter().filter(in_bin).count() as u32;
        assert!(kept >= of_bin.images.min(12), "{kept} in bin {bin}");
    }
    assert!(correct.len() <= 10 * 12 + RELIABILITY_BINS * 12);
}

#[test]
fn an_evaluation_can_be_cancelled() {
    let mut calls = 0;
    let outcome = classifier(0.0).measure(&squares(300, 4), &mut |_: f32| {
        calls += 1;
        Err(Cancelled)
    });
    assert_eq!((outcome.unwrap_err(), calls), (Problem::from(Cancelled), 1));
}

#[test]
fn nothing_to_measure_measures_nothing() {
    let evaluation = classifier(0.0)
        .measure(&Split::default(), &mut Unwatched)
        .unwrap()
        .evaluation;
    assert_eq!(
        (evaluation.images, evaluation.accuracy, evaluation.loss),
        (0, 0.0, 0.0)
    );
}

#[test]
fn the_digit_threshold_keeps_its_share() {
    let net = Net::new(ModelKind::LeNet, Activation::Relu, 10, 1).unwrap();
    let measured = measure(&net, 1.0, &squares(200, 4), &mut Unwatched).unwrap();
    let threshold = measured.score_reached_by(0.99);
    assert_eq!(
        measured
            .digit_scores()
            .iter()
            .filter(|&&score| score >= threshold)
            .count(),
        198
    );
    let lowest = measured
        .digit_scores()
        .iter()
        .copied()
        .fold(f32::MAX, f32::min);
    assert_eq!(measured.score_reached_by(1.0), lowest);
}
