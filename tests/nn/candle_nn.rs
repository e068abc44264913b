//! Our ops against candle-nn's layers: other code, by other people, for the same mathematics.
//! Gradients are compared where candle's are right: its max pooling and the gradient of its
//! convolution are left out (the latter is slow).

use candle_core::{DType, Device, Tensor, Var};
use candle_nn::{Conv2dConfig, Linear, Module, loss};
use inkling::math::random::Random;
use inkling::nn::backend::COMPOSED;
use inkling::nn::ops::{self, Context, LAYER_NORM_EPSILON};
use inkling::run_config::Activation;

use super::gradients::{Array, Op, TRAIN, close, compute, numbers, parameter};
use crate::support::flat;

/// A variable of candle's with these values.
fn variable(array: &Array) -> Var {
    Var::from_tensor(&tensor(array)).unwrap()
}

fn tensor(array: &Array) -> Tensor {
    Tensor::from_slice(&array.values, array.shape.as_slice(), &Device::Cpu).unwrap()
}

fn wide(tensor: &Tensor) -> Vec<f64> {
    flat(tensor).into_iter().map(f64::from).collect()
}

/// Checks output and gradients of `op` against those of candle's `expected`, which is given inputs
/// and then parameters.
fn check(inputs: &[Array], parameters: &[Array], op: impl Op, expected: impl Fn(&[Var]) -> Tensor) {
    let r = |output: &[f32]| numbers(output.len(), &mut Random::new(7));
    let (output, gradients) = compute(TRAIN, inputs, parameters, &op, r);
    let variables: Vec<Var> = inputs.iter().chain(parameters).map(variable).collect();
    let y = expected(&variables);
    close("output", &output, &wide(&y));
    let r = Tensor::from_vec(r(&output), y.shape(), &Device::Cpu).unwrap();
    let store = (y * r).unwrap().sum_all().unwrap().backward().unwrap();
    for (index, (gradient, variable)) in gradients.iter().zip(&variables).enumerate() {
        close(
            &format!("gradient {index}"),
            gradient,
            &wide(store.get(variable).unwrap()),
        );
    }
}

fn random(shapes: &[&[usize]]) -> Vec<Array> {
    let random = &mut Random::new(11);
    shapes
        .iter()
        .map(|shape| Array::random(shape, random))
        .collect()
}

#[test]
fn linear_layers() {
    let arrays = random(&[&[9, 33], &[17, 33], &[17]]);
    for relu in [false, true] {
        check(
            &arrays[..1],
            &arrays[1..],
            |x, p, context| ops::linear(&x[0], &p[0], &p[1], relu, context).unwrap(),
            |vars| {
                let [x, weight, bias] = vars else {
                    unreachable!()
                };
                let y = Linear::new(weight.as_tensor().clone(), Some(bias.as_tensor().clone()))
                    .forward(x)
                    .unwrap();
                if relu { y.relu().unwrap() } else { y }
            },
        );
    }
}

#[test]
fn layer_normalization() {
    let arrays = random(&[&[6, 5, 24], &[24], &[24]]);
    check(
        &arrays[..1],
        &arrays[1..],
        |x, p, context| ops::layer_norm(&x[0], &p[0], &p[1], context).unwrap(),
        |vars| {
            let [x, weight, bias] = vars else {
                unreachable!()
            };
            // `LayerNorm` itself has no gradient.
            candle_nn::ops::layer_norm_slow(x, weight, bias, LAYER_NORM_EPSILON).unwrap()
        },
    );
}

#[test]
fn activations() {
    let x = random(&[&[7, 31]]);
    for &activation in Activation::ALL {
        let theirs = match activation {
            Activation::Relu => candle_nn::Activation::Relu,
            Activation::LeakyRelu => candle_nn::Activation::LeakyRelu(0.01),
            Activation::Gelu => candle_nn::Activation::Gelu,
            Activation::Silu => candle_nn::Activation::Silu,
            // candle-nn has none.
            Activation::Tanh => continue,
        };
        check(
            &x,
            &[],
            |x, _, context| ops::activate(&x[0], activation, context).unwrap(),
            |vars| theirs.forward(&vars[0]).unwrap(),
        );
    }
}

#[test]
fn cross_entropy() {
    let logits = &random(&[&[12, 10]])[0];
    let labels: Vec<u8> = (0..12).map(|row| (row * 7 % 10) as u8).collect();
    let ours_labels = Tensor::new(labels.as_slice(), &Device::Cpu).unwrap();
    let their_labels = ours_labels.to_dtype(DType::U32).unwrap();
    let of_loss = |output: &[f32]| {
        (0..output.len())
            .map(|index| if index == 0 { 1.0 } else { 0.0 })
            .collect()
    };
    let op = |x: &[Tensor], _: &[inkling::nn::Parameter], context: Context| {
        ops::cross_entropy(&x[0], &ours_labels, 12, 0.0, context).unwrap()
    };
    let (output, gradients) = compute(TRAIN, std::slice::from_ref(logits), &[], op, of_loss);
    let variable = variable(logits);
    let expected = loss::cross_entropy(&variable, &their_labels).unwrap();
    close("loss", &output[..1], &wide(&expected));
    close(
        "gradient",
        &gradients[0],
        &wide(expected.backward().unwrap().get(&variable).unwrap()),
    );
}

#[test]
fn convolutions_forward() {
    // Ours are channels last.
    for (stride, padding) in [(1, 0), (1, 2), (2, 1)] {
        let arrays = random(&[&[3, 11, 11, 6], &[8, 6, 5, 5], &[8]]);
        let [x, weight, bias] = &arrays[..] else {
            unreachable!()
        };
        let ours = ops::conv2d(
            &tensor(x),
            &parameter(weight),
            Some(&parameter(bias)),
            stride,
            padding,
            Context::EVAL,
        )
        .unwrap();
        let config = Conv2dConfig {
            stride,
            padding,
            ..Conv2dConfig::default()
        };
        let layer = candle_nn::Conv2d::new(tensor(weight), Some(tensor(bias)), config);
        let theirs = layer
            .forward(
                &tensor(x)
                    .permute((0, 3, 1, 2))
                    .unwrap()
                    .contiguous()
                    .unwrap(),
            )
            .unwrap();
        close(
            "convolution",
            &flat(&ours),
            &wide(&theirs.permute((0, 2, 3, 1)).unwrap().contiguous().unwrap()),
        );
    }
}

/// The reference backend uses candle-nn's fused kernels where no gradient is needed.
#[test]
fn fused_kernels_compute_what_the_composed_ops_do() {
    let fused = Context {
        backend: COMPOSED,
        ..Context::EVAL
    };
    let composed = Context {
        backend: COMPOSED,
        ..Context::TRAIN
    };
    let arrays = random(&[&[2, 9, 48], &[48], &[48]]);
    let [x, weight, bias] = &arrays[..] else {
        unreachable!()
    };
    let (weight, bias) = (parameter(weight), parameter(bias));
    // Also where rows are not next to one another.
    for x in [tensor(x), tensor(x).transpose(0, 1).unwrap()] {
        let normalize = |context| ops::layer_norm(&x, &weight, &bias, context).unwrap();
        close(
            "layer normalization",
            &flat(&normalize(fused)),
            &wide(&normalize(composed)),
        );
        let attend = |context| ops::attention(&x, 4, context).unwrap();
        close("attention", &flat(&attend(fused)), &wide(&attend(composed)));
    }
}
