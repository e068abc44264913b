//! Activation checkpointing: less is kept for the backward pass, and nothing else changes.

use inkling::ink::PIXELS;
use inkling::math::random::Random;
use inkling::nn::{Mode, Net, Role, activations, autograd, checkpointed_activations};
use inkling::run_config::{Activation, ModelKind, Precision};

use crate::support::flat;
use candle_core::{Device, Tensor};

/// Loss, gradients and running statistics after two micro-batches whose gradients add up.
fn trained(
    model: ModelKind,
    activation: Activation,
    precision: Precision,
    checkpointing: bool,
) -> (Vec<f32>, Vec<Vec<f32>>, Vec<Vec<f32>>) {
    let net = Net::new(model, activation, 10, 3)
        .unwrap()
        .with_activation_checkpointing(checkpointing);
    let mut random = Random::new(5);
    let mut dropout = Random::new(7);
    let mut losses = Vec::new();
    for _ in 0..2 {
        let pixels: Vec<u8> = (0..6 * PIXELS).map(|_| random.below(256) as u8).collect();
        let labels = Tensor::new(&[0_u8, 3, 9, 1, 4, 4], &Device::Cpu).unwrap();
        let logits = net
            .forward(
                &pixels,
                Mode::Train {
                    dropout: &mut dropout,
                    precision,
                },
            )
            .unwrap();
        let loss = net.loss(&logits, &labels, 12, 0.1).unwrap();
        losses.extend(loss.to_vec1::<f32>().unwrap());
        net.backward(&loss, 1.0).unwrap();
        assert!(!autograd::requires_grad(&logits), "the tape is empty");
    }
    let gradients = net
        .trainable()
        .iter()
        .map(|parameter| flat(&parameter.grad().expect("every weight has a gradient")))
        .collect();
    let buffers = net
        .parameters()
        .iter()
        .filter(|parameter| parameter.role() == Role::Buffer);
    (
        losses,
        gradients,
        buffers.map(|buffer| buffer.values().unwrap()).collect(),
    )
}

#[test]
fn gradients_and_running_statistics_are_the_same_to_the_bit() {
    for &model in ModelKind::ALL {
        let usual = trained(model, Activation::Relu, Precision::F32, false);
        assert_eq!(
            trained(model, Activation::Relu, Precision::F32, true),
            usual,
            "{model}"
        );
        assert!(
            usual.1.iter().flatten().any(|gradient| *gradient != 0.0),
            "{model}"
        );
    }
    for (activation, precision) in [
        (Activation::Gelu, Precision::F32),
        (Activation::Tanh, Precision::Bf16),
        (Activation::Silu, Precision::F16),
    ] {
        for model in [ModelKind::ConvNet, ModelKind::ResNet8, ModelKind::Attention] {
            assert_eq!(
                trained(model, activation, precision, true),
                trained(model, activation, precision, false),
                "{model}, {precision}"
            );
        }
    }
}

#[test]
fn the_deepest_network_holds_less_than_half_of_its_activations_and_none_holds_more() {
    assert!(2 * checkpointed_activations(ModelKind::ResNet20) < activations(ModelKind::ResNet20));
    for &model in ModelKind::ALL {
        assert!(
            checkpointed_activations(model) <= activations(model),
            "{model}"
        );
    }
}
