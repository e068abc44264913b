//! Convolution with strides, padding and an optional bias.

use candle_core::{Device, Tensor};
use inkling::math::random::Random;
use inkling::nn::ops::{Context, conv2d};
use inkling::nn::{Parameter, autograd};

use super::gradients::{self, Array, TRAIN, check_all, grad, parameter};

#[derive(Clone, Copy)]
pub struct Case {
    pub batch: usize,
    pub sides: [usize; 2],
    pub inputs: usize,
    pub outputs: usize,
    pub kernel: usize,
    pub stride: usize,
    pub padding: usize,
    pub bias: bool,
}

/// Too large for finite differences: pictures that are gone through in strips, and more outputs
/// than a panel has.
pub const LARGE: [Case; 2] = [
    Case {
        batch: 9,
        sides: [23, 28],
        inputs: 8,
        outputs: 20,
        kernel: 3,
        stride: 1,
        padding: 1,
        bias: true,
    },
    Case {
        batch: 2,
        sides: [15, 14],
        inputs: 16,
        outputs: 48,
        kernel: 5,
        stride: 1,
        padding: 0,
        bias: false,
    },
];

/// One of each kind: no stride or one larger than the kernel, padding that hides a kernel, odd
/// sizes, groups not full, 1x1.
pub const CASES: [Case; 10] = [
    Case {
        batch: 1,
        sides: [6, 6],
        inputs: 1,
        outputs: 2,
        kernel: 3,
        stride: 1,
        padding: 0,
        bias: true,
    },
    Case {
        batch: 2,
        sides: [7, 5],
        inputs: 3,
        outputs: 4,
        kernel: 3,
        stride: 1,
        padding: 1,
        bias: false,
    },
    Case {
        batch: 3,
        sides: [7, 6],
        inputs: 2,
        outputs: 3,
        kernel: 3,
        stride: 2,
        padding: 1,
        bias: false,
    },
    Case {
        batch: 1,
        sides: [8, 5],
        inputs: 3,
        outputs: 2,
        kernel: 1,
        stride: 1,
        padding: 0,
        bias: true,
    },
    Case {
        batch: 2,
        sides: [5, 6],
        inputs: 3,
        outputs: 2,
        kernel: 1,
        stride: 2,
        padding: 0,
        bias: false,
    },
    Case {
        batch: 1,
        sides: [9, 4],
        inputs: 1,
        outputs: 1,
        kernel: 2,
        stride: 3,
        padding: 1,
        bias: true,
    },
    Case {
        batch: 1,
        sides: [2, 3],
        inputs: 2,
        outputs: 1,
        kernel: 2,
        stride: 1,
        padding: 3,
        bias: true,
    },
    Case {
        batch: 40,
        sides: [4, 5],
        inputs: 1,
        outputs: 2,
        kernel: 3,
        stride: 1,
        padding: 1,
        bias: true,
    },
    // Outputs that fill a vector of every processor, written and read in place.
    Case {
        batch: 2,
        sides: [4, 3],
        inputs: 2,
        outputs: 16,
        kernel: 3,
        stride: 1,
        padding: 1,
        bias: false,
    },
    Case {
        batch: 1,
        sides: [1, 1],
        inputs: 1,
        outputs: 1,
        kernel: 1,
        stride: 1,
        padding: 0,
        bias: false,
    },
];

impl Case {
    pub fn input(&self, random: &mut Random) -> Array {
        Array::random(
            &[self.batch, self.sides[0], self.sides[1], self.inputs],
            random,
        )
    }

    pub fn parameters(&self, random: &mut Random) -> Vec<Array> {
        let weight = Array::random(
            &[self.outputs, self.inputs, self.kernel, self.kernel],
            random,
        );
        let bias = self.bias.then(|| Array::random(&[self.outputs], random));
        std::iter::once(weight).chain(bias).collect()
    }

    fn compute(&self, x: &Tensor, parameters: &[Parameter], context: Context) -> Tensor {
        conv2d(
            x,
            &parameters[0],
            parameters.get(1),
            self.stride,
            self.padding,
            context,
        )
        .unwrap()
    }

