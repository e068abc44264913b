//! The comparison of an op on every backend with plain loops in f64, and of its gradients, through
//! the tape that trains, with finite differences of those loops.

use candle_core::{Device, Tensor};
use inkling::math::random::Random;
use inkling::nn::backend::COMPOSED;
use inkling::nn::ops::Context;
use inkling::nn::{Parameter, autograd};

use crate::support::{flat, on_threads};

/// A forward pass on the CPU's kernels that `backward` follows, in f32.
pub const TRAIN: Context = Context::TRAIN;

/// The same on candle's ops.
pub const COMPOSED_TRAIN: Context = Context {
    backend: COMPOSED,
    ..TRAIN
};

/// Numbers in ±1.
pub fn numbers(count: usize, random: &mut Random) -> Vec<f32> {
    (0..count).map(|_| random.range(-1.0, 1.0)).collect()
}

/// An array of numbers and its shape.
#[derive(Clone)]
pub struct Array {
    pub values: Vec<f32>,
    pub shape: Vec<usize>,
}

impl Array {
    pub fn random(shape: &[usize], random: &mut Random) -> Self {
        Self {
            values: numbers(shape.iter().product(), random),
            shape: shape.to_vec(),
        }
    }

    fn wide(&self) -> Vec<f64> {
        self.values.iter().map(|&value| f64::from(value)).collect()
    }
}

/// An op of inputs and parameters.
pub trait Op: Fn(&[Tensor], &[Parameter], Context) -> Tensor {}
impl<F: Fn(&[Tensor], &[Parameter], Context) -> Tensor> Op for F {}

/// A parameter with these values.
pub fn parameter(array: &Array) -> Parameter {
    Parameter::new("p", array.values.clone(), &array.shape).unwrap()
}

/// The gradient of a parameter; zeros where it has none.
pub fn grad(parameter: &Parameter) -> Vec<f32> {
    parameter
        .grad()
        .map_or_else(|| vec![0.0; parameter.len()], |gradient| flat(&gradient))
}

/// The output of `op` and, through the tape, the gradients of `sum(output · r(output))` by inputs
/// and then parameters.
pub fn compute(
    context: Context,
    inputs: &[Array],
    parameters: &[Array],
    op: impl Op,
    r: impl Fn(&[f32]) -> Vec<f32>,
) -> (Vec<f32>, Vec<Vec<f32>>) {
    autograd::clear();
    let variables: Vec<Parameter> = inputs.iter().map(parameter).collect();
    let x: Vec<Tensor> = variables.iter().map(autograd::variable).collect();
    let parameters: Vec<Parameter> = parameters.iter().map(parameter).collect();
    let y = op(&x, &parameters, context);
    let output = flat(&y);
    let gradient = Tensor::from_vec(r(&output), y.shape(), &Device::Cpu).unwrap();
    autograd::backward(&y, gradient, context.backend).unwrap();
    let gradients = variables.iter().chain(&parameters).map(grad).collect();
    (output, gradients)
}

/// `compute` on the CPU's kernels with the gradients of `sum(output)`.
pub fn compute_sum(
    inputs: &[Array],
    parameters: &[Array],
    op: impl Op,
) -> (Vec<f32>, Vec<Vec<f32>>) {
    compute(TRAIN, inputs, parameters, op, |output| {
        vec![1.0; output.len()]
    })
}

/// The bits of all gradients of a fixed sum of `op`'s output, computed by so many threads.
pub fn gradient_bits(
    threads: usize,
    inputs: &[Array],
    parameters: &[Array],
    op: impl Op + Send,
) -> Vec<Vec<u32>> {
    let compute = || compute(TRAIN, inputs, parameters, op, <[f32]>::to_vec).1;
    let gradients = on_threads(threads, compute).into_iter();
    gradients
        .map(|values| values.into_iter().map(f32::to_bits).collect())
        .collect()
}

/// Checks `op(x, weight, bias)` as `check_all` does.
pub fn check(
    inputs: &[Array; 3],
    op: impl Fn(&Tensor, &Parameter, &Parameter, Context) -> Tensor,
    reference: impl Fn(&[f64], &[f64], &[f64]) -> Vec<f64>,
) {
    let [x, weight, bias] = inputs;
    check_all(
        std::slice::from_ref(x),
        &[weight.clone(), bias.clone()],
        |x, parameters, context| op(&x[0], &parameters[0], &parameters[1], context),
        |x| reference(&x[0], &x[1], &x[2]),
    );
}

/// Checks `op(inputs, parameters)` and the gradients of `sum(op · r)` by all of them, for a random
/// `r`, on every backend against `reference`, which is given the elements of the inputs and then of
/// the parameters.
pub fn check_all(
    inputs: &[Array],
    parameters: &[Array],
    op: impl Op,
    reference: impl Fn(&[Vec<f64>]) -> Vec<f64>,
) {
    for context in [TRAIN, COMPOSED_TRAIN] {
        check_on(context, inputs, parameters, &op, &reference);
    }
}

fn check_on(
    context: Context,
    inputs: &[Array],
    parameters: &[Array],
    op: impl Op,
    reference: impl Fn(&[Vec<f64>]) -> Vec<f64>,
) {
    let mut wide: Vec<Vec<f64>> = inputs.iter().chain(parameters).map(Array::wide).collect();
    let r = |output: &[f32]| numbers(output.len(), &mut Random::new(77));
    let (values, computed) = compute(context, inputs, parameters, op, r);
    let name = format!("{:?}", context.backend);
    close(&format!("{name}: output"), &values, &reference(&wide));
    let r = r(&values);

    for (input, gradient) in computed.iter().enumerate() {
        let numeric: Vec<f64> = (0..wide[input].len())
            .map(|index| {
                let step = 1e-6;
                let mut loss_at = |shift: f64| {
                    let kept = wide[input][index];
                    wide[input][index] = kept + shift;
                    let output = reference(&wide);
                    wide[input][index] = kept;
                    output
                        .iter()
                        .zip(&r)
                        .map(|(y, &r)| y * f64::from(r))
                        .sum::<f64>()
                };
                (loss_at(step) - loss_at(-step)) / (2.0 * step)
            })
            .collect();
        close(
            &format!("{name}: gradient of input {input}"),
            gradient,
            &numeric,
        );
    }
}

/// Equal within the rounding of f32 sums.
pub fn close(what: &str, computed: &[f32], expected: &[f64]) {
    assert_eq!(computed.len(), expected.len(), "{what}: count");
    let scale = expected
        .iter()
        .fold(1.0_f64, |largest, value| largest.max(value.abs()));
    for (index, (&got, &want)) in computed.iter().zip(expected).enumerate() {
        assert!(
            (f64::from(got) - want).abs() <= 2e-5 * scale,
            "{what}[{index}]: {got} and not {want}"
        );
    }
}
