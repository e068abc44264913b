//! The networks: sizes, initialization, gradients from end to end.

use candle_core::{Device, Tensor};
use inkling::ink::PIXELS;
use inkling::math::random::Random;
use inkling::nn::{
    Layer, Mode, Net, Role, Shape, Step, layers, parameter_count, parameter_specs, walk,
};
use inkling::run_config::{Activation, ModelKind, Network, Precision};

use super::gradients::grad;
use super::networks_of_other_widths;
use crate::support::flat;

pub fn pixels(count: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..count * PIXELS)
        .map(|_| random.below(256) as u8)
        .collect()
}

#[test]
fn parameters_are_counted_as_published() {
    assert_eq!(parameter_count(ModelKind::Linear, 10), 7_850);
    assert_eq!(parameter_count(ModelKind::MlpSmall, 10), 78_500 + 1_010);
    assert_eq!(
        parameter_count(ModelKind::MlpLarge, 10),
        401_920 + 262_656 + 5_130
    );
    assert_eq!(
        parameter_count(ModelKind::PyTorchExample, 10),
        320 + 18_496 + 1_179_776 + 1_290
    );
    assert_eq!(parameter_count(ModelKind::LeNet, 10), 61_706);
    assert_eq!(
        parameter_count(ModelKind::Mlp, 10),
        784 * 256 + 256 + 256 * 256 + 256 + 2_570
    );
    assert_eq!(
        parameter_count(ModelKind::ConvNet, 10),
        832 + 51_264 + 1_049_600 + 10_250
    );
    assert_eq!(
        parameter_count(ModelKind::Speedrun, 10),
        624 + 6_912 + 2 * 32 + 205_056 + 2_570
    );
    assert_eq!(
        parameter_count(ModelKind::ConvNetBn, 10),
        800 + 18_432 + 73_728 + 2 * (32 + 64 + 128) + 295_168 + 2_570
    );
    // He et al. 2016 give 0.27 million for three colors; ours has one, and option B's projections.
    let norms = |channels: usize| 2 * channels;
    let block = |inputs: usize, outputs: usize| {
        9 * inputs * outputs + 9 * outputs * outputs + 2 * norms(outputs)
    };
    let stage = |inputs: usize, outputs: usize, blocks: usize| {
        block(inputs, outputs) + (blocks - 1) * block(outputs, outputs)
    };
    let projections = 16 * 32 + norms(32) + 32 * 64 + norms(64);
    for (model, blocks) in [
        (ModelKind::ResNet8, 1),
        (ModelKind::ResNet14, 2),
        (ModelKind::ResNet20, 3),
    ] {
        let stages = stage(16, 16, blocks) + stage(16, 32, blocks) + stage(32, 64, blocks);
        assert_eq!(
            parameter_count(model, 10),
            (9 * 16 + norms(16) + stages + projections + 650) as u64
        );
    }
    let stages = stage(16, 16, 3) + stage(16, 32, 4) + stage(32, 64, 6) + stage(64, 128, 3);
    let projections = projections + 64 * 128 + norms(128);
    assert_eq!(
        parameter_count(ModelKind::ResNet34, 10),
        (9 * 16 + norms(16) + stages + projections + 1_290) as u64
    );
    assert_eq!(
        parameter_count(ModelKind::Tiny, 10),
        150 + 648 + 1_296 + 1_512 + 2_016 + 2 * (6 + 12 + 12 + 14 + 16) + 170
    );
    for &model in ModelKind::ALL {
        let net = Net::new(model, Activation::Relu, 10, 1).unwrap();
        let built: Vec<_> = net
            .parameters()
            .iter()
            .map(|p| (p.name().to_owned(), p.tensor().dims().to_vec(), p.role()))
            .collect();
        let listed: Vec<_> = parameter_specs(model, 10)
            .into_iter()
            .map(|spec| (spec.name, spec.shape, spec.role))
            .collect();
        assert_eq!(built, listed);
    }
}

#[test]
fn every_model_gives_ten_logits_a_picture_and_each_alone_as_in_company() {
    for &model in ModelKind::ALL {
        let net = Net::new(model, Activation::Relu, 10, 1).unwrap();
        let pictures = pixels(7, 3);
        let together = net.forward(&pictures, Mode::Eval).unwrap();
        assert_eq!(together.dims(), [7, 10], "{model}");
        let together = flat(&together);
        for (picture, expected) in pictures.chunks(PIXELS).zip(together.chunks(10)) {
            for (alone, expected) in flat(&net.forward(picture, Mode::Eval).unwrap())
                .iter()
                .zip(expected)
            {
                assert!(
                    (alone - expected).abs() < 1e-5,
                    "{model}: {alone} and not {expected}"
                );
            }
        }
    }
}

