//! Which of several readings of the same weights is taken.

use inkling::import::{Tried, choose};
use inkling::math::random::Random;
use inkling::records::{Normalization, Reading};
use inkling::run_config::{Activation, ModelKind};

const UNIT: Normalization = Normalization {
    mean: 0.0,
    std: 1.0,
};

fn reading(activation: Activation, normalization: Normalization) -> Reading {
    Reading {
        network: ModelKind::LeNet.into(),
        activation,
        normalization,
    }
}

/// The reading that is taken of two that give the same answers, with logits that are this many
/// times as large as they should be.
fn chosen(readings: [(Activation, Normalization, f32); 2]) -> Reading {
    let mut random = Random::stream(1, "logits", 0);
    let mut logits = Vec::new();
    let mut labels = Vec::new();
    for _ in 0..3000 {
        let mut image: Vec<f32> = (0..10).map(|_| 1.5 * random.normal()).collect();
        image[random.below(10)] += 7.0;
        // A label as probable as these logits say.
        let largest = image.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let probabilities: Vec<f32> = image.iter().map(|logit| (logit - largest).exp()).collect();
        let mut left = random.uniform() * probabilities.iter().sum::<f32>();
        let label = probabilities.iter().position(|probability| {
            left -= probability;
            left < 0.0
        });
        labels.push(label.unwrap_or(9) as u8);
        logits.extend(image);
    }
    let tried = readings.map(|(activation, normalization, scale)| {
        let scaled: Vec<f32> = logits.iter().map(|logit| scale * logit).collect();
        Tried::new(reading(activation, normalization), false, &scaled, &labels)
    });
    assert!(tried.iter().all(|tried| tried.accuracy > 0.95));
    choose(&tried).unwrap().reading
}

#[test]
fn of_normalizations_that_do_the_same_the_one_is_taken_that_fits_how_sure_the_network_is() {
    let normalizations = |mnist: f32, unit: f32| {
        chosen([
            (Activation::Relu, Normalization::MNIST, mnist),
            (Activation::Relu, UNIT, unit),
        ])
        .normalization
    };
    // As found with networks of Keras, which were trained with pixels from 0 to 1.
    assert_eq!(normalizations(2.5, 0.85), UNIT);
    // As found with networks of PyTorch: on images like those of the training, with smoothed
    // labels, and on others.
    assert_eq!(normalizations(1.1, 0.35), Normalization::MNIST);
    assert_eq!(normalizations(0.6, 0.2), Normalization::MNIST);
    assert_eq!(
        normalizations(1.9, 0.6),
        Normalization::MNIST,
        "both may be: the usual one"
    );
}

#[test]
fn how_sure_a_network_is_says_nothing_of_its_activation() {
    let taken = chosen([
        (Activation::Relu, Normalization::MNIST, 2.5),
        (Activation::Gelu, Normalization::MNIST, 0.85),
    ]);
    assert_eq!(taken, reading(Activation::Relu, Normalization::MNIST));
}
