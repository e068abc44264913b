//! What distinguishes digits from other drawings: every network has features for it, it learns the
//! difference, and it is part of the model's file.

use std::path::Path;

use inkling::data::builtin;
use inkling::infer::{Classifier, Classify, fit_digit_detector, starter_file};
use inkling::ink::{Image, PIXELS};
use inkling::nn::{ModelFile, Net};
use inkling::progress::{Cancelled, Unwatched};
use inkling::records::ModelRef;
use inkling::run_config::{Activation, Classes, ModelKind, WeightFormat};

fn scores(net: &Net, pixels: &[u8]) -> Vec<f32> {
    let (features, logits) = net.features_and_logits(pixels).unwrap();
    net.digit_detector()
        .unwrap()
        .scores(&features, &logits)
        .unwrap()
}

fn fitted(seed: u64) -> ModelFile {
    let ModelFile { net, card } = starter_file().unwrap();
    let detector = fit_digit_detector(&net, &[], &Classes::Digits, seed, &mut Unwatched).unwrap();
    ModelFile {
        net: net.with_digit_detector(Some(detector)),
        card,
    }
}

#[test]
fn every_network_has_features_that_its_last_layer_makes_the_logits_of() {
    for &model in ModelKind::ALL {
        let net = Net::new(model, Activation::Relu, 10, 1).unwrap();
        let pixels = builtin::not_digits(3, 2);
        let (features, logits) = net.features_and_logits(&pixels).unwrap();
        assert_eq!(features.dims2().unwrap().0, 2, "{model}");
        let whole = net.forward(&pixels, inkling::nn::Mode::Eval).unwrap();
        assert_eq!(
            whole.to_vec2::<f32>().unwrap(),
            logits.to_vec2::<f32>().unwrap(),
            "{model}"
        );
    }
}

#[test]
fn it_tells_digits_from_drawings_that_are_none() {
    let file = fitted(1);
    let (digits, others) = (
        scores(&file.net, &builtin::digits(99, 300)),
        scores(&file.net, &builtin::not_digits(99, 300)),
    );
    let above: usize = digits
        .iter()
        .map(|digit| others.iter().filter(|other| *other < digit).count())
        .sum();
    let area = above as f64 / (digits.len() * others.len()) as f64;
    assert!(area > 0.93, "area under the ROC curve {area}");
}

#[test]
fn the_same_seed_gives_the_same_detector_and_the_models_file_keeps_it() {
    let pixels = builtin::not_digits(5, 4);
    let file = fitted(7);
    assert_eq!(scores(&file.net, &pixels), scores(&fitted(7).net, &pixels));
    assert_ne!(scores(&file.net, &pixels), scores(&fitted(8).net, &pixels));
    let stored = ModelFile::from_bytes(
        &file.to_bytes(WeightFormat::F32).unwrap(),
        Path::new("fitted"),
    )
    .unwrap();
    assert_eq!(scores(&stored.net, &pixels), scores(&file.net, &pixels));
    let image = Image::try_from(&pixels[..PIXELS]).unwrap();
    let predicted = Classifier::of_file(stored, ModelRef::Starter)
        .classify(image)
        .unwrap();
    assert!((predicted.digit_score - scores(&file.net, &pixels)[0]).abs() < 1e-4);
}

#[test]
fn it_can_be_cancelled() {
    let net = Net::new(ModelKind::LeNet, Activation::Relu, 10, 1).unwrap();
    assert!(
        fit_digit_detector(&net, &[], &Classes::Digits, 1, &mut |_: f32| Err(Cancelled)).is_err()
    );
}
