//! Owns the comparison of one op on a device with candle's composition of it on the processor. Must not know which op it is.

use candle_core::{Device, Result, Shape, Tensor, Var};

use super::op_cases::Case;
use super::report::{Check, Subject};
use crate::device::{self, Kernels, Place};
use crate::math::random::Random;
use crate::nn::ops::{self, Context, Gradient};
use crate::nn::{Parameter, backward};
use crate::run_config::Precision;

/// What came of an op: its result, then a gradient for each input and parameter.
type Outcome = Vec<Vec<f32>>;

/// Checks an op and its gradients.
pub fn check(case: &Case, place: &Place, precision: Precision) -> Check {
    let subject = Subject::Op(case.name.to_owned());
    let tolerance = tolerance(precision);
    let compared = numbers(case).and_then(|numbers| Ok(compare(&of_place(case, &numbers, place, precision)?, &of_candle(case, &numbers)?)));
    match compared {
        Ok((found, place)) => {
            let detail = match place.checked_sub(1) {
                None => "its result".to_owned(),
                Some(index) if index < case.inputs.len() => format!("the gradient of input {}", index + 1),
                Some(index) => format!("the gradient of parameter {}", index + 1 - case.inputs.len()),
            };
            Check { subject, precision, found: Some(found), tolerance, detail }
        }
        Err(error) => Check { subject, precision, found: None, tolerance, detail: device::words(&error) },
    }
}

/// In f32 two orders of summing a few hundred products. In the shorter formats each operand of a product is off by at most half a unit in
/// its last place (2^-8 of it in bf16, 2^-11 in f16), in TF32, to which GPUs may cut it off, by a whole one (2^-10); twice the sum of both
/// operands' bounds every product here.
const fn tolerance(precision: Precision) -> f32 {
    match precision {
        Precision::F32 => 1e-4,
        Precision::Bf16 => 2.0 * 2.0 / 256.0,
        Precision::Tf32 => 2.0 * 2.0 / 1024.0,
        Precision::F16 => 2.0 * 2.0 / 2048.0,
    }
}

/// The numbers of inputs and parameters, the same each time.
fn numbers(case: &Case) -> Result<Vec<Parameter>> {
    let mut random = Random::new(11);
    let shapes = case.inputs.iter().chain(&case.parameters);
    shapes.map(|shape| Parameter::new("checked", (0..shape.iter().product()).map(|_| random.range(-1.0, 1.0)).collect(), shape)).collect()
}

/// What each number of the result counts for in the sum whose gradients are compared.
fn weights(count: usize) -> Vec<f32> {
    let mut random = Random::new(12);
    (0..count).map(|_| random.range(-1.0, 1.0)).collect()
}

/// The way a training step takes: through the ops' own record on the processor, through candle's graph elsewhere.
fn of_place(case: &Case, numbers: &[Parameter], place: &Place, precision: Precision) -> Result<Outcome> {
    let context = Context { gradient: Gradient::Kept, precision, kernels: place.kernels };
    let (inputs, parameters) = numbers.split_at(case.inputs.len());
    let inputs = inputs.iter().map(|input| Input::new(input, place)).collect::<Result<Vec<_>>>()?;
    let parameters = parameters.iter().map(|parameter| parameter.to_place(place)).collect::<Result<Vec<_>>>()?;
    ops::forget();
    let x = inputs.iter().map(|input| input.enter(context)).collect::<Result<Vec<_>>>()?;
    let y = (case.op)(&x, &parameters, context)?;
    let count = y.elem_count();
    let weights = Parameter::new("weights", weights(count), &[1, count])?.to_place(place)?;
    let none = Parameter::new("none", vec![0.0], &[1])?.to_place(place)?;
    let flat = ops::reshape(&y, (1, count), context)?;
    let sum = ops::linear(&flat, &weights, &none, false, Context { precision: Precision::F32, ..context })?;
    let learned: Vec<Parameter> = inputs.into_iter().map(|input| input.flat).chain(parameters).collect();
    backward(&sum, 1.0, &learned, place.kernels)?;
    let gradients = learned.iter().map(|parameter| match place.kernels {
        Kernels::Ours => Ok(parameter.gradient().clone()),
        Kernels::Cuda | Kernels::Candle => {
            parameter.take_device_gradient().map_or_else(|| Ok(vec![0.0; parameter.len()]), |gradient| flatten(&gradient))
        }
    });
    std::iter::once(flatten(&y)).chain(gradients).collect()
}

/// An input as a parameter of an op before the one that is checked, so that its gradient is computed and gathered.
struct Input {
    flat: Parameter,
    shape: Shape,
}

impl Input {
    fn new(values: &Parameter, place: &Place) -> Result<Self> {
        let flat = Parameter::new("input", values.values()?, &[1, 1, values.len()])?.to_place(place)?;
        Ok(Self { flat, shape: values.tensor().shape().clone() })
    }

    fn enter(&self, context: Context) -> Result<Tensor> {
        let zeros = self.flat.tensor().zeros_like()?;
        ops::reshape(&ops::add_positions(&zeros, &self.flat, context)?, self.shape.clone(), context)
    }
}

fn of_candle(case: &Case, numbers: &[Parameter]) -> Result<Outcome> {
    let variables = numbers.iter().map(|parameter| Var::from_tensor(&parameter.tensor())).collect::<Result<Vec<_>>>()?;
    let tensors: Vec<Tensor> = variables.iter().map(|variable| variable.as_tensor().clone()).collect();
    let (inputs, parameters) = tensors.split_at(case.inputs.len());
    let y = (case.reference)(inputs, parameters)?;
    let weights = Tensor::new(weights(y.elem_count()), &Device::Cpu)?;
    let gradients = (y.flatten_all()? * weights)?.sum_all()?.backward()?;
    let gradient = |variable: &Var| gradients.get(variable).map_or_else(|| Ok(vec![0.0; variable.elem_count()]), flatten);
    std::iter::once(flatten(&y)).chain(variables.iter().map(gradient)).collect()
}

fn flatten(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor.flatten_all()?.to_vec1()
}

/// The largest difference, relative to the largest number it is of, and where it is. What is no number differs without end.
fn compare(ours: &Outcome, theirs: &Outcome) -> (f32, usize) {
    let difference = |(ours, theirs): (&Vec<f32>, &Vec<f32>)| {
        let largest = theirs.iter().fold(1e-6_f32, |largest, value| largest.max(value.abs()));
        let pairs = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs() / largest);
        let worst = pairs.fold(0.0_f32, |worst, part| if part.is_nan() { f32::INFINITY } else { worst.max(part) });
        if ours.len() == theirs.len() { worst } else { f32::INFINITY }
    };
    let all = ours.iter().zip(theirs).map(difference).enumerate();
    all.fold((0.0, 0), |worst, (place, part)| if part > worst.0 { (part, place) } else { worst })
}
