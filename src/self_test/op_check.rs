//! The comparison of one op and its gradients on a device with the reference on the CPU.

use candle_core::{Device, Result, Tensor, Var};

use super::op_cases::Case;
use super::report::{Check, Subject};
use crate::device::first_line;
use crate::math::random::Random;
use crate::nn::ops::Context;
use crate::nn::{DeviceContext, GradMode, Parameter, autograd};
use crate::run_config::Precision;

/// The output of an op, then a gradient for each input and parameter.
type Outcome = Vec<Vec<f32>>;

pub fn check(case: &Case, device: &DeviceContext, precision: Precision) -> Check {
    let subject = Subject::Op(case.name.to_owned());
    let tolerance = tolerance(precision);
    let compared = numbers(case).and_then(|numbers| {
        Ok(compare(
            &of_device(case, &numbers, device, precision)?,
            &of_candle(case, &numbers)?,
        ))
    });
    match compared {
        Ok((found, index)) => {
            let detail = match index.checked_sub(1) {
                None => "output".to_owned(),
                Some(index) if index < case.inputs.len() => {
                    format!("gradient of input {}", index + 1)
                }
                Some(index) => format!("gradient of parameter {}", index + 1 - case.inputs.len()),
            };
            Check {
                subject,
                precision,
                found: Some(found),
                tolerance,
                detail,
            }
        }
        Err(error) => Check {
            subject,
            precision,
            found: None,
            tolerance,
            detail: first_line(&error),
        },
    }
}

/// In f32 two orders of summing a few hundred products. In the shorter formats each operand of a
/// product is off by at most half a unit in its last place (2^-8 of it in bf16, 2^-11 in f16), in
/// TF32, to which GPUs may cut it off, by a whole one (2^-10); twice the sum of both operands'
/// bounds every product here.
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
    shapes
        .map(|shape| {
            Parameter::new(
                "checked",
                (0..shape.iter().product())
                    .map(|_| random.range(-1.0, 1.0))
                    .collect(),
                shape,
            )
        })
        .collect()
}

/// What each number of the result counts for in the sum whose gradients are compared.
fn weights(count: usize) -> Vec<f32> {
    let mut random = Random::new(12);
    (0..count).map(|_| random.range(-1.0, 1.0)).collect()
}

/// On the device, through the tape that trains.
fn of_device(
    case: &Case,
    numbers: &[Parameter],
    device: &DeviceContext,
    precision: Precision,
) -> Result<Outcome> {
    let context = Context {
        grad: GradMode::Enabled,
        precision,
        backend: device.backend,
    };
    let numbers = numbers
        .iter()
        .map(|parameter| parameter.to_device(device))
        .collect::<Result<Vec<_>>>()?;
    let (inputs, parameters) = numbers.split_at(case.inputs.len());
    autograd::clear();
    let x: Vec<Tensor> = inputs.iter().map(autograd::variable).collect();
    let y = (case.op)(&x, parameters, context)?;
    let weights = Tensor::from_vec(weights(y.elem_count()), y.shape(), &device.device)?;
    autograd::backward(&y, weights, device.backend)?;
    let gradient = |parameter: &Parameter| {
        parameter.grad().map_or_else(
            || Ok(vec![0.0; parameter.len()]),
            |gradient| flatten(&gradient),
        )
    };
    std::iter::once(flatten(&y))
        .chain(numbers.iter().map(gradient))
        .collect()
}

fn of_candle(case: &Case, numbers: &[Parameter]) -> Result<Outcome> {
    let variables = numbers
        .iter()
        .map(|parameter| Var::from_tensor(&parameter.tensor()))
        .collect::<Result<Vec<_>>>()?;
    let tensors: Vec<Tensor> = variables
        .iter()
        .map(|variable| variable.as_tensor().clone())
        .collect();
    let (inputs, parameters) = tensors.split_at(case.inputs.len());
    let y = (case.reference)(inputs, parameters)?;
    let weights = Tensor::new(weights(y.elem_count()), &Device::Cpu)?;
    let gradients = (y.flatten_all()? * weights)?.sum_all()?.backward()?;
    let gradient = |variable: &Var| {
        gradients
            .get(variable)
            .map_or_else(|| Ok(vec![0.0; variable.elem_count()]), flatten)
    };
    std::iter::once(flatten(&y))
        .chain(variables.iter().map(gradient))
        .collect()
}

fn flatten(tensor: &Tensor) -> Result<Vec<f32>> {
    tensor.flatten_all()?.to_vec1()
}

/// The largest difference, relative to the largest number it is of, and where it is. NaN differs
/// infinitely.
fn compare(ours: &Outcome, theirs: &Outcome) -> (f32, usize) {
    let difference = |(ours, theirs): (&Vec<f32>, &Vec<f32>)| {
        let largest = theirs
            .iter()
            .fold(1e-6_f32, |largest, value| largest.max(value.abs()));
        let pairs = ours
            .iter()
            .zip(theirs)
            .map(|(a, b)| (a - b).abs() / largest);
        let worst = pairs.fold(0.0_f32, |worst, part| {
            if part.is_nan() {
                f32::INFINITY
            } else {
                worst.max(part)
            }
        });
        if ours.len() == theirs.len() {
            worst
        } else {
            f32::INFINITY
        }
    };
    let all = ours.iter().zip(theirs).map(difference).enumerate();
    all.fold(
        (0.0, 0),
        |worst, (index, part)| if part > worst.0 { (part, index) } else { worst },
    )
}