    /// The definition, in plain loops, of inputs, weights and biases.
    fn reference(&self, numbers: &[Vec<f64>]) -> Vec<f64> {
        let Self {
            batch,
            sides: [height, width],
            inputs,
            outputs,
            kernel,
            stride,
            padding,
            ..
        } = *self;
        let places = |side: usize| (side + 2 * padding - kernel) / stride + 1;
        let mut result = Vec::new();
        for image in 0..batch {
            for row in 0..places(height) {
                for col in 0..places(width) {
                    for output in 0..outputs {
                        let mut sum = numbers.get(2).map_or(0.0, |bias| bias[output]);
                        for ky in 0..kernel {
                            for kx in 0..kernel {
                                let (y, x) = (
                                    (row * stride + ky).wrapping_sub(padding),
                                    (col * stride + kx).wrapping_sub(padding),
                                );
                                if y < height && x < width {
                                    for input in 0..inputs {
                                        sum += numbers[0]
                                            [((image * height + y) * width + x) * inputs + input]
                                            * numbers[1][((output * inputs + input) * kernel + ky)
                                                * kernel
                                                + kx];
                                    }
                                }
                            }
                        }
                        result.push(sum);
                    }
                }
            }
        }
        result
    }
}

#[test]
fn agrees_with_plain_loops_and_finite_differences() {
    for (seed, case) in (1..).zip(CASES) {
        let random = &mut Random::new(seed);
        check_all(
            &[case.input(random)],
            &case.parameters(random),
            |x, parameters, context| case.compute(&x[0], parameters, context),
            |numbers| case.reference(numbers),
        );
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let case = Case {
        batch: 13,
        sides: [14, 14],
        inputs: 3,
        outputs: 8,
        kernel: 3,
        stride: 1,
        padding: 1,
        bias: true,
    };
    let compute = |threads: usize| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
            .install(|| {
                let random = &mut Random::new(4);
                let (x, parameters) = (case.input(random), case.parameters(random));
                let (_, gradients) = gradients::compute(
                    TRAIN,
                    &[x],
                    &parameters,
                    |x, p, context| case.compute(&x[0], p, context),
                    <[f32]>::to_vec,
                );
                gradients
                    .into_iter()
                    .map(|values| values.into_iter().map(f32::to_bits).collect::<Vec<_>>())
                    .collect::<Vec<_>>()
            })
    };
    let one = compute(1);
    assert_eq!(one, compute(2));
    assert_eq!(one, compute(5));
}

#[test]
fn the_first_layer_computes_no_gradient_for_its_input() {
    let random = &mut Random::new(4);
    let (x, parameters) = (CASES[1].input(random), CASES[1].parameters(random));
    let x = Tensor::from_vec(x.values, x.shape, &Device::Cpu).unwrap();
    let weight = parameter(&parameters[0]);
    let y = CASES[1].compute(&x, std::slice::from_ref(&weight), TRAIN);
    assert!(!autograd::requires_grad(&x));
    autograd::backward(&y, y.ones_like().unwrap(), TRAIN.backend).unwrap();
    assert!(grad(&weight).iter().any(|&value| value != 0.0));
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = Tensor::zeros((1, 4, 4, 2), candle_core::DType::F32, &Device::Cpu).unwrap();
    let refused = |shape: [usize; 4], bias: usize, stride, padding| {
        let weight = Parameter::new("w", vec![0.0; shape.iter().product()], &shape).unwrap();
        let bias = Parameter::new("b", vec![0.0; bias], &[bias]).unwrap();
        conv2d(&x, &weight, Some(&bias), stride, padding, Context::EVAL).is_err()
    };
    assert!(!refused([3, 2, 3, 3], 3, 1, 0));
    assert!(refused([3, 1, 3, 3], 3, 1, 0));
    assert!(refused([3, 2, 3, 2], 3, 1, 0));
    assert!(refused([3, 2, 5, 5], 3, 1, 0));
    assert!(refused([3, 2, 3, 3], 2, 1, 0));
    assert!(refused([3, 2, 3, 3], 3, 0, 0));
}