#[test]
fn every_model_distinguishes_any_number_of_classes() {
    for &model in ModelKind::ALL {
        for classes in [2, 26, 100] {
            let net = Net::new(model, Activation::Relu, classes, 1).unwrap();
            assert_eq!(
                net.forward(&pixels(3, 3), Mode::Eval).unwrap().dims(),
                [3, classes],
                "{model}"
            );
            let trainable: usize = net
                .trainable()
                .iter()
                .map(inkling::nn::Parameter::len)
                .sum();
            assert_eq!(
                (net.classes(), trainable as u64),
                (classes, parameter_count(model, classes)),
                "{model}"
            );
            // Only the last layer depends on it.
            let ten = parameter_specs(model, 10);
            let differing = ten
                .iter()
                .zip(parameter_specs(model, classes))
                .filter(|(ten, other)| ten.shape != other.shape)
                .count();
            assert_eq!(
                (differing, ten.len()),
                (2, parameter_specs(model, classes).len()),
                "{model}"
            );
        }
    }
}

#[test]
fn the_seed_decides_the_weights() {
    for &model in ModelKind::ALL {
        let weights = |seed: u64| {
            Net::new(model, Activation::Relu, 10, seed)
                .unwrap()
                .weights()
                .unwrap()
        };
        assert_eq!(weights(1), weights(1));
        assert_ne!(weights(1), weights(2));
    }
    // Uniform in ±1/√fan_in, biases too.
    let net = Net::new(ModelKind::Mlp, Activation::Relu, 10, 1).unwrap();
    for parameter in &net.parameters()[..2] {
        let values = parameter.values().unwrap();
        let largest = values
            .iter()
            .fold(0.0_f32, |largest, value| largest.max(value.abs()));
        assert!(
            (0.9 / 28.0..=1.0 / 28.0).contains(&largest),
            "{}: {largest}",
            parameter.name()
        );
    }
}

#[test]
fn dropout_only_acts_while_training() {
    let net = Net::new(ModelKind::ConvNet, Activation::Relu, 10, 1).unwrap();
    let pictures = pixels(2, 3);
    let read = || flat(&net.forward(&pictures, Mode::Eval).unwrap());
    let train = |seed| {
        flat(
            &net.forward(
                &pictures,
                Mode::Train {
                    dropout: &mut Random::new(seed),
                    precision: Precision::F32,
                },
            )
            .unwrap(),
        )
    };
    assert_eq!(read(), read());
    assert_ne!(train(1), read());
    assert_ne!(train(1), train(2));
    assert_eq!(train(1), train(1));
}

#[test]
fn each_layer_takes_what_the_one_before_it_gives() {
    let networks = ModelKind::ALL.iter().map(|&model| Network::from(model));
    for network in networks.chain(networks_of_other_widths()) {
        let layers = layers(network, Activation::Relu, 7);
        let steps: Vec<Step<'_>> = walk(&layers, Shape::INPUT)
            .flat_map(Step::flattened)
            .collect();
        for Step { layer, input, .. } in &steps {
            let takes = match *layer {
                Layer::Conv { inputs, .. } | Layer::Linear { inputs, .. } => *inputs,
                Layer::BatchNorm { channels, .. } => *channels,
                Layer::Positions {
                    tokens, features, ..
                } => {
                    assert_eq!(*tokens, input.places());
                    *features
                }
                Layer::LayerNorm { features, .. } => *features,
                Layer::Attention { features, .. } => 3 * *features,
                _ => continue,
            };
            assert_eq!(input.width(), takes, "{}: {layer:?}", network.label());
        }
        assert_eq!(
            steps.last().map(|step| step.output),
            Some(Shape::Features(7))
        );
    }
}

#[test]
fn weights_are_found_by_their_names() {
    let net = Net::new(ModelKind::ResNet8, Activation::Relu, 10, 1).unwrap();
    for parameter in net.parameters() {
        assert!(net.parameter(parameter.name()).unwrap().is(parameter));
    }
    assert!(
        net.parameter("fc.wieght")
            .unwrap_err()
            .to_string()
            .contains("fc.wieght")
    );
}

#[test]
fn names_are_those_that_pytorch_users_expect() {
    let names = |model| {
        parameter_specs(model, 10)
            .into_iter()
            .map(|spec| spec.name)
            .collect::<Vec<_>>()
    };
    for name in [
        "conv1.weight",
        "bn1.running_mean",
        "bn1.running_var",
        "layer1.0.conv1.weight",
        "layer2.0.downsample.0.weight",
        "fc.bias",
    ] {
        assert!(
            names(ModelKind::ResNet14).contains(&name.to_owned()),
            "{name}"
        );
    }
    for name in [
        "pos_embed",
        "patch_embed.proj.bias",
        "blocks.1.attn.qkv.weight",
        "blocks.0.norm1.weight",
        "head.weight",
    ] {
        assert!(
            names(ModelKind::Attention).contains(&name.to_owned()),
            "{name}"
        );
    }
    for &model in ModelKind::ALL {
        let mut names = names(model);
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{model}: two parameters of one name");
    }
}

