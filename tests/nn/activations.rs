//! Activations: values and slopes against f64, far from zero and at it.

use candle_core::{Device, Tensor};
use inkling::math::random::Random;
use inkling::nn::ops::{Context, activate};
use inkling::run_config::Activation;

use super::gradients::{Array, check_all, close, compute_sum};

/// The error function by its Taylor series, exact enough for |x| below 3.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..60 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * std::f64::consts::FRAC_2_SQRT_PI
}

/// The definitions.
pub fn reference(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::LeakyRelu => x.max(0.01 * x),
        Activation::Gelu => 0.5 * x * (1.0 + erf(x / 2.0_f64.sqrt())),
        Activation::Silu => x / (1.0 + (-x).exp()),
        Activation::Tanh => x.tanh(),
    }
}

#[test]
fn agree_with_their_definitions_and_finite_differences() {
    for &activation in Activation::ALL {
        let random = &mut Random::new(3);
        let mut x = Array::random(&[3, 2, 7, 5], random);
        x.values.iter_mut().for_each(|x| *x *= 4.0);
        check_all(
            &[x],
            &[],
            |x, _, context| activate(&x[0], activation, context).unwrap(),
            |x| x[0].iter().map(|&x| reference(activation, x)).collect(),
        );
    }
}

#[test]
fn are_sound_far_from_zero_and_do_not_hide_what_is_no_number() {
    let far = [
        -3e38_f32, -200.0, -90.0, -20.0, 0.0, 20.0, 90.0, 200.0, 3e38,
    ];
    for &activation in Activation::ALL {
        let x = Array {
            values: far.to_vec(),
            shape: vec![far.len()],
        };
        let (y, gradients) = compute_sum(&[x], &[], |x, _, context| {
            activate(&x[0], activation, context).unwrap()
        });
        let slopes = &gradients[0];
        let expected = |x: f32| match activation {
            Activation::Tanh => f64::from(x.signum() * f32::from(x != 0.0)),
            Activation::LeakyRelu => f64::from(if x > 0.0 { x } else { 0.01 * x }),
            _ => f64::from(x.max(0.0)),
        };
        for (x, y) in far.iter().zip(y) {
            assert!(
                (f64::from(y) - expected(*x)).abs() <= 1e-6 * f64::from(x.abs()).max(1.0),
                "{activation}({x}) is {y}"
            );
        }
        let outer = [slopes[0], slopes[1], slopes[7], slopes[8]];
        let low = if activation == Activation::LeakyRelu {
            0.01
        } else {
            0.0
        };
        let high = if activation == Activation::Tanh {
            0.0
        } else {
            1.0
        };
        close("slopes", &outer, &[low, low, high, high]);
        let nan = activate(
            &Tensor::new(&[f32::NAN], &Device::Cpu).unwrap(),
            activation,
            Context::EVAL,
        )
        .unwrap();
        assert!(nan.to_vec1::<f32>().unwrap()[0].is_nan(), "{activation}");
    }
}
