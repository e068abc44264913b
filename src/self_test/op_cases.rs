//! The ops of the self-test and their shapes: odd ones, with strides and padding, larger than a
//! tile and smaller than a vector, and with more rows than one block of a GPU reduces.

use candle_core::{Device, Result, Tensor};

use crate::nn::backend::composed;
use crate::nn::ops::{self, BatchNorm, Context, Window};
use crate::nn::{DeviceContext, Parameter};
use crate::run_config::{Activation, Precision};

/// An op of ours, from inputs and parameters.
type Op = Box<dyn Fn(&[Tensor], &[Parameter], Context) -> Result<Tensor>>;
/// The same of candle's.
type Reference = Box<dyn Fn(&[Tensor], &[Tensor]) -> Result<Tensor>>;

/// An op to be checked.
pub struct Case {
    pub name: &'static str,
    /// True where the number format of products makes a difference.
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

fn products() -> Vec<Case> {
    let convolution = |name, x: &[usize], weight: &[usize], bias: bool, stride, padding| {
        let bias: &[&[usize]] = if bias { &[&weight[..1]] } else { &[] };
        let parameters: Vec<&[usize]> = std::iter::once(weight)
            .chain(bias.iter().copied())
            .collect();
        let size = weight[2];
        case(
            name,
            &[x],
            &parameters,
            move |x, p, context| ops::conv2d(&x[0], &p[0], p.get(1), stride, padding, context),
            move |x, p| {
                composed::conv2d(
                    &x[0],
                    &p[0],
                    p.get(1),
                    Window {
                        size,
                        stride,
                        padding,
                    },
                    Precision::F32,
                )
            },
        )
    };
    let linear = |name, rows, inputs, outputs| {
        case(
            name,
            &[&[rows, inputs]],
            &[&[outputs, inputs], &[outputs]],
            |x, p, context| ops::linear(&x[0], &p[0], &p[1], false, context),
            |x, p| composed::linear(&x[0], &p[0], &p[1], false, Precision::F32),
        )
    };
    let attention = case(
        "Attention",
        &[&[3, 49, 48]],
        &[],
        |x, _, context| ops::attention(&x[0], 2, context),
        |x, _| composed::attention(&x[0], 2, Precision::F32, composed::softmax),
    );
    let cases = [
        convolution(
            "Convolution 5x5",
            &[3, 14, 13, 5],
            &[9, 5, 5, 5],
            true,
            1,
            2,
        ),
        convolution(
            "Convolution 3x3, stride 2",
            &[2, 9, 11, 8],
            &[77, 8, 3, 3],
            false,
            2,
            1,
        ),
        convolution(
            "Convolution 3x3, large",
            &[11, 14, 14, 32],
            &[64, 32, 3, 3],
            true,
            1,
            1,
        ),
        linear("Linear layer", 5, 37, 11),
        linear("Linear layer, large", 2111, 200, 70),
        attention,
    ];
    cases
        .into_iter()
        .map(|case| Case {
            is_product: true,
            ..case
        })
        .collect()
}

fn convolutions_with_pooling() -> Vec<Case> {
    let fused = |name, x: &[usize], weight: &[usize], padding| {
        let size = weight[2];
        case(
            name,
            &[x],
            &[weight, &weight[..1]],
            move |x, p, context| {
                ops::conv2d_max_pool(&x[0], &p[0], p.get(1), padding, true, context)
            },
            move |x, p| {
                let sums = composed::conv2d(
                    &x[0],
                    &p[0],
                    p.get(1),
                    Window {
                        size,
                        stride: 1,
                        padding,
                    },
                    Precision::F32,
                )?;
                composed::activate(
                    &composed::max_pool(&sums, Window::HALVING)?,
                    Activation::Relu,
                )
            },
        )
    };
    vec![
        fused(
            "Convolution with pooling",
            &[3, 12, 12, 4],
            &[10, 4, 5, 5],
            0,
        ),
        fused(
            "Convolution with pooling, large",
            &[11, 14, 14, 16],
            &[32, 16, 3, 3],
            1,
        ),
    ]
}

fn pools() -> Vec<Case> {
    let window = Window {
        size: 3,
        stride: 2,
        padding: 1,
    };
    vec![
        case(
            "Max pooling",
            &[&[3, 9, 8, 5]],
            &[],
            move |x, _, context| ops::max_pool(&x[0], window, context),
            move |x, _| composed::max_pool(&x[0], window),
        ),
        case(
            "Average pooling",
            &[&[3, 9, 8, 5]],
            &[],
            move |x, _, context| ops::average_pool(&x[0], window, context),
            move |x, _| composed::average_pool(&x[0], window),
        ),
        case(
            "Global average pooling",
            &[&[3, 5, 4, 7]],
            &[],
            |x, _, context| ops::global_average_pool(&x[0], context),
            |x, _| composed::global_average_pool(&x[0]),
        ),
    ]
}

fn activations(activation: Activation) -> Case {
    case(
        activation.label(),
        &[&[3, 7, 5]],
        &[],
        move |x, _, context| ops::activate(&x[0], activation, context),
        move |x, _| composed::activate(&x[0], activation),
    )
}

fn others() -> Vec<Case> {
    let labels = |device: &Device| Tensor::new(&[0_u8, 1, 2, 3, 4, 5, 6, 7, 0], device);
    vec![
        case(
            "Linear layer with ReLU",
            &[&[70, 50]],
            &[&[40, 50], &[40]],
            |x, p, context| ops::linear(&x[0], &p[0], &p[1], true, context),
            |x, p| composed::linear(&x[0], &p[0], &p[1], true, Precision::F32),
        ),
        case(
            "Sum of two branches",
            &[&[2, 5, 5, 6], &[2, 5, 5, 6]],
            &[],
            |x, _, context| ops::add(&x[0], &x[1], Some(Activation::Relu), context),
            |x, _| composed::add(&x[0], &x[1], Some(Activation::Relu)),
        ),
        case(
            "Batch normalisation",
            &[&[6, 11, 13, 35]],
            &[&[35], &[35]],
            |x, p, context| {
                let device = DeviceContext::new(x[0].device().clone(), context.backend);
                let statistic =
                    |value| Parameter::new("statistic", vec![value; 35], &[35])?.to_device(&device);
                let (running_mean, running_variance) = (&statistic(0.0)?, &statistic(1.0)?);
                ops::batch_norm(
                    &x[0],
                    BatchNorm {
                        weight: &p[0],
                        bias: &p[1],
                        running_mean,
                        running_variance,
                    },
                    None,
                    context,
                )
            },
            |x, p| {
                let [mean, variance] = composed::moments(&x[0])?;
                composed::batch_norm(&x[0], [&mean, &variance], &p[0], &p[1], None)
            },
        ),
        case(
            "Layer normalisation",
            &[&[60, 10, 70]],
            &[&[70], &[70]],
            |x, p, context| ops::layer_norm(&x[0], &p[0], &p[1], context),
            |x, p| composed::layer_norm(&x[0], &p[0], &p[1], 1e-5),
        ),
        case(
            "Flatten",
            &[&[2, 3, 4, 5]],
            &[],
            |x, _, context| ops::flatten(&x[0], context),
            |x, _| composed::flatten(&x[0]),
        ),
        case(
            "Cross-entropy",
            &[&[9, 8]],
            &[],
            move |x, _, context| {
                ops::cross_entropy(&x[0], &labels(x[0].device())?, 9, 0.1, context)
            },
            move |x, _| composed::cross_entropy(&x[0], &labels(&Device::Cpu)?, 9, 0.1),
        ),
    ]
}
