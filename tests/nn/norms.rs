//! Batch and layer normalization, and the sum that ends a residual block.

use candle_core::{Device, Tensor};
use inkling::math::random::Random;
use inkling::nn::Parameter;
use inkling::nn::ops::{BatchNorm, Context, add, batch_norm, layer_norm};
use inkling::run_config::Activation;

use super::activations::reference as activated;
use super::gradients::{Array, COMPOSED_TRAIN, TRAIN, check_all, close, compute, gradient_bits};
use crate::support::flat;

fn parameter(values: &[f32]) -> Parameter {
    Parameter::new("p", values.to_vec(), &[values.len()]).unwrap()
}

/// Mean and biased variance.
fn moments(x: &[f64]) -> (f64, f64) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    (
        mean,
        x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64,
    )
}

fn of_channel(x: &[f64], channels: usize, channel: usize) -> Vec<f64> {
    x[channel..].iter().step_by(channels).copied().collect()
}

fn batch_reference(
    x: &[f64],
    weight: &[f64],
    bias: &[f64],
    activation: Option<Activation>,
) -> Vec<f64> {
    let channels = weight.len();
    let statistics: Vec<_> = (0..channels)
        .map(|channel| moments(&of_channel(x, channels, channel)))
        .collect();
    let normalized = x.iter().enumerate().map(|(place, x)| {
        let (mean, variance) = statistics[place % channels];
        (x - mean) / (variance + 1e-5).sqrt() * weight[place % channels] + bias[place % channels]
    });
    normalized
        .map(|y| activation.map_or(y, |activation| activated(activation, y)))
        .collect()
}

#[test]
fn batch_norm_agrees_with_plain_loops_and_finite_differences() {
    // Few channels (taken several pixels at a time), a number that divides no power of two, more
    // than one tile; several pieces.
    let cases = [
        (vec![2, 3, 3, 2], None),
        (vec![1, 2, 5, 3], Some(Activation::Gelu)),
        (vec![3, 2, 2, 70], Some(Activation::Silu)),
    ];
    for (shape, activation) in cases {
        let random = &mut Random::new(shape[3] as u64);
        let channels = shape[3];
        let x = Array::random(&shape, random);
        let parameters = [
            Array::random(&[channels], random),
            Array::random(&[channels], random),
        ];
        let (mean, variance) = (
            parameter(&vec![0.0; channels]),
            parameter(&vec![1.0; channels]),
        );
        check_all(
            &[x],
            &parameters,
            |x, p, context| {
                let norm = BatchNorm {
                    weight: &p[0],
                    bias: &p[1],
                    running_mean: &mean,
                    running_variance: &variance,
                };
                batch_norm(&x[0], norm, activation, context).unwrap()
            },
            |x| batch_reference(&x[0], &x[1], &x[2], activation),
        );
    }
}

#[test]
fn batch_norm_of_many_pieces_keeps_its_digits_far_from_zero() {
    let random = &mut Random::new(6);
    let values: Vec<f32> = (0..9_000)
        .map(|place| 100.0 * (place % 3) as f32 + random.normal())
        .collect();
    let wide: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let x = Tensor::from_vec(values, (10, 30, 10, 3), &Device::Cpu).unwrap();
    let [weight, bias, mean, variance] =
        [[1.0, -2.0, 0.5], [0.0, 1.0, 2.0], [0.0; 3], [1.0; 3]].map(|values| parameter(&values));
    let norm = BatchNorm {
        weight: &weight,
        bias: &bias,
        running_mean: &mean,
        running_variance: &variance,
    };
    let y = flat(&batch_norm(&x, norm, None, TRAIN).unwrap());
    close(
        "normalized",
        &y,
        &batch_reference(&wide, &[1.0, -2.0, 0.5], &[0.0, 1.0, 2.0], None),
    );

    // Running statistics: a tenth of the way, the variance with Bessel's correction.
    let (means, variances): (Vec<f64>, Vec<f64>) = (0..3)
        .map(|channel| moments(&of_channel(&wide, 3, channel)))
        .unzip();
    close(
        "running mean",
        &mean.values().unwrap(),
        &means.iter().map(|mean| 0.1 * mean).collect::<Vec<_>>(),
    );
    let expected: Vec<f64> = variances
        .iter()
        .map(|variance| 0.9 + 0.1 * variance * 3000.0 / 2999.0)
        .collect();
    close("running variance", &variance.values().unwrap(), &expected);

    // Reading uses them, and leaves them.
    let before = (mean.values().unwrap(), variance.values().unwrap());
    let y = flat(&batch_norm(&x, norm, Some(Activation::Relu), Context::EVAL).unwrap());
    let read: Vec<f64> = wide
        .iter()
        .enumerate()
        .map(|(place, x)| {
            let channel = place % 3;
            let scale = [1.0, -2.0, 0.5][channel] / (f64::from(before.1[channel]) + 1e-5).sqrt();
            ((x - f64::from(before.0[channel])) * scale + [0.0, 1.0, 2.0][channel]).max(0.0)
        })
        .collect();
    close("read", &y, &read);
    assert_eq!((mean.values().unwrap(), variance.values().unwrap()), before);
}

