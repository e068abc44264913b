//! The gradient noise scale, against its definition.

use candle_core::Tensor;
use inkling::data::Split;
use inkling::math::random::Random;
use inkling::nn::{Mode, Net};
use inkling::progress::Unwatched;
use inkling::run_config::{Activation, Augmentation, ModelKind, Precision, RunConfig};
use inkling::train::GradientNoise;

use crate::support::flat;
use crate::synthetic;

fn config() -> RunConfig {
    RunConfig {
        model: ModelKind::Mlp,
        augmentation: Augmentation::Off,
        label_smoothing: 0.0,
        ..RunConfig::default()
    }
}

/// The trace of the covariance matrix of the images' gradients, and the squared norm of their mean,
/// each gradient by itself.
fn exact(net: &Net, images: &Split) -> [f64; 2] {
    let mut mean: Vec<f64> = Vec::new();
    let mut squares = 0.0;
    for index in 0..images.len() {
        let dropout = &mut Random::new(1);
        let logits = net
            .forward(
                images.image(index).to_vec().as_slice(),
                Mode::Train {
                    dropout,
                    precision: Precision::F32,
                },
            )
            .unwrap();
        let label = Tensor::from_slice(&images.labels[index..=index], 1, logits.device()).unwrap();
        net.backward(&net.loss(&logits, &label, 1, 0.0).unwrap(), 1.0)
            .unwrap();
        let take = |parameter: &inkling::nn::Parameter| flat(&parameter.take_grad().unwrap());
        let gradient: Vec<f32> = net.trainable().iter().flat_map(take).collect();
        mean.resize(gradient.len(), 0.0);
        mean.iter_mut()
            .zip(&gradient)
            .for_each(|(mean, &value)| *mean += f64::from(value) / images.len() as f64);
        squares += gradient
            .iter()
            .map(|&value| f64::from(value).powi(2))
            .sum::<f64>()
            / images.len() as f64;
    }
    let norm: f64 = mean.iter().map(|value| value * value).sum();
    [squares - norm, norm]
}

#[test]
fn it_is_the_variance_of_the_images_gradients_over_the_square_of_their_mean() {
    let images = synthetic::squares(60, 1);
    let net = Net::new(ModelKind::Mlp, Activation::Relu, 10, 3).unwrap();
    let [variance, norm] = exact(&net, &images);
    let mut noise = GradientNoise::default();
    let indices: Vec<u32> = (0..60).collect();
    let random = &mut Random::new(9);
    for _ in 0..12 {
        noise
            .measure(&net, (&images, &indices), &config(), random, &mut Unwatched)
            .unwrap();
    }
    let (found, wanted) = (noise.scale().unwrap(), variance / norm);
    assert!((found / wanted - 1.0).abs() < 0.15, "{found}, not {wanted}");
}

#[test]
fn measuring_leaves_the_network_as_it_is() {
    let images = synthetic::squares(60, 1);
    // Its batch normalizations keep running statistics.
    let net = Net::new(ModelKind::ResNet8, Activation::Relu, 10, 3).unwrap();
    let before = net.weights().unwrap();
    net.parameters()[0]
        .add_to_grad(|grad| grad[0] = 7.0)
        .unwrap();
    let config = RunConfig {
        model: ModelKind::ResNet8,
        augmentation: Augmentation::Medium,
        ..config()
    };
    let indices: Vec<u32> = (0..60).collect();
    GradientNoise::default()
        .measure(
            &net,
            (&images, &indices),
            &config,
            &mut Random::new(1),
            &mut Unwatched,
        )
        .unwrap();
    assert_eq!(net.weights().unwrap(), before);
    assert_eq!(flat(&net.parameters()[0].grad().unwrap())[0], 7.0);
}

#[test]
fn both_figures_are_unbiased_and_a_gradient_within_the_noise_has_no_scale() {
    // A squared mean of 4 and a variance of 100, as the squared norms of 10 and of 1000 images show
    // them.
    let mut noise = GradientNoise::default();
    noise.add([10.0, 1000.0], [4.0 + 10.0, 4.0 + 0.1]);
    assert!((noise.scale().unwrap() - 25.0).abs() < 1e-9);
    // Scatter of two measurements cancels out in their sums.
    let mut noise = GradientNoise::default();
    noise.add([10.0, 1000.0], [14.0, 4.1 + 3.0]);
    noise.add([10.0, 1000.0], [14.0, 4.1 - 3.0]);
    assert!((noise.scale().unwrap() - 25.0).abs() < 1e-9);
    let mut noise = GradientNoise::default();
    noise.add([10.0, 1000.0], [10.0, 0.05]);
    assert_eq!(noise.scale(), None);
    assert_eq!(GradientNoise::default().scale(), None);
}
