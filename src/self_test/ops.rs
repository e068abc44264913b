//! The ops of the self-test and their shapes: odd ones, with strides and padding, larger than a
//! tile and smaller than a vector, and with more rows than one block of a GPU reduces. And the
//! comparison of one op and its gradients on a device with the reference on the CPU.

use candle_core::{Device, Result, Tensor, Var};

use super::report::{Check, Subject};
use crate::device::first_line;
use crate::math::random::Random;
use crate::nn::backend::composed;
use crate::nn::ops::{self, BatchNorm, Context, ConvGeometry};
use crate::nn::{DeviceContext, GradMode, Parameter, autograd};
use crate::run_config::{Activation, Precision};

/// An op of ours, from inputs and parameters.
type Op = Box<dyn Fn(&[Tensor], &[Parameter], Context) -> Result<Tensor>>;
/// The same of candle's.
type Reference = Box<dyn Fn(&[Tensor], &[Tensor]) -> Result<Tensor>>;

pub struct Case {
    pub name: &'static str,
    /// True if the precision of products makes a difference.
    pub is_product: bool,
    pub inputs: Vec<Vec<usize>>,
    pub parameters: Vec<Vec<usize>>,
    pub op: Op,
    pub reference: Reference,
}

fn case(
    name: &'static str,
    inputs: &[&[usize]],
    parameters: &[&[usize]],
    op: impl Fn(&[Tensor], &[Parameter], Context) -> Result<Tensor> + 'static,
    reference: impl Fn(&[Tensor], &[Tensor]) -> Result<Tensor> + 'static,
) -> Case {
    let owned = |shapes: &[&[usize]]| shapes.iter().map(|shape| shape.to_vec()).collect();
    let (inputs, parameters) = (owned(inputs), owned(parameters));
    Case {
        name,
        is_product: false,
        inputs,
        parameters,
        op: Box::new(op),
        reference: Box::new(reference),
    }
}

pub fn all() -> Vec<Case> {
    let mut cases = products();
    cases.extend(convolutions_with_pooling());
    cases.extend(pools());
    cases.extend(
        Activation::ALL
            .iter()
            .map(|&activation| activations(activation)),
    );
    cases.extend(others());
    cases
}

/// An op of one input and no parameters.
fn unary(
    name: &'static str,
    x: &[usize],
    op: impl Fn(&Tensor, Context) -> Result<Tensor> + 'static,
    reference: impl Fn(&Tensor) -> Result<Tensor> + 'static,
) -> Case {
    let op = move |x: &[Tensor], _: &[Parameter], context| op(&x[0], context);
    case(name, &[x], &[], op, move |x, _| reference(&x[0]))
}

const fn window(size: usize, stride: usize, padding: usize) -> ConvGeometry {
    ConvGeometry {
        size,
        stride,
        padding,
    }
}

fn products() -> Vec<Case> {
    let convolution = |name, x: &[usize], weight: &[usize], bias: bool, stride, padding| {
        let window = window(weight[2], stride, padding);
        let parameters = [weight, &weight[..1]];
        case(
            name,
            &[x],
            &parameters[..=usize::from(bias)],
            move |x, p, context| ops::conv2d(&x[0], &p[0], p.get(1), stride, padding, context),
            move |x, p| composed::conv2d(&x[0], &p[0], p.get(1), window, Precision::F32),
        )
    };
    let attention = unary(
        "Attention",
        &[3, 49, 48],
        |x, context| ops::attention(x, 2, context),
        |x| composed::attention(x, 2, Precision::F32, composed::softmax),
    );
    let (wide, few): (&[usize], &[usize]) = (&[11, 14, 14, 32], &[64, 32, 3, 3]);
    let (strided, many): (&[usize], &[usize]) = (&[2, 9, 11, 8], &[77, 8, 3, 3]);
    let cases = [
        convolution(
            "Convolution 5x5",
            &[3, 14, 13, 5],
            &[9, 5, 5, 5],
            true,
            1,
            2,
        ),
        convolution("Convolution 3x3, stride 2", strided, many, false, 2, 1),
        convolution("Convolution 3x3, large", wide, few, true, 1, 1),
        linear("Linear layer", [5, 37, 11], false),
        linear("Linear layer, large", [2111, 200, 70], false),
        attention,
    ];
    let product = |case| Case {
        is_product: true,
        ..case
    };
    cases.into_iter().map(product).collect()
}