#[test]
fn running_statistics_follow_training_alone_and_no_optimizer_moves_them() {
    let net = Net::new(ModelKind::Tiny, Activation::Relu, 10, 1).unwrap();
    assert!(
        net.trainable()
            .iter()
            .all(|parameter| parameter.role() != Role::Buffer)
    );
    assert_eq!(
        net.trainable()
            .iter()
            .map(|parameter| parameter.len() as u64)
            .sum::<u64>(),
        parameter_count(ModelKind::Tiny, 10)
    );
    let buffers = || -> Vec<Vec<f32>> {
        let buffers = net
            .parameters()
            .iter()
            .filter(|parameter| parameter.role() == Role::Buffer);
        buffers
            .map(|parameter| parameter.values().unwrap())
            .collect()
    };
    let start = buffers();
    assert_eq!(start.len(), 10);
    net.forward(&pixels(3, 1), Mode::Eval).unwrap();
    assert_eq!(buffers(), start);
    net.forward(
        &pixels(3, 1),
        Mode::Train {
            dropout: &mut Random::new(1),
            precision: Precision::F32,
        },
    )
    .unwrap();
    assert!(
        buffers()
            .iter()
            .zip(&start)
            .all(|(now, start)| now != start)
    );
}

#[test]
fn the_activation_decides_what_a_model_computes() {
    let picture = pixels(1, 4);
    // Without a hidden layer there is none.
    for &model in ModelKind::ALL
        .iter()
        .filter(|&&model| model != ModelKind::Linear)
    {
        let mut seen: Vec<Vec<f32>> = Vec::new();
        for &activation in Activation::ALL {
            let logits = flat(
                &Net::new(model, activation, 10, 1)
                    .unwrap()
                    .forward(&picture, Mode::Eval)
                    .unwrap(),
            );
            assert!(
                !seen.contains(&logits),
                "{model}: {activation} changes nothing"
            );
            seen.push(logits);
        }
    }
}

#[test]
fn gradients_hold_from_end_to_end() {
    ModelKind::ALL
        .iter()
        .for_each(|&model| check_gradients(model.into()));
}

/// The derivative of the loss along the gradient, by the chain of all gradients and by difference.
pub fn check_gradients(network: Network) {
    // A smooth activation, so that no kink lies on the way.
    let net = Net::new(network, Activation::Gelu, 10, 5).unwrap();
    // Residual blocks start as nothing but their shortcuts: away from there, so that every part has
    // a gradient.
    let random = &mut Random::new(9);
    let shifted = |values: Vec<f32>| {
        values
            .into_iter()
            .map(|w| w + 0.05 * random.normal())
            .collect()
    };
    let shifted: Vec<Vec<f32>> = net.weights().unwrap().into_iter().map(shifted).collect();
    net.set_weights(&shifted).unwrap();
    let (pictures, labels) = (
        pixels(6, 8),
        Tensor::new(&[0_u8, 1, 2, 3, 4, 5], &Device::Cpu).unwrap(),
    );
    let loss = || {
        let logits = net
            .forward(
                &pictures,
                Mode::Train {
                    dropout: &mut Random::new(1),
                    precision: Precision::F32,
                },
            )
            .unwrap();
        net.loss(&logits, &labels, 6, 0.0).unwrap()
    };
    net.backward(&loss(), 1.0).unwrap();
    let gradients: Vec<Vec<f32>> = net.parameters().iter().map(grad).collect();
    // Along the gradient itself, where a mistake in any part shows.
    let length = gradients
        .iter()
        .flatten()
        .map(|&g| f64::from(g).powi(2))
        .sum::<f64>()
        .sqrt();
    let start = net.weights().unwrap();
    let loss_at = |shift: f64| {
        let moved = |(w, g): (&f32, &f32)| (f64::from(*w) + shift * f64::from(*g) / length) as f32;
        let weights: Vec<Vec<f32>> = start
            .iter()
            .zip(&gradients)
            .map(|(w, g)| w.iter().zip(g).map(moved).collect())
            .collect();
        net.set_weights(&weights).unwrap();
        f64::from(loss().to_vec1::<f32>().unwrap()[0])
    };
    let slope = (loss_at(2e-3) - loss_at(-2e-3)) / 4e-3;
    assert!(
        (slope / length - 1.0).abs() < 0.02,
        "{}: slope {slope}, gradient {length}",
        network.label()
    );
}

#[test]
fn clones_share_their_weights() {
    let net = Net::new(ModelKind::LeNet, Activation::Relu, 10, 1).unwrap();
    let clone = net.clone();
    net.set_weights(
        &Net::new(ModelKind::LeNet, Activation::Relu, 10, 2)
            .unwrap()
            .weights()
            .unwrap(),
    )
    .unwrap();
    assert_eq!(
        clone.weights().unwrap(),
        Net::new(ModelKind::LeNet, Activation::Relu, 10, 2)
            .unwrap()
            .weights()
            .unwrap()
    );
}