#[test]
fn batch_norm_refuses_what_has_no_variance_or_does_not_fit() {
    let [weight, bias, mean, variance] = [1.0, 0.0, 0.0, 1.0].map(|value| parameter(&[value; 2]));
    let norm = BatchNorm {
        weight: &weight,
        bias: &bias,
        running_mean: &mean,
        running_variance: &variance,
    };
    let x = |shape: (usize, usize, usize, usize)| {
        Tensor::zeros(shape, candle_core::DType::F32, &Device::Cpu).unwrap()
    };
    assert!(batch_norm(&x((1, 1, 1, 2)), norm, None, TRAIN).is_err());
    assert!(batch_norm(&x((1, 1, 1, 2)), norm, None, Context::EVAL).is_ok());
    assert!(batch_norm(&x((1, 2, 2, 3)), norm, None, TRAIN).is_err());
}

#[test]
fn batch_norm_gives_the_same_bits_for_any_number_of_threads() {
    let compute = |threads| {
        let x = Array::random(&[7, 9, 11, 12], &mut Random::new(1));
        let parameters = [0.7, 0.1].map(|value| Array {
            values: vec![value; 12],
            shape: vec![12],
        });
        let [mean, variance] = [0.0, 1.0].map(|value| parameter(&[value; 12]));
        let op = |x: &[Tensor], p: &[Parameter], context: Context| {
            let norm = BatchNorm {
                weight: &p[0],
                bias: &p[1],
                running_mean: &mean,
                running_variance: &variance,
            };
            batch_norm(&x[0], norm, Some(Activation::Gelu), context).unwrap()
        };
        let bits = gradient_bits(threads, &[x], &parameters, op);
        (bits, mean.values().unwrap())
    };
    let one = compute(1);
    assert_eq!(one, compute(2));
    assert_eq!(one, compute(3));
}

#[test]
fn layer_norm_agrees_with_plain_loops_and_finite_differences() {
    for shape in [vec![1, 1, 2], vec![2, 3, 5], vec![30, 17]] {
        let random = &mut Random::new(shape.len() as u64);
        let features = shape[shape.len() - 1];
        check_all(
            &[Array::random(&shape, random)],
            &[
                Array::random(&[features], random),
                Array::random(&[features], random),
            ],
            |x, p, context| layer_norm(&x[0], &p[0], &p[1], context).unwrap(),
            |x| {
                let normalized = x[0].chunks(features).flat_map(|row| {
                    let (mean, variance) = moments(row);
                    row.iter()
                        .map(move |x| (x - mean) / (variance + 1e-5).sqrt())
                });
                normalized
                    .enumerate()
                    .map(|(place, y)| y * x[1][place % features] + x[2][place % features])
                    .collect()
            },
        );
    }
}

#[test]
fn a_residual_sum_agrees_with_plain_loops_and_finite_differences() {
    for activation in [None, Some(Activation::Relu), Some(Activation::Tanh)] {
        let random = &mut Random::new(8);
        check_all(
            &[
                Array::random(&[2, 3, 4, 2], random),
                Array::random(&[2, 3, 4, 2], random),
            ],
            &[],
            |x, _, context| add(&x[0], &x[1], activation, context).unwrap(),
            |x| {
                x[0].iter()
                    .zip(&x[1])
                    .map(|(a, b)| {
                        activation.map_or(a + b, |activation| activated(activation, a + b))
                    })
                    .collect()
            },
        );
    }
    // Both branches may be the same tensor.
    let x = Array {
        values: vec![1.0, -2.0],
        shape: vec![2],
    };
    for context in [TRAIN, COMPOSED_TRAIN] {
        let twice = |x: &[Tensor], _: &[Parameter], context: Context| {
            add(&x[0], &x[0], Some(Activation::Relu), context).unwrap()
        };
        let (_, gradients) = compute(context, std::slice::from_ref(&x), &[], twice, |y| {
            vec![1.0; y.len()]
        });
        assert_eq!(gradients[0], [2.0, 0.0]);
    }
    let x = Tensor::zeros(2, candle_core::DType::F32, &Device::Cpu).unwrap();
    let other = Tensor::zeros(3, candle_core::DType::F32, &Device::Cpu).unwrap();
    assert!(add(&x, &other, None, TRAIN).is_err());
}
