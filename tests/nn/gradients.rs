//! Owns the comparison of an op with plain loops in f64, its gradients with finite differences of those loops.

use candle_core::{Device, Tensor, Var};
use inkling::device::Kernels;
use inkling::math::random::Random;
use inkling::nn::Parameter;
use inkling::nn::ops::{Context, Gradient};
use inkling::run_config::Precision;

/// A forward pass that `backward` follows, in f32.
pub const TRAIN: Context = Context { gradient: Gradient::Kept, precision: Precision::F32, kernels: Kernels::Ours };

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
        Self { values: numbers(shape.iter().product(), random), shape: shape.to_vec() }
    }

    fn wide(&self) -> Vec<f64> {
        self.values.iter().map(|&value| f64::from(value)).collect()
    }
}

/// Checks `op(x, weight, bias)` and the gradients of `sum(op * r)`, for a random `r`, against `reference` on the same numbers.
pub fn check(
    inputs: &[Array; 3],
    op: impl Fn(&Tensor, &Parameter, &Parameter) -> Tensor,
    reference: impl Fn(&[f64], &[f64], &[f64]) -> Vec<f64>,
) {
    let [x, weight, bias] = inputs;
    check_all(
        std::slice::from_ref(x),
        &[weight.clone(), bias.clone()],
        |x, parameters| op(&x[0], &parameters[0], &parameters[1]),
        |x| reference(&x[0], &x[1], &x[2]),
    );
}

/// Checks `op(inputs, parameters)` and the gradients of `sum(op * r)` by all of them, for a random `r`, against `reference`,
/// which is given the numbers of the inputs and then of the parameters.
pub fn check_all(
    inputs: &[Array],
    parameters: &[Array],
    op: impl Fn(&[Var], &[Parameter]) -> Tensor,
    reference: impl Fn(&[Vec<f64>]) -> Vec<f64>,
) {
    let mut wide: Vec<Vec<f64>> = inputs.iter().chain(parameters).map(Array::wide).collect();
    let variables: Vec<Var> = inputs.iter().map(|x| Var::from_vec(x.values.clone(), x.shape.as_slice(), &Device::Cpu).unwrap()).collect();
    let parameters: Vec<Parameter> = parameters.iter().map(|p| Parameter::new("p", p.values.clone(), &p.shape).unwrap()).collect();
    let output = op(&variables, &parameters);
    let values: Vec<f32> = output.flatten_all().unwrap().to_vec1().unwrap();
    close("output", &values, &reference(&wide));

    let r = numbers(values.len(), &mut Random::new(77));
    let scalar = (output.flatten_all().unwrap() * Tensor::new(r.as_slice(), &Device::Cpu).unwrap()).unwrap().sum_all().unwrap();
    let gradients = scalar.backward().unwrap();
    let of_inputs = variables.iter().map(|x| gradients.get(x).unwrap().flatten_all().unwrap().to_vec1::<f32>().unwrap());
    let computed: Vec<Vec<f32>> = of_inputs.chain(parameters.iter().map(|parameter| parameter.gradient().clone())).collect();

    for (input, gradient) in computed.iter().enumerate() {
        let numeric: Vec<f64> = (0..wide[input].len())
            .map(|index| {
                let step = 1e-6;
                let mut loss_at = |shift: f64| {
                    let kept = wide[input][index];
                    wide[input][index] = kept + shift;
                    let output = reference(&wide);
                    wide[input][index] = kept;
                    output.iter().zip(&r).map(|(y, &r)| y * f64::from(r)).sum::<f64>()
                };
                (loss_at(step) - loss_at(-step)) / (2.0 * step)
            })
            .collect();
        close(&format!("gradient of input {input}"), gradient, &numeric);
    }
}

/// Equal within the rounding of f32 sums.
pub fn close(what: &str, computed: &[f32], expected: &[f64]) {
    assert_eq!(computed.len(), expected.len(), "{what}: count");
    let scale = expected.iter().fold(1.0_f64, |largest, value| largest.max(value.abs()));
    for (index, (&got, &want)) in computed.iter().zip(expected).enumerate() {
        assert!((f64::from(got) - want).abs() <= 2e-5 * scale, "{what}[{index}]: {got} and not {want}");
    }
}
