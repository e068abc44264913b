//! The network in plain candle, which the benchmark times beside ours.

use candle_core::{Device, Tensor};
use inkling::bench::PlainCandle;
use inkling::data::Split;
use inkling::nn::{Mode, Net};
use inkling::run_config::{Activation, ModelKind};

use crate::support::flat;
use crate::synthetic::squares;

/// Images as common MNIST scripts normalize them: from 0 to 1, minus 0.1307, divided by 0.3081.
fn normalized(split: &Split) -> Tensor {
    let pixels: Vec<f32> = split
        .images
        .iter()
        .map(|&pixel| (f32::from(pixel) / 255.0 - 0.1307) / 0.3081)
        .collect();
    Tensor::from_vec(pixels, (split.len(), 1, 28, 28), &Device::Cpu).unwrap()
}

fn ours() -> Net {
    Net::new(ModelKind::ConvNet, Activation::Relu, 10, 3).unwrap()
}

#[test]
fn it_is_the_same_network_as_ours() {
    let digits = squares(20, 5);
    let ours = ours();
    let expected = flat(&ours.forward(&digits.images, Mode::Eval).unwrap());
    let found = flat(
        &PlainCandle::new(&ours)
            .unwrap()
            .forward(&normalized(&digits), false)
            .unwrap(),
    );
    assert_eq!(found.len(), 200);
    for (found, expected) in found.iter().zip(&expected) {
        assert!(
            (found - expected).abs() < 1e-4,
            "{found} instead of {expected}"
        );
    }
}

#[test]
fn its_steps_learn_and_leave_our_weights_alone() {
    let digits = squares(64, 5);
    let ours = ours();
    let before = ours.weights().unwrap();
    let mut plain = PlainCandle::new(&ours).unwrap();
    let loss = |plain: &PlainCandle| {
        let labels = Tensor::new(
            digits
                .labels
                .iter()
                .map(|&label| u32::from(label))
                .collect::<Vec<_>>(),
            &Device::Cpu,
        )
        .unwrap();
        let logits = plain.forward(&normalized(&digits), false).unwrap();
        candle_nn::loss::cross_entropy(&logits, &labels)
            .unwrap()
            .to_scalar::<f32>()
            .unwrap()
    };
    let first = loss(&plain);
    for _ in 0..8 {
        assert!(plain.train(&digits, 0, 64).unwrap().is_finite());
    }
    let last = loss(&plain);
    assert!(last < 0.98 * first, "{first} and then {last}");
    assert_eq!(ours.weights().unwrap(), before);
}
