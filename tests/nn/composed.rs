//! The compositions that other devices compute, on candle's CPU, against the ops of ours: values and every gradient.

use candle_core::{Device, Result, Tensor, Var};
use inkling::device::Kernels;
use inkling::math::random::Random;
use inkling::nn::Parameter;
use inkling::nn::ops::{self, BatchNorm, Kernel, composed};
use inkling::run_config::{Activation, Precision};

use super::convolution2d::{CASES as CONVOLUTIONS, LARGE as LARGE_CONVOLUTIONS};
use super::gradients::{Array, TRAIN, close, numbers};
use super::pooling::CASES as POOLS;

/// Checks `theirs(inputs, parameters)` against `ours`, with the gradients of `sum(result * r)` for a random `r`.
fn check(
    inputs: &[Array],
    parameters: &[Array],
    ours: impl Fn(&[Var], &[Parameter]) -> Result<Tensor>,
    theirs: impl Fn(&[Var], &[Var]) -> Result<Tensor>,
) {
    let variables = |arrays: &[Array]| -> Vec<Var> {
        arrays.iter().map(|array| Var::from_vec(array.values.clone(), array.shape.as_slice(), &Device::Cpu).unwrap()).collect()
    };
    let flat = |tensor: &Tensor| tensor.flatten_all().unwrap().to_vec1::<f32>().unwrap();
    let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();
    let (x, learned) = (variables(inputs), variables(parameters));
    let of_ours: Vec<Parameter> = parameters.iter().map(|p| Parameter::new("p", p.values.clone(), &p.shape).unwrap()).collect();
    let (result, expected) = (theirs(&x, &learned).unwrap(), ours(&x, &of_ours).unwrap());
    assert_eq!(result.dims(), expected.dims());
    close("output", &flat(&result), &wide(&flat(&expected)));

    let r = Tensor::new(numbers(result.elem_count(), &mut Random::new(7)), &Device::Cpu).unwrap();
    let backward = |y: &Tensor| (y.flatten_all().unwrap() * &r).unwrap().sum_all().unwrap().backward().unwrap();
    let (gradients, expected) = (backward(&result), backward(&expected));
    for x in &x {
        close("gradient of x", &flat(gradients.get(x).unwrap()), &wide(&flat(expected.get(x).unwrap())));
    }
    for (variable, parameter) in learned.iter().zip(&of_ours) {
        close("gradient of a parameter", &flat(gradients.get(variable).unwrap()), &wide(&parameter.gradient()));
    }
}

#[test]
fn convolution() {
    for case in CONVOLUTIONS.into_iter().chain(LARGE_CONVOLUTIONS) {
        let random = &mut Random::new(2);
        check(
            &[case.input(random)],
            &case.parameters(random),
            |x, p| ops::conv2d(&x[0], &p[0], p.get(1), case.stride, case.padding, TRAIN),
            |x, p| composed::conv2d(&x[0], &p[0], p.get(1).map(Var::as_tensor), case.stride, case.padding, Precision::F32),
        );
    }
}

#[test]
fn pooling() {
    for (shape, kernel) in POOLS {
        let mut x = Array::random(&shape, &mut Random::new(4));
        check(std::slice::from_ref(&x), &[], |x, _| ops::average_pool(&x[0], kernel, TRAIN), |x, _| composed::average_pool(&x[0], kernel));
        check(std::slice::from_ref(&x), &[], |x, _| ops::max_pool(&x[0], kernel, TRAIN), |x, _| composed::max_pool(&x[0], kernel));
        // Many equal values: the first of them has the whole gradient, here as there.
        x.values.iter_mut().for_each(|x| *x = x.round());
        check(&[x], &[], |x, _| ops::max_pool(&x[0], kernel, TRAIN), |x, _| composed::max_pool(&x[0], kernel));
    }
    for shape in [vec![3, 4, 5, 2], vec![2, 7, 5]] {
        let x = Array::random(&shape, &mut Random::new(4));
        check(&[x], &[], |x, _| ops::global_average_pool(&x[0], TRAIN), |x, _| composed::global_average_pool(&x[0]));
    }
    let nan = Tensor::new(&[1.0_f32, f32::NAN, 2.0, 3.0], &Device::Cpu).unwrap().reshape((1, 2, 2, 1)).unwrap();
    let pooled = composed::max_pool(&nan, Kernel { size: 2, stride: 2, padding: 0 }).unwrap();
    assert!(pooled.flatten_all().unwrap().to_vec1::<f32>().unwrap()[0].is_nan());
}

