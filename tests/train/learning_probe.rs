//! What is looked at while a network is trained. That looking changes nothing is part of
//! `determinism`.

use inkling::data::Split;
use inkling::nn::Net;
use inkling::run_config::{Activation, ModelKind};
use inkling::train::LearningProbe;

use crate::synthetic::squares;

#[test]
fn ten_images_of_each_digit_are_chosen_by_seed() {
    let validation = squares(300, 4);
    let labels = |seed| {
        LearningProbe::new(&validation, 10, seed)
            .images()
            .iter()
            .map(|image| image.label)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        labels(1),
        (0..100).map(|index| index / 10).collect::<Vec<u8>>()
    );
    let images = |seed| LearningProbe::new(&validation, 10, seed).images();
    assert_eq!(images(1), images(1));
    assert_ne!(images(1), images(2));
}

#[test]
fn as_many_images_of_each_class_are_chosen_whatever_their_number() {
    let validation = squares(300, 4);
    for (classes, of_each) in [(2, 30), (4, 25), (10, 10), (60, 1)] {
        let labels: Vec<u8> = LearningProbe::new(&validation, classes, 1)
            .images()
            .iter()
            .map(|image| image.label)
            .collect();
        // There are thirty images of each of ten digits.
        let expected: Vec<u8> = (0..classes.min(10) as u8)
            .flat_map(|class| std::iter::repeat_n(class, of_each))
            .collect();
        assert_eq!(labels, expected, "{classes}");
    }
}

#[test]
fn where_there_are_fewer_images_all_are_taken_and_none_do_no_harm() {
    let net = Net::new(ModelKind::Mlp, Activation::Relu, 10, 1).unwrap();
    for count in [0, 1, 25] {
        let validation = if count == 0 {
            Split::default()
        } else {
            squares(count, 4)
        };
        let mut probe = LearningProbe::new(&validation, 10, 1);
        assert_eq!(probe.images().len(), count);
        assert_eq!(probe.take(&net, 1.0, 3).unwrap().answers.len(), count);
        assert!(!probe.is_due(), "a look has just been taken");
    }
}

#[test]
fn every_network_shows_its_first_layer() {
    for model in ModelKind::ALL {
        let net = Net::new(*model, Activation::Relu, 10, 1).unwrap();
        let snapshot = LearningProbe::new(&squares(20, 4), 10, 1)
            .take(&net, 1.0, 0)
            .unwrap();
        let layer = snapshot.first_layer.unwrap_or_else(|| panic!("{model}"));
        let pixels = usize::from(layer.width) * usize::from(layer.height);
        assert!(
            (6..=64).contains(&layer.images.len()),
            "{model}: {}",
            layer.images.len()
        );
        for image in layer.images {
            assert_eq!(image.len(), pixels);
            assert!(
                image.contains(&255) || image.contains(&1),
                "{model}: the largest weight has the strongest color"
            );
        }
    }
}

#[test]
fn weights_that_are_not_finite_are_answered_with_zero() {
    let net = Net::new(ModelKind::Mlp, Activation::Relu, 10, 1).unwrap();
    net.set_weights(
        &net.weights()
            .unwrap()
            .into_iter()
            .map(|values| vec![f32::NAN; values.len()])
            .collect::<Vec<_>>(),
    )
    .unwrap();
    let snapshot = LearningProbe::new(&squares(20, 4), 10, 1)
        .take(&net, 1.0, 0)
        .unwrap();
    assert!(
        snapshot
            .answers
            .iter()
            .all(|answer| answer.probability == 0.0 && answer.label_probability == 0.0)
    );
}
