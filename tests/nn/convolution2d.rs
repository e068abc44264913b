//! Convolution with strides, padding and an optional bias.

use candle_core::{Device, Tensor};
use inkling::math::random::Random;
use inkling::nn::ops::{Context, conv2d};
use inkling::nn::{Parameter, autograd};

use super::gradients::{Array, TRAIN, check_all, grad, gradient_bits, parameter};

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

/// Channels are those of inputs and outputs; a window is a kernel's size, its stride and padding.
const fn case(
    batch: usize,
    sides: [usize; 2],
    [inputs, outputs]: [usize; 2],
    [kernel, stride, padding]: [usize; 3],
    bias: bool,
) -> Case {
    Case {
        batch,
        sides,
        inputs,
        outputs,
        kernel,
        stride,
        padding,
        bias,
    }
}

/// Too large for finite differences: pictures that are gone through in strips, and more outputs
/// than a panel has.
pub const LARGE: [Case; 2] = [
    case(9, [23, 28], [8, 20], [3, 1, 1], true),
    case(2, [15, 14], [16, 48], [5, 1, 0], false),
];

/// One of each kind: no stride or one larger than the kernel, padding that hides a kernel, odd
/// sizes, groups not full, 1x1.
pub const CASES: [Case; 10] = [
    case(1, [6, 6], [1, 2], [3, 1, 0], true),
    case(2, [7, 5], [3, 4], [3, 1, 1], false),
    case(3, [7, 6], [2, 3], [3, 2, 1], false),
    case(1, [8, 5], [3, 2], [1, 1, 0], true),
    case(2, [5, 6], [3, 2], [1, 2, 0], false),
    case(1, [9, 4], [1, 1], [2, 3, 1], true),
    case(1, [2, 3], [2, 1], [2, 1, 3], true),
    case(40, [4, 5], [1, 2], [3, 1, 1], true),
    // Outputs that fill a vector of every processor, written and read in place.
    case(2, [4, 3], [2, 16], [3, 1, 1], false),
    case(1, [1, 1], [1, 1], [1, 1, 0], false),
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
    let case = case(13, [14, 14], [3, 8], [3, 1, 1], true);
    let compute = |threads| {
        let random = &mut Random::new(4);
        let (x, parameters) = (case.input(random), case.parameters(random));
        gradient_bits(threads, &[x], &parameters, |x, p, context| {
            case.compute(&x[0], p, context)
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