fn linear(name: &'static str, [rows, inputs, outputs]: [usize; 3], relu: bool) -> Case {
    case(
        name,
        &[&[rows, inputs]],
        &[&[outputs, inputs], &[outputs]],
        move |x, p, context| ops::linear(&x[0], &p[0], &p[1], relu, context),
        move |x, p| composed::linear(&x[0], &p[0], &p[1], relu, Precision::F32),
    )
}

fn convolutions_with_pooling() -> Vec<Case> {
    let fused = |name, x: &[usize], weight: &[usize], padding| {
        let window = window(weight[2], 1, padding);
        case(
            name,
            &[x],
            &[weight, &weight[..1]],
            move |x, p, context| {
                ops::conv2d_max_pool(&x[0], &p[0], p.get(1), padding, true, context)
            },
            move |x, p| {
                let sums = composed::conv2d(&x[0], &p[0], p.get(1), window, Precision::F32)?;
                let pooled = composed::max_pool(&sums, ConvGeometry::HALVING)?;
                composed::activate(&pooled, Activation::Relu)
            },
        )
    };
    let large: [&[usize]; 2] = [&[11, 14, 14, 16], &[32, 16, 3, 3]];
    vec![
        fused(
            "Convolution with pooling",
            &[3, 12, 12, 4],
            &[10, 4, 5, 5],
            0,
        ),
        fused("Convolution with pooling, large", large[0], large[1], 1),
    ]
}

fn pools() -> Vec<Case> {
    let window = window(3, 2, 1);
    vec![
        unary(
            "Max pooling",
            &[3, 9, 8, 5],
            move |x, context| ops::max_pool(x, window, context),
            move |x| composed::max_pool(x, window),
        ),
        unary(
            "Average pooling",
            &[3, 9, 8, 5],
            move |x, context| ops::average_pool(x, window, context),
            move |x| composed::average_pool(x, window),
        ),
        unary(
            "Global average pooling",
            &[3, 5, 4, 7],
            ops::global_average_pool,
            composed::global_average_pool,
        ),
    ]
}

fn activations(activation: Activation) -> Case {
    unary(
        activation.label(),
        &[3, 7, 5],
        move |x, context| ops::activate(x, activation, context),
        move |x| composed::activate(x, activation),
    )
}

fn others() -> Vec<Case> {
    let labels = |device: &Device| Tensor::new(&[0_u8, 1, 2, 3, 4, 5, 6, 7, 0], device);
    vec![
        linear("Linear layer with ReLU", [70, 50, 40], true),
        case(
            "Sum of two branches",
            &[&[2, 5, 5, 6], &[2, 5, 5, 6]],
            &[],
            |x, _, context| ops::add(&x[0], &x[1], Some(Activation::Relu), context),
            |x, _| composed::add(&x[0], &x[1], Some(Activation::Relu)),
        ),
        case(
            "Batch normalization",
            &[&[6, 11, 13, 35]],
            &[&[35], &[35]],
            |x, p, context| {
                let device = DeviceContext::new(x[0].device().clone(), context.backend);
                let statistic =
                    |value| Parameter::new("statistic", vec![value; 35], &[35])?.to_device(&device);
                let norm = BatchNorm {
                    weight: &p[0],
                    bias: &p[1],
                    running_mean: &statistic(0.0)?,
                    running_variance: &statistic(1.0)?,
                };
                ops::batch_norm(&x[0], norm, None, context)
            },
            |x, p| {
                let [mean, variance] = composed::moments(&x[0])?;
                composed::batch_norm(&x[0], [&mean, &variance], &p[0], &p[1], None)
            },
        ),
        case(
            "Layer normalization",
            &[&[60, 10, 70]],
            &[&[70], &[70]],
            |x, p, context| ops::layer_norm(&x[0], &p[0], &p[1], context),
            |x, p| composed::layer_norm(&x[0], &p[0], &p[1], 1e-5),
        ),
        unary("Flatten", &[2, 3, 4, 5], ops::flatten, composed::flatten),
        unary(
            "Cross-entropy",
            &[9, 8],
            move |x, context| ops::cross_entropy(x, &labels(x.device())?, 9, 0.1, context),
            move |x| composed::cross_entropy(x, &labels(&Device::Cpu)?, 9, 0.1),
        ),
    ]
}

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

/// The weight of each number of the result in the sum whose gradients are compared.
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
