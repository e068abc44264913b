//! Convolution with pooling: values, gradients, odd sizes, ties, and the same bits for any number
//! of threads.

use candle_core::{DType, Device, Tensor};
use inkling::math::random::Random;
use inkling::nn::ops::{Context, conv2d_max_pool};
use inkling::nn::{Parameter, autograd};

use super::gradients::{self, Array, TRAIN, check, compute_sum, grad, gradient_bits, parameter};

#[derive(Clone, Copy)]
struct Case {
    batch: usize,
    height: usize,
    width: usize,
    inputs: usize,
    outputs: usize,
    kernel: usize,
    padding: usize,
    relu: bool,
}

/// What the other cases differ from.
const BASE: Case = Case {
    batch: 1,
    height: 6,
    width: 6,
    inputs: 1,
    outputs: 2,
    kernel: 3,
    padding: 0,
    relu: false,
};

impl Case {
    fn arrays(self, seed: u64) -> [Array; 3] {
        let random = &mut Random::new(seed);
        [
            Array::random(&[self.batch, self.height, self.width, self.inputs], random),
            Array::random(
                &[self.outputs, self.inputs, self.kernel, self.kernel],
                random,
            ),
            Array::random(&[self.outputs], random),
        ]
    }

    fn tensors(self, seed: u64) -> (Tensor, Parameter, Parameter) {
        let [x, weight, bias] = self.arrays(seed);
        let x = Tensor::from_vec(x.values, x.shape, &Device::Cpu).unwrap();
        (x, parameter(&weight), parameter(&bias))
    }

    /// The definition, in plain loops.
    fn reference(self, x: &[f64], weight: &[f64], bias: &[f64]) -> Vec<f64> {
        let Self {
            batch,
            height,
            width,
            inputs,
            outputs,
            kernel,
            padding,
            relu,
        } = self;
        let (rows, cols) = (
            height + 2 * padding + 1 - kernel,
            width + 2 * padding + 1 - kernel,
        );
        let convolved = |image: usize, row: usize, col: usize, output: usize| {
            let mut sum = bias[output];
            for ky in 0..kernel {
                for kx in 0..kernel {
                    let (y, x_) = (
                        (row + ky).wrapping_sub(padding),
                        (col + kx).wrapping_sub(padding),
                    );
                    if y < height && x_ < width {
                        for input in 0..inputs {
                            sum += x[((image * height + y) * width + x_) * inputs + input]
                                * weight[((output * inputs + input) * kernel + ky) * kernel + kx];
                        }
                    }
                }
            }
            sum
        };
        let mut result = Vec::new();
        for image in 0..batch {
            for row in 0..rows / 2 {
                for col in 0..cols / 2 {
                    for output in 0..outputs {
                        let mut best = f64::NEG_INFINITY;
                        for (dy, dx) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                            best = best.max(convolved(image, 2 * row + dy, 2 * col + dx, output));
                        }
                        result.push(if relu { best.max(0.0) } else { best });
                    }
                }
            }
        }
        result
    }
}

#[test]
fn agrees_with_plain_loops_and_finite_differences() {
    let cases = [
        BASE,
        Case { relu: true, ..BASE },
        // An odd convolution result: 5x7, whose last row and column no window covers.
        Case {
            batch: 2,
            height: 7,
            width: 9,
            inputs: 3,
            outputs: 4,
            relu: true,
            ..BASE
        },
        // More images than a group has, and not a multiple.
        Case {
            batch: 9,
            height: 5,
            width: 4,
            inputs: 2,
            outputs: 3,
            kernel: 2,
            ..BASE
        },
        // The padding of LeNet, and one wider than the kernel reaches.
        Case {
            batch: 5,
            height: 5,
            width: 6,
            outputs: 3,
            kernel: 5,
            padding: 2,
            relu: true,
            ..BASE
        },
        Case {
            height: 3,
            width: 2,
            inputs: 2,
            kernel: 2,
            padding: 3,
            ..BASE
        },
        // The smallest there is.
        Case {
            height: 2,
            width: 2,
            outputs: 1,
            kernel: 1,
            ..BASE
        },
    ];
    for (seed, case) in (1..).zip(cases) {
        check(
            &case.arrays(seed),
            |x, weight, bias, context| {
                conv2d_max_pool(x, weight, Some(bias), case.padding, case.relu, context).unwrap()
            },
            |x, weight, bias| case.reference(x, weight, bias),
        );
    }
}

