//! The two backends of the CPU against each other, where finite differences would take too long or
//! say too little: large inputs, ties, NaN.

use candle_core::{Device, Tensor};
use inkling::math::random::Random;
use inkling::nn::Parameter;
use inkling::nn::backend::composed;
use inkling::nn::ops::{self, Context, ConvGeometry};
use inkling::run_config::Activation;

use super::convolution2d::LARGE as LARGE_CONVOLUTIONS;
use super::gradients::{Array, COMPOSED_TRAIN, Op, TRAIN, close, compute, numbers};
use super::pooling::CASES as POOLS;
use crate::support::flat;

/// Checks output and gradients of `op` on both backends.
fn check(inputs: &[Array], parameters: &[Array], op: impl Op) {
    let r = |output: &[f32]| numbers(output.len(), &mut Random::new(7));
    let wide = |values: &[f32]| {
        values
            .iter()
            .map(|&value| f64::from(value))
            .collect::<Vec<_>>()
    };
    let (output, gradients) = compute(TRAIN, inputs, parameters, &op, r);
    let (expected, expected_gradients) = compute(COMPOSED_TRAIN, inputs, parameters, &op, r);
    close("output", &output, &wide(&expected));
    for (index, (gradient, expected)) in gradients.iter().zip(&expected_gradients).enumerate() {
        close(&format!("gradient {index}"), gradient, &wide(expected));
    }
}

#[test]
fn large_convolutions() {
    for case in LARGE_CONVOLUTIONS {
        let random = &mut Random::new(2);
        let (input, parameters) = (case.input(random), case.parameters(random));
        check(&[input], &parameters, |x, p, context| {
            ops::conv2d(&x[0], &p[0], p.get(1), case.stride, case.padding, context).unwrap()
        });
    }
}

#[test]
fn pooling_with_ties_and_nan() {
    for (shape, window) in POOLS {
        let mut x = Array::random(&shape, &mut Random::new(4));
        // Many equal values: the first of them has the whole gradient.
        x.values.iter_mut().for_each(|x| *x = x.round());
        check(&[x], &[], |x, _, context| {
            ops::max_pool(&x[0], window, context).unwrap()
        });
    }
    let nan = Tensor::new(&[1.0_f32, f32::NAN, 2.0, 3.0], &Device::Cpu)
        .unwrap()
        .reshape((1, 2, 2, 1))
        .unwrap();
    let pooled = composed::max_pool(&nan, ConvGeometry::HALVING).unwrap();
    assert!(flat(&pooled)[0].is_nan());
}

#[test]
fn activations_at_zero() {
    for &activation in Activation::ALL {
        let mut x = Array::random(&[3, 5, 4], &mut Random::new(4));
        x.values[0] = 0.0;
        check(&[x], &[], |x, _, context| {
            ops::activate(&x[0], activation, context).unwrap()
        });
    }
}

#[test]
fn large_linear_layers() {
    // As many rows and outputs as go through matrix products, over several tasks.
    for (rows, inputs, outputs, relu) in [
        (150, 70, 40, false),
        (70, 50, 40, true),
        (300, 130, 35, false),
    ] {
        let random = &mut Random::new(5);
        check(
            &[Array::random(&[rows, inputs], random)],
            &[
                Array::random(&[outputs, inputs], random),
                Array::random(&[outputs], random),
            ],
            |x, p, context| ops::linear(&x[0], &p[0], &p[1], relu, context).unwrap(),
        );
    }
}

#[test]
fn attention_with_several_heads() {
    let x = Array::random(&[2, 5, 24], &mut Random::new(6));
    check(
        &[x],
        &[],
        |x: &[Tensor], _: &[Parameter], context: Context| {
            ops::attention(&x[0], 2, context).unwrap()
        },
    );
}
