//! Weights from statistics of the training images, before the first step.

use crate::support::logits;
use inkling::data::{Split, builtin};
use inkling::ink::PIXELS;
use inkling::nn::{Net, Role, initialize};
use inkling::progress::Unwatched;
use inkling::records::{InitializationReport, Normalization};
use inkling::run_config::{Activation, Initialization, ModelKind};

/// How far from 1 a variance may be.
const TOLERANCE: f32 = 0.01;

fn images() -> (Split, Vec<u32>) {
    let digits = builtin::generate(1, 600, 0, &mut Unwatched).unwrap().train;
    let indices = (0..digits.len() as u32).rev().collect();
    (digits, indices)
}

fn initialized(
    model: ModelKind,
    activation: Activation,
    method: Initialization,
) -> (Net, InitializationReport) {
    let (images, indices) = images();
    let (net, report) = initialize(model, activation, 10, method, (&images, &indices), 1).unwrap();
    (net, report.expect("it follows from statistics"))
}

#[test]
fn every_layer_of_every_network_has_unit_variance() {
    let every = ModelKind::ALL
        .iter()
        .map(|&model| (model, Initialization::Lsuv));
    // They differ in the first layer only: dense, convolutional, and in front of a normalization.
    let first_layers = [ModelKind::Mlp, ModelKind::LeNet, ModelKind::ResNet8]
        .into_iter()
        .flat_map(|model| [Initialization::Pca, Initialization::Zca].map(|method| (model, method)));
    for (model, method) in every.chain(first_layers) {
        let (net, report) = initialized(model, Activation::Relu, method);
        let weights = net
            .parameters()
            .iter()
            .filter(|parameter| parameter.role() == Role::Weight);
        assert_eq!(report.layers.len(), weights.count(), "{model}");
        for layer in &report.layers {
            assert!(
                (layer.after - 1.0).abs() < TOLERANCE,
                "{model}, {method}: {layer:?}"
            );
        }
        assert!(
            report
                .layers
                .iter()
                .any(|layer| (layer.before - 1.0).abs() > TOLERANCE),
            "{model} had it before"
        );
        let logits = logits(&net, &images().0.images[..PIXELS]);
        assert!(
            logits.iter().all(|logit| logit.is_finite()),
            "{model}, {method}"
        );
    }
}

#[test]
fn it_holds_with_every_activation() {
    for &activation in Activation::ALL {
        let (_, report) = initialized(ModelKind::LeNet, activation, Initialization::Lsuv);
        assert!(
            report
                .layers
                .iter()
                .all(|layer| (layer.after - 1.0).abs() < TOLERANCE),
            "{activation}: {report:?}"
        );
    }
}

#[test]
fn images_are_normalized_with_their_own_mean_and_deviation() {
    let (images, indices) = images();
    let count = images.images.len() as f64;
    let mean = images
        .images
        .iter()
        .map(|&pixel| f64::from(pixel) / 255.0)
        .sum::<f64>()
        / count;
    let variance = images
        .images
        .iter()
        .map(|&pixel| (f64::from(pixel) / 255.0 - mean).powi(2))
        .sum::<f64>()
        / count;
    let (net, report) = initialized(ModelKind::Tiny, Activation::Relu, Initialization::Lsuv);
    let Normalization { mean: found, std } = net.normalization();
    assert!(
        (f64::from(found) - mean).abs() < 1e-6 && (f64::from(std) - variance.sqrt()).abs() < 1e-6,
        "{found}, {std}"
    );
    assert_eq!(report.normalization, net.normalization());
    assert_eq!(
        report.extremes,
        [
            *images.images.iter().min().unwrap(),
            *images.images.iter().max().unwrap()
        ]
    );
    // Only the images that are trained on count.
    let (net, _) = initialize(
        ModelKind::Tiny,
        Activation::Relu,
        10,
        Initialization::Lsuv,
        (&images, &indices[..100]),
        1,
    )
    .unwrap();
    assert_ne!(net.normalization(), report.normalization);
}

#[test]
fn the_first_filters_are_principal_components_of_unit_variance_and_their_negatives() {
    for (model, outputs, size) in [(ModelKind::Speedrun, 24, 25), (ModelKind::Mlp, 256, 784)] {
        let (net, report) = initialized(model, Activation::Relu, Initialization::Pca);
        let components = report.components.expect("components");
        assert_eq!(components.explained.len(), size, "{model}");
        assert!(
            (components.explained.iter().sum::<f32>() - 1.0).abs() < 1e-3,
            "{model}"
        );
        assert!(
            components
                .explained
                .windows(2)
                .all(|pair| pair[0] >= pair[1]),
            "{model}: they are not in order"
        );
        let weights = net.parameters()[0].values().unwrap();
        let filters: Vec<&[f32]> = weights.chunks_exact(size).collect();
        assert_eq!(filters.len(), outputs);
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let cosine = |a: &[f32], b: &[f32]| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
        for pair in filters.chunks_exact(2).take(8) {
            assert!(
                pair[0]
                    .iter()
                    .zip(pair[1])
                    .all(|(plus, minus)| *plus == -*minus),
                "{model}: a component comes with its negative"
            );
        }
        for (index, filter) in filters.iter().step_by(2).take(8).enumerate() {
            for other in filters.iter().step_by(2).take(8).skip(index + 1) {
                assert!(
                    cosine(filter, other).abs() < 0.01,
                    "{model}: components are orthogonal"
                );
            }
        }
    }
}