/// Pooling alone: a 1x1 convolution with weight 1 and bias 0. Returns result and the gradient of
/// its sum.
fn pool_only(values: Vec<f32>, height: usize, width: usize, relu: bool) -> (Vec<f32>, Vec<f32>) {
    let x = Array {
        values,
        shape: vec![1, height, width, 1],
    };
    let parameters = [
        Array {
            values: vec![1.0],
            shape: vec![1; 4],
        },
        Array {
            values: vec![0.0],
            shape: vec![1],
        },
    ];
    let (output, gradients) = compute_sum(&[x], &parameters, |x, p, context| {
        conv2d_max_pool(&x[0], &p[0], p.get(1), 0, relu, context).unwrap()
    });
    (output, gradients[0].clone())
}

#[test]
fn a_unique_maximum_receives_the_whole_gradient() {
    // candle 0.11.1's own pooling gives each of these a quarter.
    let (values, gradient) = pool_only((0..16).map(|value| value as f32).collect(), 4, 4, false);
    assert_eq!(values, [5.0, 7.0, 13.0, 15.0]);
    let expected: Vec<f32> = (0..16)
        .map(|place| f32::from([5, 7, 13, 15].contains(&place)))
        .collect();
    assert_eq!(gradient, expected);
}

#[test]
fn of_equal_values_the_first_is_the_maximum_and_odd_edges_have_no_gradient() {
    let (values, gradient) = pool_only(vec![3.0; 15], 3, 5, false);
    assert_eq!(values, [3.0, 3.0]);
    let expected: Vec<f32> = (0..15)
        .map(|place| f32::from([0, 2].contains(&place)))
        .collect();
    assert_eq!(gradient, expected);
}

#[test]
fn relu_passes_no_gradient_at_zero() {
    let (values, gradient) = pool_only(vec![0.0, -1.0, -2.0, -3.0], 2, 2, true);
    assert_eq!((values, gradient), (vec![0.0], vec![0.0; 4]));
}

#[test]
fn the_first_layer_computes_no_gradient_for_its_input() {
    let (x, weight, bias) = Case { batch: 2, ..BASE }.tensors(3);
    let y = conv2d_max_pool(&x, &weight, Some(&bias), 0, true, TRAIN).unwrap();
    assert!(!autograd::requires_grad(&x));
    autograd::backward(&y, y.ones_like().unwrap(), TRAIN.backend).unwrap();
    assert!(grad(&weight).iter().any(|&value| value != 0.0));
}

#[test]
fn without_a_bias_it_is_as_with_one_of_zeros() {
    let case = Case {
        batch: 2,
        height: 7,
        inputs: 2,
        outputs: 3,
        padding: 1,
        ..BASE
    };
    let compute = |has_bias: bool| {
        let [x, weight, _] = case.arrays(4);
        let parameters = [
            weight,
            Array {
                values: vec![0.0; 3],
                shape: vec![3],
            },
        ];
        let op = |x: &[Tensor], p: &[Parameter], context: Context| {
            conv2d_max_pool(&x[0], &p[0], has_bias.then_some(&p[1]), 1, false, context).unwrap()
        };
        let (output, gradients) = gradients::compute(TRAIN, &[x], &parameters, op, <[f32]>::to_vec);
        (output, gradients[..2].to_vec())
    };
    let with = compute(true);
    assert!(with.1[1].iter().any(|&value| value != 0.0));
    assert_eq!(with, compute(false));
}

#[test]
fn a_kernel_larger_than_the_picture_is_refused() {
    let case = Case {
        height: 4,
        width: 4,
        outputs: 1,
        kernel: 4,
        ..BASE
    };
    let (x, weight, bias) = case.tensors(3);
    // A 1x1 result has no 2x2 window.
    assert!(conv2d_max_pool(&x, &weight, Some(&bias), 0, false, Context::EVAL).is_err());
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let case = Case {
        batch: 13,
        height: 12,
        width: 12,
        inputs: 3,
        outputs: 8,
        kernel: 3,
        padding: 1,
        relu: true,
    };
    let compute = |threads| {
        let [x, weight, bias] = case.arrays(5);
        gradient_bits(threads, &[x], &[weight, bias], |x, p, context| {
            conv2d_max_pool(&x[0], &p[0], p.get(1), case.padding, case.relu, context).unwrap()
        })
    };
    let one = compute(1);
    assert!(one.iter().flatten().any(|&bits| bits != 0));
    assert_eq!(one, compute(2));
    assert_eq!(one, compute(5));
}

#[test]
fn a_bias_of_another_length_is_refused() {
    let x = Tensor::zeros((1, 6, 6, 2), DType::F32, &Device::Cpu).unwrap();
    let weight = Parameter::new("w", vec![0.0; 3 * 2 * 9], &[3, 2, 3, 3]).unwrap();
    for (len, fits) in [(2, false), (3, true), (4, false)] {
        let bias = Parameter::new("b", vec![0.0; len], &[len]).unwrap();
        assert_eq!(
            conv2d_max_pool(&x, &weight, Some(&bias), 0, false, Context::EVAL).is_ok(),
            fits,
            "{len}"
        );
    }
}