#[test]
fn activations_and_sums() {
    for &activation in Activation::ALL {
        let random = &mut Random::new(4);
        let mut arrays = [Array::random(&[3, 5, 4], random), Array::random(&[3, 5, 4], random)];
        arrays[0].values[0] = 0.0;
        check(&arrays[..1], &[], |x, _| ops::activate(&x[0], activation, TRAIN), |x, _| composed::activate(&x[0], activation));
        let activation = Some(activation);
        check(&arrays, &[], |x, _| ops::add(&x[0], &x[1], activation, TRAIN), |x, _| composed::add(&x[0], &x[1], activation));
    }
}

#[test]
fn features() {
    const LABELS: [u8; 6] = [0, 1, 2, 3, 0, 1];
    // The larger ones are as many rows and outputs as go through matrix products, over several tasks.
    for (rows, inputs, outputs, relu) in
        [(4, 7, 3, false), (4, 7, 3, true), (150, 70, 40, false), (70, 50, 40, true), (300, 130, 35, false)]
    {
        let random = &mut Random::new(5);
        check(
            &[Array::random(&[rows, inputs], random)],
            &[Array::random(&[outputs, inputs], random), Array::random(&[outputs], random)],
            |x, p| ops::linear(&x[0], &p[0], &p[1], relu, TRAIN),
            |x, p| composed::linear(&x[0], &p[0], &p[1], relu, Precision::F32),
        );
    }
    let random = &mut Random::new(6);
    check(&[Array::random(&[2, 3, 4, 5], random)], &[], |x, _| ops::flatten(&x[0], TRAIN), |x, _| composed::flatten(&x[0]));
    check(
        &[Array::random(&[2, 5, 24], random)],
        &[],
        |x, _| ops::attention(&x[0], 2, TRAIN),
        |x, _| composed::attention(&x[0], 2, Precision::F32),
    );
    for smoothing in [0.0, 0.1] {
        check(
            &[Array::random(&[6, 4], random)],
            &[],
            |x, _| ops::cross_entropy(&x[0], LABELS.as_slice(), 6, smoothing, Kernels::Ours),
            |x, _| composed::cross_entropy(&x[0], &ops::one_hot(&LABELS, 4, &Device::Cpu)?, 6, smoothing),
        );
    }
}

#[test]
fn norms() {
    let random = &mut Random::new(7);
    let parameters = [Array::random(&[5], random), Array::random(&[5], random)];
    let x = [Array::random(&[4, 3, 5], random)];
    check(&x, &parameters, |x, p| ops::layer_norm(&x[0], &p[0], &p[1], TRAIN), |x, p| composed::layer_norm(&x[0], &p[0], &p[1], 1e-5));
    let statistic = |value: f32| Parameter::new("s", vec![value; 5], &[5]).unwrap();
    let (mean, variance) = (statistic(0.0), statistic(1.0));
    for activation in [None, Some(Activation::Silu)] {
        check(
            &x,
            &parameters,
            |x, p| {
                let norm = BatchNorm { weight: &p[0], bias: &p[1], running_mean: &mean, running_variance: &variance };
                ops::batch_norm(&x[0], norm, activation, TRAIN)
            },
            |x, p| {
                let [mean, variance] = composed::moments(&x[0])?;
                composed::batch_norm(&x[0], [&mean, &variance], &p[0], &p[1], 1e-5, activation)
            },
        );
    }
}