#[test]
fn zca_filters_whiten_each_pixel_by_its_neighbors() {
    for (model, size, middle) in [
        (ModelKind::Speedrun, 25, 12),
        (ModelKind::Mlp, 784, 13 * 28 + 13),
    ] {
        let (net, report) = initialized(model, Activation::Relu, Initialization::Zca);
        assert!(report.components.is_some(), "{model}");
        let weights = net.parameters()[0].values().unwrap();
        let filters: Vec<&[f32]> = weights.chunks_exact(size).collect();
        assert!(
            filters[0]
                .iter()
                .zip(filters[1])
                .all(|(plus, minus)| *plus == -*minus),
            "{model}: a filter comes with its negative"
        );
        let strongest = (0..size)
            .max_by(|&a, &b| filters[0][a].abs().total_cmp(&filters[0][b].abs()))
            .unwrap();
        assert_eq!(
            strongest, middle,
            "{model}: the first is about the pixel in the middle"
        );
        assert!(filters[0][middle] > 0.0, "{model}");
        if model == ModelKind::Speedrun {
            let neighbors = [middle - 5, middle - 1, middle + 1, middle + 5];
            assert!(
                neighbors.iter().all(|&neighbor| filters[0][neighbor] < 0.0),
                "less what its neighbors tell: {:?}",
                filters[0]
            );
        }
    }
}

/// Of images in which two pixels vary alone, the components are these pixels.
#[test]
fn components_are_the_directions_in_which_images_vary() {
    let mut images = Split {
        images: vec![0; 400 * PIXELS],
        labels: vec![0; 400],
    };
    for (index, image) in images.images.chunks_exact_mut(PIXELS).enumerate() {
        image[100] = if index % 2 == 0 { 255 } else { 0 };
        image[500] = if index % 4 < 2 { 100 } else { 0 };
    }
    let indices: Vec<u32> = (0..400).collect();
    let (_, report) = initialize(
        ModelKind::Mlp,
        Activation::Relu,
        10,
        Initialization::Pca,
        (&images, &indices),
        1,
    )
    .unwrap();
    let components = report.unwrap().components.unwrap();
    let expected =
        [255.0_f32 * 255.0, 100.0 * 100.0].map(|square| square / (255.0 * 255.0 + 100.0 * 100.0));
    for (explained, expected) in components.explained.iter().zip(expected) {
        assert!(
            (explained - expected).abs() < 1e-3,
            "{:?}",
            &components.explained[..4]
        );
    }
    let strongest = |image: &Vec<u8>| {
        (0..PIXELS)
            .max_by_key(|&pixel| (i32::from(image[pixel]) - 128).abs())
            .unwrap()
    };
    assert_eq!(
        components
            .images
            .images
            .iter()
            .take(2)
            .map(strongest)
            .collect::<Vec<_>>(),
        [100, 500]
    );
}

#[test]
fn the_same_seed_gives_the_same_weights_and_images_without_variance_no_infinite_ones() {
    for method in [Initialization::Lsuv, Initialization::Pca] {
        let [one, other] = [(); 2].map(|()| {
            initialized(ModelKind::LeNet, Activation::Relu, method)
                .0
                .weights()
                .unwrap()
        });
        assert_eq!(one, other);
        let blank = Split {
            images: vec![0; 20 * PIXELS],
            labels: vec![0; 20],
        };
        let indices: Vec<u32> = (0..20).collect();
        let (net, _) = initialize(
            ModelKind::LeNet,
            Activation::Relu,
            10,
            method,
            (&blank, &indices),
            1,
        )
        .unwrap();
        assert!(
            net.weights()
                .unwrap()
                .iter()
                .flatten()
                .all(|weight| weight.is_finite()),
            "{method}"
        );
    }
    let (images, indices) = images();
    let (net, report) = initialize(
        ModelKind::LeNet,
        Activation::Relu,
        10,
        Initialization::Random,
        (&images, &indices),
        1,
    )
    .unwrap();
    assert_eq!(
        net.weights().unwrap(),
        Net::new(ModelKind::LeNet, Activation::Relu, 10, 1)
            .unwrap()
            .weights()
            .unwrap()
    );
    assert_eq!(report, None);
}
